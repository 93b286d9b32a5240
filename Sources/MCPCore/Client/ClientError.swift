/// The reason why a call or the connection failed, other than an error response from the server.
///
/// An error that the server returns is an `MCPError`.
public struct ClientError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure; the set is open.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind's name, for logs.
        public let description: String

        /// The program could not be started or does not exist.
        public static let cannotStart = Kind(description: "cannotStart")
        /// The server cannot be reached: the connection was refused, the host or socket does not exist, or
        /// the connection attempt timed out.
        public static let cannotConnect = Kind(description: "cannotConnect")
        /// The server was reached, but TLS failed: its certificate is not accepted, it uses another protocol,
        /// or TLS is not available here. Nothing was sent.
        public static let tls = Kind(description: "tls")
        /// The connection or the program ended before the response; also every call after `close()`. A call
        /// that was sent may have been executed: `details` then states that, and that it was not sent again.
        public static let connectionClosed = Kind(description: "connectionClosed")
        /// HTTP 401 or 403: credentials are missing, wrong or insufficient.
        public static let authentication = Kind(description: "authentication")
        /// An HTTP status that is not a response to the request; see `httpStatus`.
        public static let httpStatus = Kind(description: "httpStatus")
        /// HTTP 3xx: only 307 and 308 to the same origin are followed, and only while connecting.
        public static let redirect = Kind(description: "redirect")
        /// The data received is not MCP, or breaks its rules or the limits of this client.
        public static let protocolViolation = Kind(description: "protocolViolation")
        /// Client and server have no revision of the protocol in common.
        public static let unsupportedVersion = Kind(description: "unsupportedVersion")
        /// No response arrived in time; the request was cancelled.
        public static let timeout = Kind(description: "timeout")
        /// The waiting task was cancelled, and the request with it.
        public static let cancelled = Kind(description: "cancelled")
        /// The call became a task, and the server cancelled it; the call may have been executed in part.
        public static let taskCancelled = Kind(description: "taskCancelled")
        /// The server requests input (`input_required`, 2026-07-28) that no handler can provide; see
        /// `result`.
        public static let inputRequired = Kind(description: "inputRequired")
        /// The legacy session no longer exists and could not be reopened.
        public static let sessionExpired = Kind(description: "sessionExpired")
        /// The URL, a header or an argument cannot be sent.
        public static let invalidRequest = Kind(description: "invalidRequest")
    }

    /// The kind of the failure.
    public var kind: Kind
    /// One sentence for a person, such as `cannot connect to 127.0.0.1:8808: Connection refused`.
    public var message: String
    /// Additional lines: the exit status, the last lines of the server's stderr, what was sent.
    public var details: [String]
    /// Advice on how to resolve the failure.
    public var hint: String?
    /// The status of the HTTP response, if there was one.
    public var httpStatus: Int?
    /// The unusable result, for `.inputRequired`.
    public var result: RawJSON?
    /// The reason why no access token could be obtained or used, for `.authentication` with
    /// `ClientOptions.authorizer`; nil if the server refused what was presented.
    public var authorization: AuthorizationError? { rare?.authorization }
    /// The value of `Location`, for `.redirect`.
    var location: String? { rare?.location }
    private var rare: Rare?
    /// Whether no part of the request was sent, so that it cannot have been executed.
    package internal(set) var isUnsent = false
    /// Whether the request may have been executed, and was not sent again.
    package internal(set) var mayHaveBeenExecuted = false
    /// The number of the system's error of the last attempt to connect; 0 if there was none.
    package var connectErrno: UInt8 = 0
    /// Whether the program that a provider offers has ended on its own.
    package var isEndOfProgram = false
    /// Whether the server sent a response that is not valid JSON-RPC.
    var isMalformedAnswer = false

    /// Creates an error.
    public init(
        _ kind: Kind, _ message: String, details: [String] = [], hint: String? = nil, httpStatus: Int? = nil,
        result: RawJSON? = nil
    ) {
        self.kind = kind
        self.message = message
        self.details = details
        self.hint = hint
        self.httpStatus = httpStatus
        self.result = result
    }

    /// The message, the details and the hint, one per line.
    public var description: String {
        ([message] + details.map { "  " + $0 } + (hint.map { ["hint: " + $0] } ?? [])).joined(separator: "\n")
    }
}

extension ClientError {
    /// What few errors have: in an object, so that all others stay small.
    private final class Rare: Sendable {
        let authorization: AuthorizationError?
        let location: String?

        init(authorization: AuthorizationError? = nil, location: String? = nil) {
            self.authorization = authorization
            self.location = location
        }
    }

    /// Creates the error for a request that an authorizer did not let through.
    init(_ error: AuthorizationError, httpStatus: Int?) {
        self.init(
            .authentication, error.message, details: error.details, hint: error.hint, httpStatus: httpStatus)
        rare = Rare(authorization: error)
    }

    /// Creates the error for a redirect.
    ///
    /// - Parameter shown: the location without secrets.
    init(redirect location: String?, shown: String?, _ status: Int) {
        let place = shown.map { " to \($0)" } ?? ""
        self.init(
            .redirect, "the server redirects\(place) (HTTP \(status)), which was not followed",
            hint: [307, 308].contains(status)
                ? "redirects are followed while connecting, to another path at the same scheme, host and "
                    + "port; use that URL if you trust it"
                : "only 307 and 308 to the same scheme, host and port are followed; "
                    + "use that URL if you trust it",
            httpStatus: status)
        rare = Rare(location: location)
    }

    /// Whether the request may succeed later: the network failed, or the server is overloaded or starting.
    package var isTransient: Bool {
        switch kind {
        case .connectionClosed, .cannotConnect: true
        case .httpStatus: httpStatus.map { $0 == 429 || $0 >= 500 && $0 != 501 } ?? false
        default: false
        }
    }
}
