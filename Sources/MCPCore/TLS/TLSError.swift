/// The reason why a connection cannot be encrypted, or can no longer be encrypted.
public struct TLSError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; more kinds may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, for logs.
        public let description: String

        /// TLS is unavailable: a library is missing, or the program does not supply a provider where one is
        /// required.
        public static let unavailable = Kind(description: "unavailable")
        /// The certificates to trust cannot be read.
        public static let trust = Kind(description: "trust")
        /// The peer's certificate is not accepted.
        public static let certificate = Kind(description: "certificate")
        /// The peer does not send TLS, or it refuses the data sent to it.
        public static let handshake = Kind(description: "handshake")
        /// The connection ended or broke prematurely.
        public static let connection = Kind(description: "connection")
    }

    /// The kind of failure.
    public var kind: Kind
    /// A description of the failure, as the end of a sentence: `its certificate expired on 2024-05-01`.
    public var message: String
    /// More lines with details.
    public var details: [String]
    /// A suggestion for how to fix the failure.
    public var hint: String?

    /// Creates an error.
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
