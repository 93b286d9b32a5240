/// Whether a tool may run when a model, a view or a user calls it.
public enum ToolPolicy: Sendable, Hashable {
    /// It runs.
    case automatic
    /// The user is asked first, and told these scopes.
    case ask(Set<PermissionScope>)
    /// It never runs.
    case deny(Set<PermissionScope>)

    /// The user is asked first.
    public static func ask(_ first: PermissionScope, _ rest: PermissionScope...) -> ToolPolicy {
        .ask(Set(rest).union([first]))
    }

    /// It never runs.
    public static func deny(_ first: PermissionScope, _ rest: PermissionScope...) -> ToolPolicy {
        .deny(Set(rest).union([first]))
    }

    /// What the tool may touch: never nothing unless the policy is automatic.
    public var scopes: Set<PermissionScope> {
        switch self {
        case .automatic: []
        case .ask(let scopes), .deny(let scopes): scopes.isEmpty ? [.hostTool] : scopes
        }
    }
}
