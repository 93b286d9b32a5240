import Dispatch
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

@Suite(.serialized) struct SignalsTests {
    @Test(arguments: [SIGUSR2, SIGWINCH]) func eachWatchedSignalArrives(_ number: Int32) throws {
        let arrived = Promise<Int32>()
        let watch = try SignalWatch([SIGUSR2, SIGWINCH]) { arrived.fulfil($0) }
        kill(getpid(), number)
        #expect(arrived.wait() == number)
        watch.cancel()
    }

    @Test func everyWatchOfASignalIsCalledUntilItIsCancelled() throws {
        let first = Promise<Int32>()
        let second = Promise<Int32>()
        let counter = Counter()
        let cancelled = try SignalWatch([SIGUSR2]) { _ in counter.increment() }
        let watches = [
            try SignalWatch([SIGUSR2]) { first.fulfil($0) },
            try SignalWatch([SIGUSR2]) { second.fulfil($0) },
        ]
        cancelled.cancel()
        kill(getpid(), SIGUSR2)
        #expect(first.wait() == SIGUSR2 && second.wait() == SIGUSR2)
        #expect(counter.value == 0)
        for watch in watches { watch.cancel() }
    }

    @Test func parentsDeathIsReportedOnce() throws {
        let child = try ChildProcess(ProcessLaunch("cat"))
        let died = Promise<Int>()
        let calls = Counter()
        let watch = ParentWatch(parent: child.pid, isParent: { _ in true }, queue: .global()) {
            died.fulfil(calls.increment())
        }
        #expect(calls.value == 0)
        child.signal(SIGKILL)
        #expect(died.wait() == 1)
        watch.cancel()
    }

    @Test func parentThatIsGoneAlreadyIsReportedAtOnce() {
        let died = Promise<Bool>()
        let watch = ParentWatch(parent: getppid(), isParent: { _ in false }, queue: .global()) {
            died.fulfil(true)
        }
        #expect(died.wait() == true)
        watch.cancel()
    }
}
