/// One call of a tool of an app.
public struct ClientToolInvocation: Sendable {
    /// The tool that is called.
    public struct ToolDescriptor: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// What it does.
        public var description: String?
        /// When it should be used.
        public var instructions: String?
        /// The schema of its arguments, as JSON.
        public var parameters: [UInt8]?

        /// Describes a tool.
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
    /// The arguments as JSON, which fit the tool's schema; nil when the call had none.
    public var args: [UInt8]?
    /// The message of a chat that the call belongs to.
    public var messageId: String?
    /// The channel that the call came through.
    public var channelId: String?
    /// Names the call.
    public var invocationId: String

    /// Makes a call.
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

    /// The arguments as a type of yours; none count as an empty object.
    /// - Throws: `JSONError` with the path of what does not fit.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try RawJSON(validating: ByteSlice(args ?? Array("{}".utf8))).decode(type)
    }
}
