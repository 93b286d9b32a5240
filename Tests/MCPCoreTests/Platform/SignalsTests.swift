import Dispatch
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
    @Test func signalsArriveOnTheQueue() throws {
        let arrived = Promise<Int32>()
        let watch = SignalWatch([SIGUSR2, SIGWINCH]) { arrived.fulfil($0) }
        kill(getpid(), SIGUSR2)
        #expect(arrived.wait() == SIGUSR2)
        watch.cancel()
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
