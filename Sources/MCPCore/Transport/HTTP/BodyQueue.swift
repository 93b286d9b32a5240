import Synchronization

/// Pieces of a body on their way to somebody else's HTTP stack, which takes them at its own pace.
final class BodyQueue: Sendable {
    private struct State {
        var pieces: [[UInt8]] = []
        var bytes = 0
        var isOver = false
        var waiting: CheckedContinuation<[UInt8]?, Never>?
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: bytes that may wait.
    init(limit: Int) { self.limit = limit }

    /// False when more wait than may: the body is then cut off (fault 63).
    func add(_ piece: [UInt8]) -> Bool {
        let (isTaken, waiting) = state.withLock { state -> (Bool, CheckedContinuation<[UInt8]?, Never>?) in
            if state.isOver { return (true, nil) }
            if let waiting = state.waiting.take() { return (true, waiting) }
            guard state.bytes + piece.count <= limit || state.pieces.isEmpty else {
                state.isOver = true
                return (false, nil)
            }
            state.pieces.append(piece)
            state.bytes += piece.count
            return (true, nil)
        }
        waiting?.resume(returning: piece)
        return isTaken
    }

    /// Nothing more comes behind what waits.
    func finish() {
        let waiting = state.withLock { state in
            state.isOver = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }

    private func next() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let next = state.withLock { state -> [UInt8]?? in
                    if let piece = state.pieces.first {
                        state.pieces.removeFirst()
                        state.bytes -= piece.count
                        return .some(piece)
                    }
                    if state.isOver { return .some(nil) }
                    state.waiting = continuation
                    return .none
                }
                if let next { continuation.resume(returning: next) }
            }
        } onCancel: {
            finish()
        }
    }

    /// The pieces in order, for one reader.
    /// - Parameter whenDropped: called once nobody reads them any more, for whatever reason.
    func stream(whenDropped: @escaping @Sendable () -> Void) -> AsyncStream<[UInt8]> {
        let reader = Reader(self, whenDropped)
        return AsyncStream { await reader.queue.next() }
    }

    /// Lives as long as the stream does.
    private final class Reader: Sendable {
        let queue: BodyQueue
        private let whenDropped: @Sendable () -> Void

        init(_ queue: BodyQueue, _ whenDropped: @escaping @Sendable () -> Void) {
            self.queue = queue
            self.whenDropped = whenDropped
        }

        deinit { whenDropped() }
    }
}
