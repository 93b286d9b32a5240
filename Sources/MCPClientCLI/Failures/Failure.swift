import MCPCore

/// The reason why a command ends without its result: two to four lines for a person, one JSON line for a
/// program.
struct Failure: Error, Sendable {
    /// The word that programs compare: `kind` in the JSON line.
    enum Kind: String, Sendable {
        case toolError = "tool_error"
        case usage
        case invalidArguments = "invalid_arguments"
        case cannotStart = "cannot_start"
        case cannotConnect = "cannot_connect"
        case connectionClosed = "connection_closed"
        case output
        case authRequired = "auth_required"
        case forbidden
        case insufficientScope = "insufficient_scope"
        case issuerMismatch = "issuer_mismatch"
        case resourceMismatch = "resource_mismatch"
        case registrationFailed = "registration_failed"
        case tokenRefused = "token_refused"
        case loginTimedOut = "login_timed_out"
        case store
        case protocolError = "protocol_error"
        case rpcError = "rpc_error"
        case notFound = "not_found"
        case timeout
        case inputRequired = "input_required"
        case interrupted
        case taskCancelled = "task_cancelled"
        case locked
    }

    var code: ExitCode
    var kind: Kind
    /// The problem, in one line that is printed after `error: `.
    var message: String
    /// Further lines, indented by two spaces.
    var details: [String] = []
    /// Lines that are not indented, such as the usage line.
    var usage: String?
    /// A suggestion for the next step.
    var hint: String?
    /// The HTTP status that caused the failure.
    var status: Int?
    /// The JSON-RPC error that caused the failure.
    var rpc: MCPError?
    /// The file of `-o` that receives what did not fail.
    var rest: String?
    /// Whether nothing is left out in that file.
    var isRestWhole = false
    /// Whether the message follows the word `error`, which tool errors omit.
    var hasPrefix = true

    var rpcCode: Int? { rpc?.code }

    /// Returns the failure of a command line with another hint; any other failure stays as it is.
    func hinting(_ hint: String) -> Failure {
        var failure = self
        if code == .usage { failure.hint = hint }
        return failure
    }

    /// Whether FILE of `-o` receives what did not fail.
    var hasRest: Bool { kind == .output || rest != nil }

    /// Saves what did not fail, and returns what to report: that it was saved, or why it was not.
    func saving(_ save: () throws(Failure) -> Void) -> [Failure] {
        var failure = self
        let arrival = "the response had already arrived"
        do throws(Failure) { try save() } catch {
            if rest != nil { failure.details.append(arrival) }
            return [failure, error]
        }
        if let rest {
            let what = isRestWhole ? "it" : "the rest of it"
            failure.details.append("\(arrival); \(what) is in \(inlineText(rest))")
        }
        return [failure]
    }

    static func usage(_ message: String, details: [String] = [], hint: String? = nil) -> Failure {
        Failure(code: .usage, kind: .usage, message: message, details: details, hint: hint)
    }

    static func malformed(_ message: String, details: [String] = []) -> Failure {
        Failure(code: .protocolError, kind: .protocolError, message: message, details: details)
    }
}
