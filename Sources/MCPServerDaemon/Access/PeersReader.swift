import MCPCore

/// Reads `auth.peers`: the users and groups of this machine whose processes need no token.
struct PeersReader {
    let context: ConfigContext

    func read(_ node: ConfigNode) -> [PeerRule] {
        guard let elements = node.elements else {
            context.diagnostics.error(
                "auth.peers must be an array of rules like { \"user\": \"www-data\" }, not \(node.kindName)",
                at: node.position)
            return []
        }
        return elements.enumerated().compactMap { number, element in
            ObjectReader(element, path: "auth.peers[\(number)]", context: context).flatMap { read($0) }
        }
    }

    private func read(_ reader: ObjectReader) -> PeerRule? {
        var reader = reader
        let match = match(&reader)
        let allow = reader.strings("allow") ?? ["*"]
        reader.checkPatterns(allow, of: "allow")
        if allow.isEmpty {
            context.diagnostics.warning(
                "\(reader.path) allows nothing: leave \"allow\" out for everything",
                at: reader.place(of: "allow"))
        }
        let (scopes, rate) = (reader.strings("scopes") ?? [], reader.rate("rate"))
        reader.finish()
        return match.map { PeerRule($0, allow: allow, scopes: scopes, rate: rate) }
    }

    private func match(_ reader: inout ObjectReader) -> PeerRule.Match? {
        let (user, group) = (reader.string("user"), reader.string("group"))
        let number = reader.integer("uid", in: 0 ... Int(UInt32.max) - 1)
        let keys = ["user", "group", "uid"].filter { key in reader.members.contains { $0.key == key } }
        guard keys.count == 1 else {
            context.diagnostics.error(
                "\(reader.path) must have one of \"user\", \"group\" and \"uid\"", at: reader.position)
            return nil
        }
        if let number { return .user(UInt32(number)) }
        if user == "*" { return .everyone }
        if let user {
            if let id = Accounts.userID(named: user) { return .user(id) }
            context.diagnostics.error(
                "\(reader.path): no user named \"\(user)\" on this machine", at: reader.place(of: "user"))
        }
        if let group {
            if let id = Accounts.groupID(named: group) { return .group(id) }
            context.diagnostics.error(
                "\(reader.path): no group named \"\(group)\" on this machine",
                at: reader.place(of: "group"))
        }
        return nil
    }
}

extension ObjectReader {
    /// Reports texts that cannot be patterns for names.
    func checkPatterns(_ patterns: [String], of key: String) {
        for pattern in patterns where !AuthSettings.isPattern(pattern) {
            context.diagnostics.error(
                "\(pathOf(key)): \"\(pattern)\" is not a pattern for names; use for example "
                    + "\"git_*\", \"docs:*\" or \"*\"", at: place(of: key))
        }
    }

    mutating func rate(_ key: String) -> RateLimit? {
        guard let text = string(key) else { return nil }
        if let rate = RateLimit(text) { return rate }
        context.diagnostics.error(
            "\(pathOf(key)) must be a number of requests and a time, such as \"60/min\", \"5/s\" or "
                + "\"1000/h\"",
            at: place(of: key))
        return nil
    }
}
