import Synchronization

/// Something that changed on the server.
public enum ServerChange: Sendable, Hashable {
    /// The list of tools.
    case toolsListChanged
    /// The list of prompts.
    case promptsListChanged
    /// The list of resources.
    case resourcesListChanged
    /// The contents of a resource, by its address.
    case resourceUpdated(String)
    /// A task came further (`io.modelcontextprotocol/tasks`).
    case task(TaskInfo)
    /// The subscription had ended and was made again: what changed meanwhile was not told, so read again what
    /// matters (SUB-14).
    case resubscribed
}

/// Changes of a server as they happen, until either side ends it.
///
/// Changes that nobody has taken yet are kept once each: a hundred updates of one resource are one. Several
/// readers share the changes: each goes to one of them.
public final class Subscription: AsyncSequence, Sendable {
    private let counted = Counted(.subscription)

    /// What a reader gets.
    public typealias Element = ServerChange
    /// How the sequence can fail: `ClientError` when the connection is gone for good.
    public typealias Failure = any Error

    /// Changes that wait for a reader; more than this are `.resubscribed`, which says that some were lost.
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

    /// What the server tells of: it may be less than what was asked for (SUB-06).
    public var accepted: SubscriptionFilter { state.withLock { $0.accepted } }

    /// Ends the subscription; the sequence ends with what had come.
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

    var isOver: Bool { state.withLock { $0.end != nil } }

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

    /// Steps through the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// The next change, or nil when the subscription has ended.
        /// - Throws: `ClientError` when the connection is gone for good, `CancellationError` when the
        ///   reading task was cancelled.
        public mutating func next() async throws -> ServerChange? { try await subscription.next() }
    }

    /// An iterator; all of them take from the same changes.
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
            // The others look again, and wait again.
            for reader in state.withLock({ $0.takeReaders() }) { reader.resume() }
        }
    }
}
