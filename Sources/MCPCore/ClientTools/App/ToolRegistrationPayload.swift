/// A tool as it is registered at `POST /register-tools`.
public struct ToolRegistrationPayload: Codable, Sendable, Hashable {
    /// Its name.
    public var name: String
    /// What it does; the instructions where there is no description.
    public var description: String
    /// When it should be used.
    public var instructions: String?
    /// The schema of its arguments.
    public var parameters: JSONValue?
    /// Whether people are shown that it uses sources outside the conversation.
    public var showExternalSourcesIndicator: Bool?

    /// Describes a tool.
    public init(
        name: String, description: String, instructions: String? = nil, parameters: JSONValue? = nil,
        showExternalSourcesIndicator: Bool? = nil
    ) {
        self.name = name
        self.description = description
        self.instructions = instructions
        self.parameters = parameters
        self.showExternalSourcesIndicator = showExternalSourcesIndicator
    }
}
