import MCPCore

/// The part of `mcp-server check --online` that tries the state store.
struct StoreCheck {
    /// What was found out about a store.
    struct Finding: Equatable {
        let place: String
        /// What it could not do; nil if it can be used.
        var problem: String?
        /// What to do about it.
        var hint: String?
    }

    /// The lifetime of the key in seconds.
    private static let seconds: Int64 = 60

    let settings: StateSettings
    /// The name of the server, with which its keys begin.
    let name: String

    /// Connects to the store, and writes, reads and removes a key of its own. Returns nil without a store.
    func run() async -> Finding? {
        guard let address = settings.store?.address else { return nil }
        let store: RedisStore
        do {
            guard let made = try settings.makeStore(name: name) else { return nil }
            store = made
        } catch {
            return Finding(place: address, problem: "\(error)")
        }
        let key = "check:\(Hex.encode(SystemRandom().bytes(8)))"
        let value = Array(Hex.encode(SystemRandom().bytes(16)).utf8)
        var step = "a key was not written"
        do {
            guard try await store.insert(value, for: key, lifetime: .seconds(Self.seconds)) else {
                return Finding(place: store.place, problem: "it says that a new key has a value already")
            }
            step = "the key was not read"
            guard try await store.value(for: key) == value else {
                return Finding(
                    place: store.place, problem: "it returns another value than the one that was written")
            }
            step = "the key was not removed; it expires in \(Self.seconds) s"
            try await store.removeValue(for: key)
            return Finding(place: store.place)
        } catch {
            return Finding(place: store.place, problem: "\(error); \(step)", hint: hint(for: "\(error)"))
        }
    }

    /// Returns what to do about an error of Redis.
    private func hint(for error: String) -> String {
        let hints = [
            ("NOAUTH", "it requires a password: set state.password"),
            ("WRONGPASS", "check the user in state.store, and state.password"),
            ("NOPERM", "allow its user GET, SET and DEL of the keys mcp:\(name):*, and PING and SELECT"),
            ("READONLY", "this is a replica: name its master in state.store"),
            ("OOM", "give the store more memory"),
            ("MISCONF", "the store cannot write to its disk: its log says why"),
        ]
        return hints.first { error.contains($0.0) }?.1
            ?? "the server itself would run without it: see whether the store runs, and whether state.store "
            + "is its address"
    }
}
