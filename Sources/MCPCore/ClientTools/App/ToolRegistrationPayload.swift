/// A tool as it is registered at `POST /register-tools`.
public struct ToolRegistrationPayload: Codable, Sendable, Hashable {
    /// The tool's name.
    public var name: String
    /// The tool's description; the instructions if there is no description.
    public var description: String
    /// The guidance on when to use the tool.
    public var instructions: String?
    /// The schema of the tool's arguments.
    public var parameters: JSONValue?
    /// Whether users are shown that the tool uses sources outside the conversation.
    public var showExternalSourcesIndicator: Bool?
    /// The names of the scopes that the tool needs, an addition to Stream's form; nil for none.
    public var scopes: [String]?
    /// The longest time that a call may take, in milliseconds, an addition to Stream's form; nil for that of
    /// the server.
    public var timeoutMs: Int?

    /// Creates a description of a tool.
    public init(
        name: String, description: String, instructions: String? = nil, parameters: JSONValue? = nil,
        showExternalSourcesIndicator: Bool? = nil, scopes: [String]? = nil, timeoutMs: Int? = nil
    ) {
        self.name = name
        self.description = description
        self.instructions = instructions
        self.parameters = parameters
        self.showExternalSourcesIndicator = showExternalSourcesIndicator
        self.scopes = scopes
        self.timeoutMs = timeoutMs
    }
}
