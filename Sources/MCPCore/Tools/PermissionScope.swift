/// A kind of access that a tool may need, named by one word that a person understands.
///
/// Any string is a scope; these nine have their own descriptions.
public struct PermissionScope: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    /// The name of the scope.
    public let name: String

    /// Creates a custom scope.
    public init(_ name: String) { self.name = name }

    /// Creates a custom scope.
    public init(stringLiteral value: String) { name = value }

    /// A tool of the program itself, about which nothing more is known.
    public static let hostTool: PermissionScope = "hostTool"
    /// The user's contacts.
    public static let contacts: PermissionScope = "contacts"
    /// The user's photos.
    public static let photos: PermissionScope = "photos"
    /// The user's location.
    public static let location: PermissionScope = "location"
    /// The user's files.
    public static let files: PermissionScope = "files"
    /// The network.
    public static let network: PermissionScope = "network"
    /// An action that cannot be undone.
    public static let destructiveAction: PermissionScope = "destructiveAction"
    /// An action that reaches beyond this program and its data.
    public static let openWorldAction: PermissionScope = "openWorldAction"

    /// Anything: the tool has no hints about what it does.
    public static let undeclared: PermissionScope = "undeclared"

    /// The text shown to a person who decides about the tool.
    public var explanation: String {
        switch self {
        case .hostTool: "run the code of this tool"
        case .contacts: "use your contacts"
        case .photos: "use your photos"
        case .location: "know where you are"
        case .files: "use your files"
        case .network: "use the network"
        case .destructiveAction: "change or delete something, possibly irreversibly"
        case .openWorldAction: "act on things outside this program"
        case .undeclared: "do anything: it does not say what it does"
        default: name
        }
    }

    /// Compares two scopes by name.
    public static func < (a: PermissionScope, b: PermissionScope) -> Bool { a.name < b.name }
}
