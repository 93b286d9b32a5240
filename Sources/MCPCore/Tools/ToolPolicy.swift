/// Whether a tool may run when a model, a view or a user calls it.
public enum ToolPolicy: Sendable, Hashable {
    /// The tool runs.
    case automatic
    /// The user is asked first and shown these scopes.
    case ask(Set<PermissionScope>)
    /// The tool never runs.
    case deny(Set<PermissionScope>)

    /// Creates a policy that asks the user first.
    public static func ask(_ first: PermissionScope, _ rest: PermissionScope...) -> ToolPolicy {
        .ask(Set(rest).union([first]))
    }

    /// Creates a policy under which the tool never runs.
    public static func deny(_ first: PermissionScope, _ rest: PermissionScope...) -> ToolPolicy {
        .deny(Set(rest).union([first]))
    }

    /// The scopes that the tool may use; never empty unless the policy is automatic.
    public var scopes: Set<PermissionScope> {
        switch self {
        case .automatic: []
        case .ask(let scopes), .deny(let scopes): scopes.isEmpty ? [.hostTool] : scopes
        }
    }
}
