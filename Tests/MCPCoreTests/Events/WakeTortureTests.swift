import TestSupport

#if DEBUG && os(Linux)
import Synchronization
import Testing

@testable import MCPCore

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Each call that wakes a loop, or that the loop waits with, fails once: no work is later than its deadline
/// (`make torture ONLY=wake`).
@Suite(.timeLimit(.minutes(5))) struct WakeTortureTests {
    #if MCP_KQUEUE
    private static let calls = ["kevent_wake", "kevent_wait"]
    private static let creating = ["kqueue", "kevent"]
    #else
    private static let calls = ["eventfd_write", "epoll_wait", "eventfd_read"]
    private static let creating = ["epoll_create1", "eventfd", "epoll_ctl"]
    #endif

    private func thread() -> UInt { UInt(pthread_self()) }

    @Test(arguments: calls, [EINTR, EAGAIN, EIO, ENOSPC])
    func aWakeUpIsNeverLost(_ function: String, _ number: Int32) async throws {
        let loop = try EventLoop()
        loop.start()
        defer {
            loop.stop()
            loop.waitUntilStopped()
        }
        let started = Promise<UInt>()
        loop.execute { started.fulfil(UInt(pthread_self())) }
        let own = try #require(started.wait())
        var (all, late) = (0, 0)
        // One that is late is enough: each takes 5 s.
        for index in 0 ..< 6 where late == 0 {
            // The threads of this test and of the loop; other loops go on.
            let caller = Mutex<UInt>(0)
            let call = FailingCall(index, number) { name, _ in
                let thread = UInt(pthread_self())
                return name == function && (thread == own || thread == caller.withLock { $0 })
            }
            await FaultInjection.during(call.plan) {
                caller.withLock { $0 = thread() }
                var rounds = 0
                // A loop that happens to be awake is not woken, so the call may take more rounds.
                while late == 0, rounds < 8 || call.failed == nil && rounds < 1_000 {
                    rounds += 1
                    let done = Promise<Bool>()
                    // A deadline travels the same way as the work that it ends.
                    loop.execute { loop.schedule(after: .milliseconds(1)) { done.fulfil(true) } }
                    if done.wait(seconds: 5) != true { late += 1 }
                }
                all += rounds
            }
            #expect(call.failed == function, "\(index)")
        }
        #expect(late == 0)
        print(
            "wake: \(function) failed 6 times with \(describeErrno(number)): \(late) of \(all) late"
        )
    }

    @Test func aLoopThatCannotBeMadeIsAnError() async throws {
        for (index, name) in Self.creating.enumerated() {
            for number in [EMFILE, ENFILE, ENOMEM, ENOSPC] {
                let caller = Mutex<UInt>(0)
                let call = FailingCall(index, number) { name, _ in
                    UInt(pthread_self()) == caller.withLock { $0 } && Self.creating.contains(name)
                }
                await FaultInjection.during(call.plan) {
                    caller.withLock { $0 = thread() }
                    #expect(throws: IOError(errno: number, function: name)) { try EventLoop() }
                }
            }
        }
    }
}
#endif
