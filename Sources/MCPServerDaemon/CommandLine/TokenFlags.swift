import MCPCore

/// The options of `token`.
struct TokenFlags: Sendable, Hashable {
    var allow: [String] = []
    var scopes: [String] = []
    var lifetime: Duration?
    var rate: RateLimit?

    static func lifetime(_ text: String) throws(CommandLineError) -> Duration {
        if let duration = Units.duration(text), duration >= .seconds(1) { return duration }
        throw CommandLineError(
            "--expires needs a time of at least 1s, with its unit, not \"\(text)\"",
            hint: "for example --expires 90d")
    }

    static func rate(_ text: String) throws(CommandLineError) -> RateLimit {
        if let rate = RateLimit(text) { return rate }
        throw CommandLineError(
            "--rate needs a number of requests per s, min or h, not \"\(text)\"",
            hint: "for example --rate 60/min")
    }

    /// Returns the request of `token WORD NAME`.
    func request(_ word: String?, name: String?) throws(CommandLineError) -> TokenRequest {
        switch word {
        case "list": return .list
        case "new", "revoke": break
        default:
            let words = ["new", "list", "revoke"]
            let near = word.flatMap { Suggestion.best(for: $0, among: words) }
            throw CommandLineError(
                word.map { "unknown command \"token \($0)\"" } ?? "token needs a command",
                hint: near.map { "did you mean mcp-server token \($0)?" }
                    ?? "mcp-server token new NAME --allow PATTERN, token list, token revoke NAME")
        }
        guard let name else {
            throw CommandLineError(
                "token \(word ?? "") needs a name",
                hint: word == "new"
                    ? "for example mcp-server token new ci --allow 'git_*'"
                    : "token list, with the same -c, shows them")
        }
        if word == "revoke" { return .revoke(name: name) }
        guard !allow.isEmpty || !scopes.isEmpty else {
            throw CommandLineError(
                "the token \(name) could do nothing",
                hint: "name the tools, prompts and URIs that it may use: --allow 'git_*' --allow 'docs:*', "
                    + "or everything: --allow '*'")
        }
        for pattern in allow where !AuthSettings.isPattern(pattern) {
            throw CommandLineError(
                "a pattern for --allow is empty or contains a space or a control character; "
                    + "no token was made", hint: "for example --allow 'git_*'")
        }
        return .new(name: name, self)
    }
}
