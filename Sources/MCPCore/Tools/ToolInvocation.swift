/// One call of a tool by a model, a view or a user.
public struct ToolInvocation: Sendable {
    /// The ID of the model's output item, if the model has one.
    public let itemID: String?
    /// The identifier of the call, which its result repeats.
    public let callID: String
    /// The tool's name in its source.
    public let name: String
    /// The source of the tool.
    public let source: ToolSourceID
    /// The arguments, byte for byte as the model wrote them.
    public let arguments: String
    /// The arguments as JSON; nil when they are not valid JSON. Blank text, which models write for no
    /// arguments, is read as `{}`.
    public let argumentsJSON: JSONValue?
    /// The client that offers the tool, as the list of tools said when the call was requested; no other one
    /// may run it.
    package var clientID: String?
    private let onProgress: (@Sendable (ProgressReport) -> Void)?

    /// Creates a call.
    public init(
        callID: String, itemID: String? = nil, name: String, source: ToolSourceID, arguments: String,
        onProgress: (@Sendable (ProgressReport) -> Void)? = nil
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

    /// Returns the `_meta` of the call with the client that should run it, if the list of tools named one.
    package func addressed(_ meta: JSONObject = [:]) -> JSONObject {
        var meta = meta
        meta[VendorKey.clientID] = clientID.map { .string($0) }
        return meta
    }

    /// Whether the caller has cancelled the call.
    public var isCancelled: Bool { Task.isCancelled }

    /// Decodes the arguments as a type of your own.
    ///
    /// - Throws: `JSONError` with the path of the part that does not fit.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try RawJSON(argumentsJSON ?? .null).decode(type)
    }

    /// Reports the tool's progress to the caller.
    public func progress(_ value: Double, total: Double? = nil, message: String? = nil) {
        onProgress?(ProgressReport(value, total: total, message: message))
    }
}
