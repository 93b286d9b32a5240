import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite(.timeLimit(.minutes(5))) struct ProcessRunnerTests {
    @Test func collectsOutputAndStatus() throws {
        let result = try ProcessRunner.run(
            ProcessLaunch("sh", ["-c", "cat; echo bad >&2; exit 3"]), input: [0x61, 0x62])
        #expect(result.end == .exited && result.status == .exited(3))
        #expect(text(result.output) == "ab" && text(result.errors) == "bad\n")
    }

    @Test func largeInputAndOutputFlowAtTheSameTime() throws {
        let input = [UInt8](repeating: 0x78, count: 900_000)
        let result = try ProcessRunner.run(ProcessLaunch("cat"), input: input)
        #expect(result.end == .exited && result.output == input)
    }

    @Test func inputThatNobodyReadsIsNoError() throws {
        let result = try ProcessRunner.run(
            ProcessLaunch("true"), input: [UInt8](repeating: 1, count: 1 << 20))
        #expect(result.end == .exited && result.status == .exited(0))
    }

    // Fault row 83
    @Test func timeoutKillsGrandchildrenToo() throws {
        let result = try ProcessRunner.run(
            ProcessLaunch("sh", ["-c", "sleep 100 & echo $!; wait"]),
            limits: .init(timeout: .seconds(2)))
        #expect(result.end == .timedOut && result.status == .signaled(SIGTERM))
        let grandchild = try #require(Int32(text(result.output).dropLast()))
        try expectGone(grandchild)
        #expect(result.duration < .seconds(10))
    }

    @Test func whoIgnoresSIGTERMIsKilled() throws {
        let result = try ProcessRunner.run(
            ProcessLaunch("sh", ["-c", "trap '' TERM; while :; do sleep 100; done"]),
            limits: .init(timeout: .seconds(2), terminationGrace: .milliseconds(100)))
        #expect(result.end == .timedOut && result.status == .signaled(SIGKILL))
    }

    @Test func outputLimitEndsTheRun() throws {
        let limits = ProcessRunner.Limits(maxOutputBytes: 10_000, maxErrorBytes: 100)
        let result = try ProcessRunner.run(ProcessLaunch("yes"), limits: limits)
        #expect(result.end == .outputLimit && result.status == .signaled(SIGKILL))
        #expect(result.output.count == 10_000)
        let noisy = try ProcessRunner.run(ProcessLaunch("sh", ["-c", "yes >&2"]), limits: limits)
        #expect(noisy.end == .errorLimit && noisy.errors.count == 100)
    }

    @Test(arguments: [9_999, 10_000, 10_001]) func outputLimitIsExact(_ count: Int) throws {
        let limits = ProcessRunner.Limits(maxOutputBytes: 10_000)
        let result = try ProcessRunner.run(
            ProcessLaunch("head", ["-c", "\(count)", "/dev/zero"]), limits: limits)
        #expect(result.end == (count > 10_000 ? .outputLimit : .exited))
        #expect(result.output.count == min(count, 10_000))
    }

    #if DEBUG && os(Linux)
    /// What was read so far is not all, and is not taken for it.
    @Test(arguments: ["read", "poll"]) func outputThatCannotBeRead(_ function: String) async throws {
        let caller = Mutex<UInt>(0)
        let call = FailingCall(0, ENOMEM) { name, _ in
            name == function && UInt(pthread_self()) == caller.withLock { $0 }
        }
        try await FaultInjection.during(call.plan) {
            caller.withLock { $0 = UInt(pthread_self()) }
            let result = try ProcessRunner.run(ProcessLaunch("sh", ["-c", "echo a; exec sleep 100"]))
            #expect(result.end == .unreadable(IOError(errno: ENOMEM, function: function)))
            #expect([.signaled(SIGTERM), .signaled(SIGKILL)].contains(result.status))
        }
        #expect(call.failed == function)
    }
    #endif

    @Test func cancellationEndsTheRun() throws {
        let cancellation = try ProcessRunner.Cancellation()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { cancellation.cancel() }
        let result = try ProcessRunner.run(ProcessLaunch("sleep", ["100"]), cancellation: cancellation)
        #expect(result.end == .cancelled && result.status == .signaled(SIGTERM))
        let second = try ProcessRunner.run(ProcessLaunch("sleep", ["100"]), cancellation: cancellation)
        #expect(second.end == .cancelled)
    }

    @Test func leftOverBackgroundProcessesAreKilledAndDoNotDelay() throws {
        let result = try ProcessRunner.run(ProcessLaunch("sh", ["-c", "sleep 100 & echo $!"]))
        #expect(result.end == .exited && result.status == .exited(0))
        #expect(result.duration < .seconds(10))
        try expectGone(try #require(Int32(text(result.output).dropLast())))
    }

    #if os(Linux)
    @Test func toolsRunInASessionOfTheirOwn() throws {
        let result = try ProcessRunner.run(
            ProcessLaunch("cut", ["-d", " ", "-f", "1,5,6", "/proc/self/stat"]))
        let fields = text(result.output).dropLast().split(separator: " ")
        #expect(fields.count == 3 && Set(fields).count == 1)
    }
    #endif

    private func expectGone(_ pid: Int32) throws { #expect(isGone(pid)) }
}
