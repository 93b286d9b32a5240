/// Why a call, or the connection, failed for a reason other than an error answer of the server.
///
/// An error that the server answers with is an `MCPError`.
public struct ClientError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; the set is open.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind's name, for logs.
        public let description: String

        /// The program could not be started, or there is no such program.
        public static let cannotStart = Kind(description: "cannotStart")
        /// The server cannot be reached: refused, no such host or socket, no answer to the connection
        /// attempt.
        public static let cannotConnect = Kind(description: "cannotConnect")
        /// The server was reached, but not by TLS: its certificate is not accepted, it speaks something else,
        /// or there is no TLS here. Nothing was sent.
        public static let tls = Kind(description: "tls")
        /// The connection, or the program, ended before the answer; also every call after `close()`. A call
        /// that was sent may have run: `details` says so, and that it was not sent again.
        public static let connectionClosed = Kind(description: "connectionClosed")
        /// HTTP 401 or 403: credentials are missing, wrong or not enough.
        public static let authentication = Kind(description: "authentication")
        /// An HTTP status that is no answer to the request; see `httpStatus`.
        public static let httpStatus = Kind(description: "httpStatus")
        /// HTTP 3xx: no redirect is followed.
        public static let redirect = Kind(description: "redirect")
        /// What came is not MCP, or breaks its rules or the limits of this client.
        public static let protocolViolation = Kind(description: "protocolViolation")
        /// Client and server have no revision of the protocol in common.
        public static let unsupportedVersion = Kind(description: "unsupportedVersion")
        /// No answer in time; the request was cancelled.
        public static let timeout = Kind(description: "timeout")
        /// The task that waited was cancelled, and the request with it.
        public static let cancelled = Kind(description: "cancelled")
        /// The server asks back (`input_required`, 2026-07-28) and nobody can answer; see `result`.
        public static let inputRequired = Kind(description: "inputRequired")
        /// The legacy session does not exist any more and could not be opened again.
        public static let sessionExpired = Kind(description: "sessionExpired")
        /// The URL, a header or an argument cannot be sent.
        public static let invalidRequest = Kind(description: "invalidRequest")
    }

    /// What kind of failure it is.
    public var kind: Kind
    /// One sentence for a person, such as `cannot connect to 127.0.0.1:8808: Connection refused`.
    public var message: String
    /// More lines: the exit status, the last lines of the server's stderr, what was sent.
    public var details: [String]
    /// What to do about it.
    public var hint: String?
    /// The status of the HTTP answer, if there was one.
    public var httpStatus: Int?
    /// The result that cannot be used, for `.inputRequired`.
    public var result: RawJSON?
    /// Nothing of the request has left, so that it cannot have run.
    var isUnsent = false
    /// The server answered, with something that is not valid JSON-RPC.
    var isMalformedAnswer = false

    /// Makes an error.
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
    /// Whether the request may succeed later: the network failed, or the server is overloaded or starting.
    var isTransient: Bool {
        switch kind {
        case .connectionClosed, .cannotConnect: true
        case .httpStatus: httpStatus.map { $0 == 429 || $0 >= 500 && $0 != 501 } ?? false
        default: false
        }
    }
}
