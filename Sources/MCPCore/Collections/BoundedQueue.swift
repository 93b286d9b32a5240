import Synchronization

/// Elements on their way from one producer to one reader, which takes them at its own pace: at most so much
/// of them waits.
///
/// A producer that can wait uses `put`, and goes on when the reader has made room; one that cannot uses
/// `add`, and the queue ends for it.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        /// Those before `first` were taken.
        var elements: [Element?] = []
        var first = 0
        var size = 0
        var isOver = false
        /// What the reader gets behind the last element.
        var failure: (any Error)?
        /// The producer waits until there is room.
        var isFull = false
        var waiting: CheckedContinuation<Element?, any Error>?
    }

    private let state = Mutex(State())
    private let limit: Int
    private let size: @Sendable (Element) -> Int

    /// - Parameters:
    ///   - limit: how much may wait, in what `size` measures. One element may be larger.
    package init(limit: Int, size: @escaping @Sendable (Element) -> Int) {
        self.limit = limit
        self.size = size
    }

    /// What waits.
    var waitingSize: Int { state.withLock { $0.size } }

    /// Adds an element if there is room. False when there is none: the queue ends behind what waits.
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

    /// Adds an element in any case. False: wait until there is room, which the reader tells.
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

    /// Nothing more comes behind what waits but this error, if there is one.
    package func finish(throwing error: (any Error)? = nil) {
        let waiting = state.withLock { state -> CheckedContinuation<Element?, any Error>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            state.isFull = false
            // Whoever waits gets it at once.
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
        // With a distance, so that a producer does not stop and go for each element.
        let hasRoom = state.isFull && state.size <= limit / 2
        if hasRoom { state.isFull = false }
        return .element(element, hasRoom: hasRoom)
    }

    /// The elements in order, for one reader.
    /// - Parameters:
    ///   - whenDropped: called once nobody reads them any more, for whatever reason.
    ///   - whenRoom: called after `put` was false, once less than half of the limit waits.
    func stream(
        whenDropped: @escaping @Sendable () -> Void, whenRoom: @escaping @Sendable () -> Void = {}
    ) -> AsyncStream<Element> {
        let reader = Reader(self, whenDropped, whenRoom)
        return AsyncStream { (try? await reader.next()) ?? nil }
    }

    /// As `stream`; ends with what `finish` was given.
    package func throwingStream(
        whenDropped: @escaping @Sendable () -> Void, whenRoom: @escaping @Sendable () -> Void = {}
    ) -> AsyncThrowingStream<Element, any Error> {
        let reader = Reader(self, whenDropped, whenRoom)
        return AsyncThrowingStream { try await reader.next() }
    }

    /// Lives as long as the stream does.
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
            // A stream that was cancelled before it was asked for anything has told nobody.
            queue.finish()
            whenDropped()
        }
    }
}
