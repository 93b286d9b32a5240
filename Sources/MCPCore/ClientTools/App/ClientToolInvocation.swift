/// One call of a tool of an app.
public struct ClientToolInvocation: Sendable {
    /// A description of the tool that is called.
    public struct ToolDescriptor: Sendable, Hashable {
        /// The tool's name.
        public var name: String
        /// The tool's description.
        public var description: String?
        /// The guidance on when to use the tool.
        public var instructions: String?
        /// The schema of the tool's arguments, as JSON.
        public var parameters: [UInt8]?

        /// Creates a description of a tool.
        public init(
            name: String, description: String? = nil, instructions: String? = nil,
            parameters: [UInt8]? = nil
        ) {
            self.name = name
            self.description = description
            self.instructions = instructions
            self.parameters = parameters
        }
    }

    /// The tool.
    public var tool: ToolDescriptor
    /// The arguments as JSON, which match the tool's schema; nil when the call had none.
    public var args: [UInt8]?
    /// The chat message that the call belongs to.
    public var messageId: String?
    /// The channel that the call came through.
    public var channelId: String?
    /// The identifier of the call.
    public var invocationId: String

    /// Creates a call.
    public init(
        tool: ToolDescriptor, args: [UInt8]? = nil, messageId: String? = nil, channelId: String? = nil,
        invocationId: String = ""
    ) {
        self.tool = tool
        self.args = args
        self.messageId = messageId
        self.channelId = channelId
        self.invocationId = invocationId
    }

    /// Decodes the arguments as the given type; missing arguments count as an empty object.
    /// - Throws: `JSONError` with the path of the value that does not match.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try RawJSON(validating: ByteSlice(args ?? Array("{}".utf8))).decode(type)
    }
}
