/// The exit status of `mcp-client`. Scripts rely on it: the meaning of a code never changes.
enum ExitCode: Int32, Sendable, CaseIterable {
    case ok = 0
    /// The tool reported an error (`isError: true`).
    case toolError = 1
    /// Usage error, or arguments that do not fit the schema; nothing was sent.
    case usage = 2
    /// The server cannot be started or reached, or has died, or the output cannot be written.
    case unreachable = 3
    /// A failure of authentication or authorization.
    case authentication = 4
    /// A JSON-RPC error, an unknown tool or resource, or a malformed response.
    case protocolError = 5
    /// A time limit was reached.
    case timeout = 6
    /// The server requests input, and no one can provide it.
    case inputRequired = 7
    /// A check failed.
    case checkFailed = 8
    /// Interrupted by Ctrl-C.
    case interrupted = 130

    var meaning: String {
        switch self {
        case .ok: "ok"
        case .toolError: "the tool reported an error (isError: true)"
        case .usage: "usage error, or arguments that do not match the schema (nothing was sent)"
        case .unreachable:
            "the server cannot be started or reached, or has died, or the output cannot be written"
        case .authentication: "authentication or authorization"
        case .protocolError: "protocol error: JSON-RPC error, unknown tool or resource, malformed response"
        case .timeout: "timeout or deadline"
        case .inputRequired: "the server requests input and none is available"
        case .checkFailed:
            "a check failed: doctor, config, test, verify, lint, diff, replay, --locked"
        case .interrupted: "interrupted"
        }
    }
}

extension ExitCode {
    /// The meaning in a word or two, for the help text of one screen.
    var brief: String { Self.briefs[rawValue] ?? meaning }

    private static let briefs: [Int32: String] = [
        0: "ok", 1: "tool error", 2: "usage", 3: "unreachable", 4: "authorization", 5: "protocol",
        6: "timeout", 7: "needs input", 8: "check failed", 130: "Ctrl-C",
    ]
}
