import MCPCore

/// Warns of tools and prompts that nobody may use, and of patterns that allow nothing.
struct AccessCheck {
    let configuration: Configuration
    /// The value of `auth`.
    let node: ConfigNode
    let context: ConfigContext

    /// A pattern for names, and where it is written.
    private struct Pattern {
        var text: String
        var position: SourcePosition
        /// The name of the token in the file of tokens.
        var token: String?
    }

    func run() {
        guard let auth = configuration.auth else { return }
        checkOwnUser(auth)
        let patterns = own + tokens(auth)
        let names =
            configuration.tools.map { ("tool", $0.name) } + configuration.prompts.map { ("prompt", $0.name) }
        if auth.rules != nil {
            let globs = patterns.map { Glob($0.text) }
            for (kind, name) in names where !globs.contains(where: { $0.matches(name) }) {
                context.diagnostics.warning(
                    "nothing in auth allows the \(kind) \(name): add it to a scope, or make a token with "
                        + "--allow \(name)", at: node["scopes"]?.position ?? node.position)
            }
        }
        let useless = Set(configuration.patternsWithoutNames(patterns.map(\.text)))
        for pattern in patterns where useless.contains(pattern.text) {
            let owner = pattern.token.map { "the token \($0)" } ?? "auth"
            context.diagnostics.warning(
                "\(owner): \"\(pattern.text)\" matches no tool and no prompt", at: pattern.position)
        }
    }

    /// Warns of rules for users of this machine that leave out the own one, if nothing else lets it in.
    private func checkOwnUser(_ auth: AuthSettings) {
        guard let peers = node["peers"], !auth.peers.isEmpty, auth.tokens == nil,
            auth.authorizationServers.isEmpty, auth.anonymous.isEmpty
        else { return }
        let user = Accounts.ownUserID
        let isCovered = auth.peers.contains { rule in
            switch rule.match {
            case .everyone: true
            case .user(let id): id == user
            // Groups are looked up when a process calls.
            case .group: true
            }
        }
        guard !isCovered else { return }
        context.diagnostics.warning(
            "auth.peers has no rule for the user that runs this (\(user)), and auth accepts no tokens: a "
                + "server of this user refuses its own processes; { \"uid\": \(user) } admits them",
            at: peers.position)
    }

    /// The patterns of the configuration itself.
    private var own: [Pattern] {
        let scopes = node["scopes"]?.members?.map(\.value) ?? []
        let peers = node["peers"]?.elements ?? []
        let lists = (scopes + peers).map { $0["allow"] } + [node["anonymous"]]
        // A peer without patterns may use everything.
        let open = peers.filter { $0["allow"] == nil }.map { Pattern(text: "*", position: $0.position) }
        return open
            + lists.flatMap { list in
                (list?.elements ?? []).compactMap { element in
                    element.string.map { Pattern(text: $0, position: element.position) }
                }
            }
    }

    private func tokens(_ auth: AuthSettings) -> [Pattern] {
        guard let path = auth.tokens,
            let records = try? TokenFile(path, isInspected: context.isInspected).read()
        else { return [] }
        let position = node["tokens"]?.position ?? node.position
        return records.flatMap { record in
            (record.allow ?? []).map { Pattern(text: $0, position: position, token: record.name) }
        }
    }
}

extension Configuration {
    /// Returns the patterns that match no tool and no prompt; none where the tools of other programs are not
    /// known. Patterns for URIs are not looked at.
    func patternsWithoutNames(_ patterns: [String]) -> [String] {
        guard clientTools == nil, upstreams.isEmpty else { return [] }
        let names = tools.map(\.name) + prompts.map(\.name)
        return patterns.filter { pattern in
            guard !pattern.contains(":"), pattern != "*" else { return false }
            let glob = Glob(pattern)
            return !names.contains { glob.matches($0) }
        }
    }
}
