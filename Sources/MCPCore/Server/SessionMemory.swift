import Synchronization

/// What this instance knows of connections and sessions of the handshake revisions: the log level, the
/// resources that are watched, and where messages of the server go.
///
/// A session id is good without it (any instance with the same key serves it); what was asked for on another
/// instance is then not known here.
final class SessionMemory: Sendable {
    /// Takes messages that belong to no request of the session.
    typealias Sender = @Sendable (ByteSlice) -> Void

    /// Sessions that are remembered; the ones that asked for something longest ago make room.
    static let maximumSessions = 10_000
    /// Resources that one session watches; one more is refused.
    static let maximumURIs = 1_024
    /// What a session hears that has said nothing (LOG-07).
    static let unsetLevel = LoggingLevel.info

    private struct Session {
        var level: LoggingLevel?
        var uris: Set<String> = []
        var streams: [(number: UInt64, sender: Sender, end: @Sendable () -> Void)] = []
        var subscriber: UInt64?
        var age: UInt64

        var isEmpty: Bool { level == nil && uris.isEmpty && streams.isEmpty }
    }

    private struct State {
        var sessions: [UInt64: Session] = [:]
        var clock: UInt64 = 0

        mutating func change<R>(_ scope: UInt64, _ body: (inout Session) -> R) -> R {
            clock += 1
            if sessions[scope] == nil, sessions.count >= SessionMemory.maximumSessions {
                let quiet = sessions.filter { $0.value.streams.isEmpty }.min { $0.value.age < $1.value.age }
                if let quiet { sessions[quiet.key] = nil }
            }
            var session = sessions[scope] ?? Session(age: clock)
            session.age = clock
            defer { sessions[scope] = session.isEmpty ? nil : session }
            return body(&session)
        }
    }

    private let state = Mutex(State())
    private let bus: ChangeBus

    init(bus: ChangeBus) { self.bus = bus }

    // MARK: Log levels

    func level(of scope: UInt64) -> LoggingLevel {
        state.withLock { $0.sessions[scope]?.level } ?? Self.unsetLevel
    }

    func set(_ level: LoggingLevel, for scope: UInt64) {
        state.withLock { $0.change(scope) { $0.level = level } }
    }

    // MARK: Resources

    /// False when the session watches as many as it may.
    func watch(_ uri: String, for scope: UInt64) -> Bool {
        state.withLock { state in
            state.change(scope) { session in
                guard session.uris.contains(uri) || session.uris.count < Self.maximumURIs else {
                    return false
                }
                session.uris.insert(uri)
                return true
            }
        }
    }

    func unwatch(_ uri: String, for scope: UInt64) {
        state.withLock { state in _ = state.change(scope) { $0.uris.remove(uri) } }
    }

    func watches(_ uri: String, _ scope: UInt64) -> Bool {
        state.withLock { $0.sessions[scope]?.uris.contains(uri) ?? false }
    }

    // MARK: Streams

    /// A stream for messages of the server: the newest one gets each message, and no other does (LEG-16).
    ///
    /// - Parameter end: ends the stream, when the session is over.
    /// - Returns: the number to take it away with.
    func attach(
        _ scope: UInt64, end: @escaping @Sendable () -> Void = {}, _ sender: @escaping Sender
    ) -> UInt64 {
        let (number, isNew) = state.withLock { state in
            let number = state.clock + 1
            return state.change(scope) { session in
                session.streams.append((number, sender, end))
                return (number, session.subscriber == nil)
            }
        }
        if isNew {
            let subscriber = bus.add(SessionSubscriber(scope, self))
            state.withLock { state in state.change(scope) { $0.subscriber = subscriber } }
        }
        return number
    }

    func detach(_ number: UInt64, from scope: UInt64) {
        let subscriber = state.withLock { state -> UInt64? in
            guard state.sessions[scope] != nil else { return nil }
            return state.change(scope) { session in
                session.streams.removeAll { $0.number == number }
                guard session.streams.isEmpty else { return nil }
                defer { session.subscriber = nil }
                return session.subscriber
            }
        }
        if let subscriber { bus.remove(subscriber) }
    }

    func streamCount(_ scope: UInt64) -> Int { state.withLock { $0.sessions[scope]?.streams.count ?? 0 } }

    /// The connection or session is over.
    func forget(_ scope: UInt64) {
        let session = state.withLock { $0.sessions.removeValue(forKey: scope) }
        if let subscriber = session?.subscriber { bus.remove(subscriber) }
        for stream in session?.streams ?? [] { stream.end() }
    }

    /// Sends a message of the server on the session's newest stream; dropped when it has none.
    func send(_ message: @autoclosure () -> ByteSlice, to scope: UInt64) {
        let sender = state.withLock { $0.sessions[scope]?.streams.last?.sender }
        if let sender { sender(message()) }
    }
}

/// Brings changes to one session: those of the lists always, those of resources as it asked.
private final class SessionSubscriber: ChangeSubscriber {
    private let scope: UInt64
    private unowned let memory: SessionMemory

    init(_ scope: UInt64, _ memory: SessionMemory) {
        self.scope = scope
        self.memory = memory
    }

    func take(_ changes: [Change]) {
        for change in changes {
            switch change {
            case .task: continue
            case .resource(let uri): guard memory.watches(uri, scope) else { continue }
            case .toolsList, .promptsList, .resourcesList: break
            }
            memory.send(Notifications.change(change, subscription: nil), to: scope)
        }
    }
}
