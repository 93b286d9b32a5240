import MCPCore

/// What several instances of the server have in common.
struct StateSettings: Sendable, Hashable {
    /// A store that the instances share.
    struct Store: Sendable, Hashable {
        var address: String
        var password: Redacted<String>?
    }

    /// The secrets that sign what clients carry: the first one signs, all of them verify.
    var keys: [Redacted<[UInt8]>] = []
    var store: Store?

    /// Sets the keys of a server.
    ///
    /// - Parameter channel: the channel that the server is for. What belongs to one channel is not valid at
    ///   another.
    func use(in options: inout ServerOptions, channel: String?) {
        let keys = keys.map { key in
            guard let channel else { return key.value }
            return HMACSHA256.authenticate(Array("channel:\(channel)".utf8), key: key.value).bytes
        }
        options.stateKey = keys.first
        options.acceptedStateKeys = Array(keys.dropFirst())
    }

    /// Opens the store, which is connected to in the background; `nil` if none is configured.
    ///
    /// - Parameter name: the name of the server: instances of the same server have the same one.
    func openStore(name: String, log: Log) throws -> RedisStore? {
        let opened = try makeStore(
            name: name,
            log: { isBack, line in
                if isBack {
                    log.info("state store", ["text": line])
                } else {
                    log.warning("state store", ["text": line])
                }
            })
        guard let opened else { return nil }
        log.info("state store", ["address": opened.place])
        return opened
    }

    /// Makes the store without a line of the log; nil if none is configured.
    ///
    /// - Parameter log: receives the lines about it, and whether they say that it is back.
    func makeStore(
        name: String, log: (@Sendable (_ isBack: Bool, _ line: String) -> Void)? = nil
    ) throws -> RedisStore? {
        try store.map {
            try RedisStore($0.address, password: $0.password?.value, prefix: "mcp:\(name):", onChange: log)
        }
    }
}
