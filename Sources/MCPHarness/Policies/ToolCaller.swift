/// The party that requests a tool call.
public enum ToolCaller: Sendable, Hashable {
    /// The language model.
    case model
    /// A view provided by a server.
    case view
    /// The user.
    case user
}
