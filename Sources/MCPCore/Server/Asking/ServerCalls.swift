import Synchronization

/// The requests of the server that wait for an answer.
///
/// The key holds the connection or the session that was asked: nobody else can answer.
final class ServerCalls: Sendable {
    private struct Key: Hashable {
        let channelID: UInt64
        let id: RequestID
    }

    private let calls = Mutex<[Key: ServerCall]>([:])

    /// How many wait.
    var count: Int { calls.withLock { $0.count } }

    func insert(_ call: ServerCall, channelID: UInt64) {
        calls.withLock { $0[Key(channelID: channelID, id: call.id)] = call }
    }

    /// The call that a response belongs to; it is not in the table any more.
    func take(_ id: RequestID, channelID: UInt64) -> ServerCall? {
        calls.withLock { $0.removeValue(forKey: Key(channelID: channelID, id: id)) }
    }
}
