import Synchronization

/// A queue of elements from one producer to one reader, with a limit on how much may wait.
///
/// The reader takes elements at its own pace. A producer that can wait uses `put` and continues when the
/// reader has made room. A producer that cannot wait uses `add`, which ends the queue when there is no room.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        /// The elements; those before `first` have been taken.
        var elements: [Element?] = []
        var first = 0
        var size = 0
        var isOver = false
        /// The error that the reader receives after the last element.
        var failure: (any Error)?
        /// Whether the producer is waiting for room.
        var isFull = false
        var waiting: CheckedContinuation<Element?, any Error>?
    }

    private let state = Mutex(State())
    private let limit: Int
    private let size: @Sendable (Element) -> Int

    /// - Parameters:
    ///   - limit: the maximum total of the waiting elements, in the unit of `size`. A single element may be
    ///     larger.
    package init(limit: Int, size: @escaping @Sendable (Element) -> Int) {
        self.limit = limit
        self.size = size
    }

    /// The total size of the waiting elements.
    var waitingSize: Int { state.withLock { $0.size } }

    /// Adds an element if there is room. Otherwise returns false, and the queue ends after the waiting
    /// elements.
    func add(_ element: Element) -> Bool {
        let size = size(element)
        return insert(element, size) { state in
            guard state.size + size <= limit || state.first == state.elements.count else {
                state.isOver = true
                return false
            }
            return true
        }
    }

    /// Adds an element in any case. Returns false if the producer must then wait until `whenRoom` is called.
    package func put(_ element: Element) -> Bool {
        let size = size(element)
        return insert(element, size) { state in
            if state.size + size > limit { state.isFull = true }
            return true
        } && !state.withLock { $0.isFull }
    }

    private func insert(_ element: Element, _ size: Int, _ isTaken: (inout State) -> Bool) -> Bool {
        let (isTaken, waiting) = state.withLock {
            state -> (Bool, CheckedContinuation<Element?, any Error>?) in
            if state.isOver { return (true, nil) }
            if let waiting = state.waiting.take() { return (true, waiting) }
            guard isTaken(&state) else { return (false, nil) }
            state.elements.append(element)
            state.size += size
            return (true, nil)
        }
        waiting?.resume(returning: element)
        return isTaken
    }

    /// Ends the queue after the waiting elements, with the given error if there is one.
    package func finish(throwing error: (any Error)? = nil) {
        let waiting = state.withLock { state -> CheckedContinuation<Element?, any Error>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            state.isFull = false
            // A waiting reader receives it at once.
            if state.waiting == nil { state.failure = error }
            return state.waiting.take()
        }
        if let error { waiting?.resume(throwing: error) } else { waiting?.resume(returning: nil) }
    }

    // MARK: Reading

    private enum Step {
        case element(Element, hasRoom: Bool)
        case end((any Error)?)
        case wait
    }

    private func next(_ whenRoom: @Sendable () -> Void) async throws -> Element? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let step = state.withLock { state -> Step in
                    if let element = take(&state) { return element }
                    if state.isOver { return .end(state.failure.take()) }
                    state.waiting = continuation
                    return .wait
                }
                switch step {
                case .element(let element, let hasRoom):
                    if hasRoom { whenRoom() }
                    continuation.resume(returning: element)
                case .end(let error?): continuation.resume(throwing: error)
                case .end(nil): continuation.resume(returning: nil)
                case .wait: break
                }
            }
        } onCancel: {
            finish()
        }
    }

    private func take(_ state: inout State) -> Step? {
        guard state.first < state.elements.count, let element = state.elements[state.first].take() else {
            return nil
        }
        state.first += 1
        state.size -= size(element)
        if state.first > state.elements.count / 2 {
            state.elements.removeFirst(state.first)
            state.first = 0
        }
        // With hysteresis, so that the producer does not stop and resume for each element.
        let hasRoom = state.isFull && state.size <= limit / 2
        if hasRoom { state.isFull = false }
        return .element(element, hasRoom: hasRoom)
    }

    /// Returns a stream of the elements in order, for one reader.
    /// - Parameters:
    ///   - whenDropped: called when the stream is no longer read, for whatever reason.
    ///   - whenRoom: called after `put` returned false, once at most half of the limit is waiting.
    func stream(
        whenDropped: @escaping @Sendable () -> Void, whenRoom: @escaping @Sendable () -> Void = {}
    ) -> AsyncStream<Element> {
        let reader = Reader(self, whenDropped, whenRoom)
        return AsyncStream { (try? await reader.next()) ?? nil }
    }

    /// Returns a stream like `stream`, which ends with the error passed to `finish`.
    package func throwingStream(
        whenDropped: @escaping @Sendable () -> Void, whenRoom: @escaping @Sendable () -> Void = {}
    ) -> AsyncThrowingStream<Element, any Error> {
        let reader = Reader(self, whenDropped, whenRoom)
        return AsyncThrowingStream { try await reader.next() }
    }

    /// The reading end of the queue, which lives as long as the stream.
    private final class Reader: Sendable {
        private let queue: BoundedQueue
        private let whenDropped: @Sendable () -> Void
        private let whenRoom: @Sendable () -> Void

        init(
            _ queue: BoundedQueue, _ whenDropped: @escaping @Sendable () -> Void,
            _ whenRoom: @escaping @Sendable () -> Void
        ) {
            self.queue = queue
            self.whenDropped = whenDropped
            self.whenRoom = whenRoom
        }

        func next() async throws -> Element? { try await queue.next(whenRoom) }

        deinit {
            // The producer was not notified about a stream that was cancelled before its first element was
            // requested.
            queue.finish()
            whenDropped()
        }
    }
}
