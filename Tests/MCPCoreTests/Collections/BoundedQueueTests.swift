import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Elements that wait for a reader.
@Suite(.timeLimit(.minutes(5))) struct BoundedQueueTests {
    private struct Failure: Error {}

    private static func all(_ stream: AsyncThrowingStream<Int, any Error>) async throws -> [Int] {
        var all: [Int] = []
        for try await element in stream { all.append(element) }
        return all
    }

    @Test func oneThatCannotWaitIsCutOff() async {
        let queue = BoundedQueue<Int>(limit: 10) { $0 }
        #expect(queue.add(4))
        #expect(queue.add(6))
        #expect(!queue.add(1))
        // It is over: nothing more is taken, and nobody is told twice.
        #expect(queue.add(1))
        var read: [Int] = []
        for await element in queue.stream(whenDropped: {}) { read.append(element) }
        #expect(read == [4, 6])
    }

    @Test func oneThatIsTooLargeComesAlone() async {
        let queue = BoundedQueue<Int>(limit: 10) { $0 }
        #expect(queue.add(100))
        #expect(!queue.add(1))
    }

    // A producer that waits stops when the limit is passed and goes on when half of it was read.
    @Test func oneThatWaitsGoesOn() async throws {
        let queue = BoundedQueue<Int>(limit: 10) { _ in 1 }
        let signals = Counter()
        let stream = queue.throwingStream(whenDropped: {}, whenRoom: { signals.increment() })
        for number in 0 ..< 10 { #expect(queue.put(number)) }
        #expect(!queue.put(10))
        #expect(queue.waitingSize == 11)
        var iterator = stream.makeAsyncIterator()
        for number in 0 ..< 5 { #expect(try await iterator.next() == number) }
        #expect(signals.value == 0)
        #expect(try await iterator.next() == 5)
        #expect(signals.value == 1)
        #expect(queue.put(11))
        queue.finish()
        for number in 6 ... 11 { #expect(try await iterator.next() == number) }
        #expect(try await iterator.next() == nil)
        #expect(signals.value == 1)
    }

    @Test func theErrorComesBehindTheElements() async throws {
        let queue = BoundedQueue<Int>(limit: 10) { _ in 1 }
        #expect(queue.put(1))
        queue.finish(throwing: Failure())
        queue.finish()
        var iterator = queue.throwingStream(whenDropped: {}).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        await #expect(throws: Failure.self) { try await iterator.next() }
    }

    @Test func anyPaceKeepsTheOrder() async throws {
        let queue = BoundedQueue<Int>(limit: 7) { _ in 1 }
        let room = Gates()
        let stream = queue.throwingStream(whenDropped: {}, whenRoom: { room.open() })
        let reader = Task { try await Self.all(stream) }
        for number in 0 ..< 20_000 where !queue.put(number) { await room.wait() }
        queue.finish()
        #expect(try await reader.value == Array(0 ..< 20_000))
    }

    /// Opens as often as somebody waits.
    private final class Gates: Sendable {
        private let state = Mutex<(open: Int, waiting: CheckedContinuation<Void, Never>?)>((0, nil))
        func open() {
            state.withLock { state in
                guard let waiting = state.waiting.take() else { return state.open += 1 }
                waiting.resume()
            }
        }
        func wait() async {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    guard state.open == 0 else {
                        state.open -= 1
                        return continuation.resume()
                    }
                    state.waiting = continuation
                }
            }
        }
    }

    @Test func whoeverLeavesIsMissed() async {
        let queue = BoundedQueue<Int>(limit: 1) { _ in 1 }
        let dropped = Counter()
        do {
            let stream = queue.throwingStream(whenDropped: { dropped.increment() })
            let waiting = Task { try await Self.all(stream) }
            waiting.cancel()
            _ = try? await waiting.value
        }
        #expect(await comesTrue { dropped.value == 1 })
        // What is over is never full.
        #expect(queue.put(1) && queue.put(2) && queue.put(3))
        #expect(queue.waitingSize == 0)
    }
}
