import MCPCore

/// Reads `state` of the configuration.
struct StateReader {
    /// The lengths of a key in bytes.
    static let keyBytes = 32 ... 4096
    /// The number of keys at the same time: the one that signs, and those that are being replaced.
    static let maxKeys = 4

    let context: ConfigContext

    func read(_ reader: ObjectReader) -> StateSettings {
        var reader = reader
        var settings = StateSettings()
        if let node = reader.node("key") {
            settings.keys = keys(node, reader)
        } else {
            context.diagnostics.error(
                "state needs \"key\": a secret that all instances have, such as ${file:/etc/mcp/state.key}",
                at: reader.position)
        }
        let password = reader.node("password").flatMap { secret($0, "state.password") }
        if let address = reader.string("store") {
            settings.store = StateSettings.Store(
                address: address, password: password.map { Redacted($0) })
            check(address, at: reader.place(of: "store"))
            if address.contains("@"), password == nil, !reader.hasKey("password") {
                context.diagnostics.error(
                    "state.store names a user, who needs \"password\"", at: reader.place(of: "store"))
            }
        } else if password != nil {
            context.diagnostics.error(
                "state.password is for a store: add state.store, or remove it",
                at: reader.place(of: "password"))
        }
        reader.finish()
        return settings
    }

    private func keys(_ node: ConfigNode, _ reader: ObjectReader) -> [Redacted<[UInt8]>] {
        let nodes = node.elements ?? [node]
        if nodes.isEmpty || nodes.count > Self.maxKeys {
            context.diagnostics.error(
                "state.key must be one secret, or 1 to \(Self.maxKeys) of them: the first one signs",
                at: node.position)
        }
        var keys: [Redacted<[UInt8]>] = []
        for node in nodes {
            guard let text = secret(node, "state.key") else { continue }
            // A placeholder without a value is reported already.
            if text.isEmpty, context.diagnostics.hasError(at: node.position) { continue }
            let key = Redacted(Array(text.utf8))
            if !Self.keyBytes.contains(key.value.count) {
                context.diagnostics.error(
                    "state.key must have \(Self.keyBytes.lowerBound) to \(Self.keyBytes.upperBound) bytes, "
                        + "not \(key.value.count): \"openssl rand -base64 48\" prints a good one",
                    at: node.position)
            } else if keys.contains(key) {
                context.diagnostics.error("state.key contains the same secret twice", at: node.position)
            }
            keys.append(key)
        }
        return keys
    }

    /// Reads a secret, which may not be in the configuration itself: others may read that.
    private func secret(_ node: ConfigNode, _ path: String) -> String? {
        guard case .string(let text) = node.kind else {
            context.diagnostics.error("\(path) must be a string, not \(node.kindName)", at: node.position)
            return nil
        }
        guard text.expanded.contains(where: { $0.count == text.value.utf8.count }) else {
            context.diagnostics.error(
                "\(path) must come from a file or the environment: ${file:PATH} or ${env:NAME}",
                at: node.position)
            return nil
        }
        return text.value
    }

    private func check(_ address: String, at position: SourcePosition) {
        do throws(RedisStore.AddressError) {
            if try !RedisStore.check(address).isLocal, !address.hasPrefix("rediss://") {
                context.diagnostics.warning(
                    "state.store is on another machine, and the connection to it is not encrypted: anyone "
                        + "who can change what is sent there can undo the end of sessions; rediss:// "
                        + "encrypts it",
                    at: position)
            }
        } catch {
            context.diagnostics.error("state.store \(error)", at: position)
        }
    }
}
