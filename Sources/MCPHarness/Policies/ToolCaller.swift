/// Who wants a tool to run.
public enum ToolCaller: Sendable, Hashable {
    /// The language model.
    case model
    /// A view that a server brought along.
    case view
    /// The user.
    case user
}
