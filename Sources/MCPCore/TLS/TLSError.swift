/// Why a connection cannot be encrypted, or not any longer.
public struct TLSError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; the set is open.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind's name, for logs.
        public let description: String

        /// There is no TLS here: a library is missing, or the program brings no provider where it has to.
        public static let unavailable = Kind(description: "unavailable")
        /// What is to be trusted cannot be read.
        public static let trust = Kind(description: "trust")
        /// The peer's certificate is not accepted.
        public static let certificate = Kind(description: "certificate")
        /// What the peer sends is no TLS, or it refuses what is sent.
        public static let handshake = Kind(description: "handshake")
        /// The connection ended or broke before its time.
        public static let connection = Kind(description: "connection")
    }

    /// What kind of failure it is.
    public var kind: Kind
    /// What happened, as the end of a sentence: `its certificate expired on 2024-05-01`.
    public var message: String
    /// More lines.
    public var details: [String]
    /// What to do about it.
    public var hint: String?

    /// Makes an error.
    public init(_ kind: Kind, _ message: String, details: [String] = [], hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.details = details
        self.hint = hint
    }

    /// The message, the details and the hint, one per line.
    public var description: String {
        ([message] + details.map { "  " + $0 } + (hint.map { ["hint: " + $0] } ?? [])).joined(separator: "\n")
    }
}
