import Synchronization

/// A change on the server.
public enum ServerChange: Sendable, Hashable {
    /// The list of tools.
    case toolsListChanged
    /// The list of prompts.
    case promptsListChanged
    /// The list of resources.
    case resourcesListChanged
    /// The contents of a resource, by its address.
    case resourceUpdated(String)
    /// A task has progressed (`io.modelcontextprotocol/tasks`).
    case task(TaskInfo)
    /// The subscription had ended and was made again, or a stream of the session was lost and no event id
    /// allowed to resume it. Changes in the meantime were not reported, so read again whatever matters
    /// (SUB-14).
    case resubscribed
}

/// The changes on a server as they happen, until either side ends the subscription.
///
/// A change that no reader has received yet is kept only once: a hundred updates of one resource become one.
/// Several readers share the changes: each change is delivered to one of them.
public final class Subscription: AsyncSequence, Sendable {
    private let counted = Counted(.subscription)

    /// The type of the elements.
    public typealias Element = ServerChange
    /// The type of the errors: `ClientError` when the connection has ended permanently.
    public typealias Failure = any Error

    /// The maximum number of changes that wait for a reader; if there are more, `.resubscribed` replaces
    /// them, which indicates that some were lost.
    static let maxWaiting = 4_096

    private struct State {
        var waiting: [ServerChange] = []
        var known: Set<ServerChange> = []
        var readers: [CheckedContinuation<Void, Never>] = []
        var end: Result<Void, ClientError>?
        var accepted: SubscriptionFilter
        var onCancel: (@Sendable () async -> Void)?

        mutating func takeReaders() -> [CheckedContinuation<Void, Never>] {
            defer { readers = [] }
            return readers
        }
    }

    private let state: Mutex<State>

    init(accepted: SubscriptionFilter) { state = Mutex(State(accepted: accepted)) }

    /// The changes that the server reports; there may be fewer than requested (SUB-06).
    public var accepted: SubscriptionFilter { state.withLock { $0.accepted } }

    /// Ends the subscription; the sequence ends after the changes that have already arrived.
    public func cancel() async {
        let cancel = state.withLock { state in
            defer { state.onCancel = nil }
            return state.onCancel
        }
        end(.success(()))
        await cancel?()
    }

    deinit {
        let cancel = state.withLock { $0.onCancel }
        if let cancel { Task { await cancel() } }
    }

    // MARK: The client's side

    func whenCancelled(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.onCancel = body } }

    func accept(_ filter: SubscriptionFilter) { state.withLock { $0.accepted = filter } }

    /// Whether nothing more will be reported.
    package var isOver: Bool { state.withLock { $0.end != nil } }

    func publish(_ change: ServerChange) {
        let readers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.end == nil, state.known.insert(change).inserted else { return [] }
            if state.waiting.count >= Self.maxWaiting {
                state.waiting = [.resubscribed]
                state.known = [.resubscribed]
            } else {
                state.waiting.append(change)
            }
            return state.takeReaders()
        }
        for reader in readers { reader.resume() }
    }

    func end(_ result: Result<Void, ClientError>) {
        let readers = state.withLock { state in
            if state.end == nil { state.end = result }
            return state.takeReaders()
        }
        for reader in readers { reader.resume() }
    }

    // MARK: The reader's side

    /// An iterator over the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// Returns the next change, or nil when the subscription has ended.
        /// - Throws: `ClientError` when the connection has ended permanently, `CancellationError` when the
        ///   reading task was cancelled.
        public mutating func next() async throws -> ServerChange? { try await subscription.next() }
    }

    /// Returns an iterator; all iterators share the same changes.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: self) }

    private func next() async throws -> ServerChange? {
        while true {
            try Task.checkCancellation()
            let (change, end) = state.withLock { state -> (ServerChange?, Result<Void, ClientError>?) in
                guard state.waiting.isEmpty else {
                    let change = state.waiting.removeFirst()
                    state.known.remove(change)
                    return (change, nil)
                }
                return (nil, state.end)
            }
            if let change { return change }
            if let end {
                try end.get()
                return nil
            }
            await wait()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state -> Bool in
                    guard state.waiting.isEmpty, state.end == nil, !Task.isCancelled else { return true }
                    state.readers.append(continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            // The other readers check again, and wait again.
            for reader in state.withLock({ $0.takeReaders() }) { reader.resume() }
        }
    }
}
