import Dispatch
import Synchronization
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Work that is the same for everybody who asks at the same time.
@Suite(.timeLimit(.minutes(1))) struct SharedWorkTests {
    private struct Failure: Error {}

    // However many ask while it is done, it is done once more for all of them, and never twice at a time.
    @Test func oneAtATime() async throws {
        let work = SharedWork<Int>()
        let release = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        let (peak, runs) = (Peak(), Counter())
        let make: @Sendable () throws -> Int = {
            peak.change(by: 1)
            let run = runs.increment()
            begun.signal()
            release.wait()
            peak.change(by: -1)
            if run == 3 { throw Failure() }
            return run
        }
        let first = Task { try await work.value(make) }
        await Self.wait(for: begun)
        let others = (0 ..< 100).map { _ in Task { try await work.value(make) } }
        while work.waitingCount < 100 { await Task.yield() }
        release.signal()
        // What was begun before they asked is not theirs.
        #expect(try await first.value == 1)
        release.signal()
        for other in others { #expect(try await other.value == 2) }
        #expect(runs.value == 2)
        #expect(peak.most == 1)
        // A failure is told, and does not stay.
        release.signal()
        await #expect(throws: Failure.self) { try await work.value(make) }
        release.signal()
        #expect(try await work.value(make) == 4)
    }

    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "test").async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func increment() -> Int { count.add(1, ordering: .relaxed).newValue }
    }

    private final class Peak: Sendable {
        private let state = Mutex((running: 0, most: 0))
        var most: Int { state.withLock { $0.most } }
        func change(by count: Int) {
            state.withLock { state in
                state.running += count
                state.most = max(state.most, state.running)
            }
        }
    }

    // Code that blocks takes so many threads and no more, and all of it gets its turn.
    @Test func blockingCodeTakesFewThreads() async throws {
        let peak = Peak()
        let tasks = (0 ..< 400).map { number in
            Task {
                try await Offload.run {
                    peak.change(by: 1)
                    usleep(200)
                    peak.change(by: -1)
                    return number
                }
            }
        }
        for (number, task) in tasks.enumerated() { #expect(try await task.value == number) }
        #expect(peak.most <= Offload.maxThreads)
    }
}
