/// The reason why signatures cannot be verified or made.
public struct SignatureError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; more kinds may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, for logs.
        public let description: String

        /// No implementation of the algorithms is available: a library is missing, or the program does not
        /// supply a provider where one is required.
        public static let unavailable = Kind(description: "unavailable")
        /// A key or a set of keys is malformed, too large or of an unsupported kind.
        public static let key = Kind(description: "key")
        /// The key does not fit the algorithm, or the signature could not be made.
        public static let signing = Kind(description: "signing")
    }

    /// The kind of failure.
    public var kind: Kind
    /// A description of the failure, without parts of any key.
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
