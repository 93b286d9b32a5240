import MCPCore
import Synchronization

/// A store of this process that several servers share, and that a test can make fail.
package final class SharedStore: StateStore {
    package struct Away: Error, CustomStringConvertible {
        package let description = "the store is away"
    }

    private struct State {
        var values: [String: (value: [UInt8], lifetime: Duration)] = [:]
        var isAway = false
        var losesReplies = false
        var isFull = false
        /// The keys of all commands, in their order.
        var commands: [String] = []
        var gate: Gate?
        var waiting = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether every command fails.
    package var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set { state.withLock { $0.isAway = newValue } }
    }

    /// Whether commands are carried out and fail all the same, as by a store that has stalled.
    package var losesReplies: Bool {
        get { state.withLock { $0.losesReplies } }
        set { state.withLock { $0.losesReplies = newValue } }
    }

    /// Whether it gives values and takes none, as one without memory.
    package var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// Lets values be set only once the gate is open.
    package var gate: Gate? {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// The number of values that have waited, or wait, for the gate.
    package var waiting: Int { state.withLock { $0.waiting } }

    /// The number of commands so far.
    package var commands: Int { keys.count }
    /// The keys of all commands so far, in their order.
    package var keys: [String] { state.withLock { $0.commands } }
    /// The keys that have values, and for how long.
    package var lifetimes: [String: Duration] { state.withLock { $0.values.mapValues(\.lifetime) } }

    /// All values.
    package var values: [[UInt8]] { state.withLock { $0.values.values.map(\.value) } }

    /// Forgets the keys that begin with a text, as if their lifetime were over.
    package func expire(_ prefix: String) {
        state.withLock { state in state.values = state.values.filter { !$0.key.hasPrefix(prefix) } }
    }

    /// Writes a value as another client of the store would, also while it is away.
    package func put(_ value: [UInt8], for key: String) {
        state.withLock { $0.values[key] = (value, .seconds(60)) }
    }

    private func use<R>(_ key: String, _ body: (inout State) -> R) throws -> R {
        try state.withLock { state in
            state.commands.append(key)
            if state.isAway { throw Away() }
            let result = body(&state)
            if state.losesReplies { throw Away() }
            return result
        }
    }

    package func value(for key: String) async throws -> [UInt8]? { try use(key) { $0.values[key]?.value } }

    package func set(_ value: [UInt8], for key: String, lifetime: Duration) async throws {
        let gate = state.withLock { state in
            state.waiting += state.gate == nil ? 0 : 1
            return state.gate
        }
        await gate?.wait()
        if isFull { throw Away() }
        try use(key) { $0.values[key] = (value, lifetime) }
    }

    package func insert(_ value: [UInt8], for key: String, lifetime: Duration) async throws -> Bool {
        if isFull { throw Away() }
        return try use(key) { state in
            guard state.values[key] == nil else { return false }
            state.values[key] = (value, lifetime)
            return true
        }
    }

    package func removeValue(for key: String) async throws {
        try use(key) { _ = $0.values.removeValue(forKey: key) }
    }
}
