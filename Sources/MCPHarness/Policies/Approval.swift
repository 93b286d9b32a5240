public import MCPCore

/// Decides on a call, by asking the user in most programs. Questions come one at a time.
public typealias ApprovalHandler = @Sendable (ApprovalRequest) async -> ApprovalDecision

/// What the user decided.
public enum ApprovalDecision: Sendable, Hashable {
    /// The tool may run.
    case approved(remember: RememberScope = .once)
    /// It may not; the reason is told to the model.
    case denied(reason: String? = nil)
}

/// How long a decision holds, for this tool as it is defined now.
public enum RememberScope: Sendable, Hashable {
    /// For this call.
    case once
    /// Until the program ends.
    case run
    /// Until it is taken back.
    case always
}

/// What a person needs to know to decide on a call.
public struct ApprovalRequest: Sendable, Identifiable {
    /// Names the question: the id of the call.
    public var id: String { invocation.callID }
    /// The call.
    public let invocation: ToolInvocation
    /// The tool, with its title and description.
    public let tool: Tool
    /// Where the tool comes from, in words.
    public let sourceName: String
    /// Whether what the source says of itself is believed; text of others has to be marked where it is shown.
    public let isTrusted: Bool
    /// The policy that asks.
    public let policy: ToolPolicy
    /// Who calls.
    public let requestedBy: ToolCaller
    /// How long there is for an answer; nil for as long as it takes.
    public let timeout: Duration?

    /// What the tool may touch, sorted by name.
    public var scopes: [PermissionScope] { policy.scopes.sorted() }

    /// The arguments, laid out for reading; the model's own text when that is no JSON.
    public var prettyArguments: String {
        invocation.argumentsJSON?.serialized(pretty: true) ?? invocation.arguments
    }
}
