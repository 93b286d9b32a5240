/// The reason why a server behind this one cannot be used, in words for callers: short, and without
/// control characters or secrets.
struct UpstreamFailure: Error, Sendable, CustomStringConvertible {
    let description: String
    /// Whether the call that failed may have had an effect.
    var mayHaveRun = false

    init(_ text: String) { description = text }

    init(_ server: String, _ error: any Error, hiding secrets: UpstreamSecrets) {
        var text: String
        switch error {
        case let error as UpstreamFailure: text = error.description
        case let error as ClientError:
            let errors = error.details.filter { $0.hasPrefix("stderr: ") }.suffix(UpstreamLimits.failureLines)
            let others = error.details.filter { !$0.hasPrefix("stderr: ") }
            text = ([error.message] + others + errors).joined(separator: "; ")
            mayHaveRun = error.kind == .connectionClosed && !error.isUnsent
        case let error as MCPError: text = "it refused: \(error.message) (\(error.code))"
        default: text = "\(error)"
        }
        text = secrets.mask(text)
        description = "\(server): \(text.cleanedLine(maxBytes: UpstreamLimits.failureBytes))"
    }

    /// The error for a caller who did not call a tool.
    var error: MCPError { .internalError(description) }
}
