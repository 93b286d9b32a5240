/// What `mcp-client` tells the shell. Scripts rely on it; a code never changes its meaning.
enum ExitCode: Int32, Sendable, CaseIterable {
    case ok = 0
    /// The tool said no (`isError: true`).
    case toolError = 1
    /// Usage error, or arguments that do not fit the schema; nothing was sent.
    case usage = 2
    /// Cannot start or connect, the server died, or the output cannot be written.
    case unreachable = 3
    /// Authentication or authorization.
    case authentication = 4
    /// A JSON-RPC error, an unknown tool or resource, a malformed answer.
    case protocolError = 5
    /// A time limit was reached.
    case timeout = 6
    /// The server asks for input and nobody can give it.
    case inputRequired = 7
    /// Ctrl-C.
    case interrupted = 130

    var meaning: String {
        switch self {
        case .ok: "ok"
        case .toolError: "the tool said no (isError: true)"
        case .usage: "usage error, or arguments do not fit the schema (nothing was sent)"
        case .unreachable: "cannot start or connect, the server died, or the output cannot be written"
        case .authentication: "authentication or authorization"
        case .protocolError: "protocol error: JSON-RPC error, unknown tool or resource, malformed answer"
        case .timeout: "timeout or deadline"
        case .inputRequired: "the server asks for input and none is available"
        case .interrupted: "interrupted"
        }
    }
}
