/// One call of a tool by a model, a view or a user.
public struct ToolInvocation: Sendable {
    /// The id of the model's output item, where the model has one.
    public let itemID: String?
    /// Names the call; its result repeats it.
    public let callID: String
    /// The tool's name in its source.
    public let name: String
    /// The source of the tool.
    public let source: ToolSourceID
    /// The arguments, byte for byte as the model wrote them.
    public let arguments: String
    /// The arguments as JSON: nil when they are none. Blank text, which models write for no arguments, is
    /// `{}`.
    public let argumentsJSON: JSONValue?
    private let onProgress: (@Sendable (Progress) -> Void)?

    /// Makes a call.
    public init(
        callID: String, itemID: String? = nil, name: String, source: ToolSourceID, arguments: String,
        onProgress: (@Sendable (Progress) -> Void)? = nil
    ) {
        self.itemID = itemID
        self.callID = callID
        self.name = name
        self.source = source
        self.arguments = arguments
        self.onProgress = onProgress
        argumentsJSON =
            arguments.utf8.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
            ? [:] : try? JSONValue(parsing: arguments)
    }

    /// Whether the caller has lost interest.
    public var isCancelled: Bool { Task.isCancelled }

    /// The arguments as a type of yours.
    /// - Throws: `JSONError` with the path of what does not fit.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try RawJSON(argumentsJSON ?? .null).decode(type)
    }

    /// Tells how far the tool has come.
    public func progress(_ value: Double, total: Double? = nil, message: String? = nil) {
        onProgress?(Progress(value, total: total, message: message))
    }
}
