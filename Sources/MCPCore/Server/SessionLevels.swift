import Synchronization

/// The log levels that connections and sessions of the handshake revisions have set (LOG-07).
final class SessionLevels: Sendable {
    private static let maximum = 100_000
    private let levels = Mutex<[UInt64: LoggingLevel]>([:])

    /// What a session hears that has said nothing.
    static let unset = LoggingLevel.info

    func level(of scope: UInt64) -> LoggingLevel { levels.withLock { $0[scope] } ?? Self.unset }

    func set(_ level: LoggingLevel, for scope: UInt64) {
        levels.withLock { levels in
            // Sessions that never end make room for those that talk.
            if levels.count >= Self.maximum, levels[scope] == nil { levels.removeAll() }
            levels[scope] = level
        }
    }

    func forget(_ scope: UInt64) { levels.withLock { $0[scope] = nil } }
}
