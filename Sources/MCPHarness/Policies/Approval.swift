public import MCPCore

/// A handler that decides on a call, in most programs by asking the user. Requests arrive one at a time.
public typealias ApprovalHandler = @Sendable (ApprovalRequest) async -> ApprovalDecision

/// The user's decision.
public enum ApprovalDecision: Sendable, Hashable {
    /// The tool may run.
    case approved(remember: RememberScope = .once)
    /// The tool may not run; the reason is given to the model. A remembered denial is given again without a
    /// question.
    case denied(reason: String? = nil, remember: RememberScope = .once)
}

/// The time for which a decision applies to this tool as it is currently defined.
public enum RememberScope: Sendable, Hashable {
    /// For this call.
    case once
    /// Until the program ends.
    case run
    /// Until it is revoked.
    case always
}

/// The information that a person needs to decide on a call.
public struct ApprovalRequest: Sendable, Identifiable {
    /// The identifier of the request: the ID of the call.
    public var id: String { invocation.callID }
    /// The call.
    public let invocation: ToolInvocation
    /// The tool, with its title and description.
    public let tool: Tool
    /// A human-readable name of the tool's source.
    public let sourceName: String
    /// The identity of the tool's source, under which a decision is remembered.
    let sourceIdentity: String
    /// Whether the source's statements about itself are trusted; text from an untrusted source must be marked
    /// where it is shown.
    public let isTrusted: Bool
    /// The policy that requires the approval.
    public let policy: ToolPolicy
    /// The caller.
    public let requestedBy: ToolCaller
    /// The time limit for an answer; nil for no limit.
    public let timeout: Duration?
    /// Whether it is asked about whatever was decided in earlier runs.
    var asksAnew = false

    /// The longest time that the tool says a call may take; nil if it says nothing.
    public var toolTimeout: Duration? { tool.declaredTimeout }

    /// The scopes that the tool may use, sorted by name.
    public var scopes: [PermissionScope] { policy.scopes.sorted() }

    /// The arguments formatted for reading; the model's own text if it is not JSON. More than 64 KiB of JSON
    /// are on one line: to indent them could make them a hundred times longer.
    public var prettyArguments: String {
        guard let json = invocation.argumentsJSON else { return invocation.arguments }
        let text = json.serialized()
        return text.utf8.count > Self.maxIndentedBytes ? text : json.serialized(pretty: true)
    }

    private static let maxIndentedBytes = 64 << 10
}
