public import MCPCore

/// A model server that cannot be reached, refuses a request, or breaks off an answer.
public struct ModelServerError: Error, Sendable, CustomStringConvertible {
    /// The model that was asked for.
    public let model: String
    /// The address of the interface, without credentials and without a query.
    public let address: String
    /// What failed, with the status of HTTP if there was one.
    public let cause: ClientError
    /// The number of attempts.
    public let attempts: Int
    /// One sentence for a person, with the model and the address.
    public let message: String
    /// What to do next, if that is known.
    public let hint: String?

    init(
        model: String, address: String, cause: ClientError, attempts: Int, hasBegun: Bool,
        wantedPause: Duration?
    ) {
        self.model = model
        self.address = address
        self.cause = cause
        self.attempts = attempts
        let what = hasBegun ? "broke off its answer: \(cause.message)" : Self.what(cause)
        let times = attempts > 1 ? " (\(attempts) attempts)" : ""
        message = "the model \(model) at \(address) \(what)\(times)"
        hint = hasBegun ? "send the message again" : Self.hint(cause, wantedPause)
    }

    /// The message and the hint.
    public var description: String { message + (hint.map { "\nhint: \($0)" } ?? "") }

    /// Returns a URL without credentials and query.
    static func shown(_ url: String) -> String {
        let plain = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = plain.firstRange(of: "://"),
            let at = plain[scheme.upperBound...].prefix(while: { $0 != "/" }).lastIndex(of: "@")
        else { return String(plain) }
        return String(plain[..<scheme.upperBound]) + plain[plain.index(after: at)...]
    }

    private static func what(_ error: ClientError) -> String {
        guard let status = error.httpStatus else { return "did not answer: \(error.message)" }
        if (200 ..< 300).contains(status) {
            return "answered HTTP \(status) without an event stream, which \"stream\": true asks for"
        }
        return "answered HTTP \(status)" + (reason(error).map { ": \($0)" } ?? "")
    }

    /// Returns the server's own words: the `error.message` of its JSON, or the start of its body.
    private static func reason(_ error: ClientError) -> String? {
        guard let body = error.details.lazy.compactMap({ $0.dropping(prefix: "body: ") }).first else {
            return nil
        }
        let json = try? JSONValue(parsing: body)
        let text =
            json?["error"]?["message"]?.stringValue ?? json?["error"]?.stringValue
            ?? json?["message"]?.stringValue ?? json?["detail"]?.stringValue ?? body
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").cleaned(maxBytes: 300)
        return line.isEmpty ? nil : line
    }

    private static func hint(_ error: ClientError, _ wantedPause: Duration?) -> String? {
        if let wantedPause {
            return "it asks to wait \(ModelRetries.text(wantedPause)) before the next request"
        }
        return switch (error.kind, error.httpStatus) {
        case (.cannotConnect, _): "is the model server running, and is this its address?"
        case (.tls, _), (.invalidRequest, _): error.hint
        case (_, 401), (_, 403): "check the key of the model, and that it may use this model"
        case (_, 404): "check the name of the model, and the URL, which ends where /chat/completions is added"
        case (_, 400), (_, 422): "the server does not accept the request: check the parameters"
        case (_, 413): "the conversation is too long for this server: start a new one"
        case (_, 429): "the server limits the requests of this client: try again later"
        case (_, let status?) where status >= 500: "the model server has a problem: try again later"
        case (.timeout, _): "the model may still be loading: try again"
        default: error.hint
        }
    }
}
