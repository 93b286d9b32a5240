/// What a tool may touch, in one word that a person understands.
///
/// Any text is a scope; these eight have a description of their own.
public struct PermissionScope: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    /// The word.
    public let name: String

    /// A scope of your own.
    public init(_ name: String) { self.name = name }

    /// A scope of your own.
    public init(stringLiteral value: String) { name = value }

    /// Something that the program offers, and no more is known.
    public static let hostTool: PermissionScope = "hostTool"
    /// The user's contacts.
    public static let contacts: PermissionScope = "contacts"
    /// The user's photos.
    public static let photos: PermissionScope = "photos"
    /// Where the user is.
    public static let location: PermissionScope = "location"
    /// Files of the user.
    public static let files: PermissionScope = "files"
    /// The network.
    public static let network: PermissionScope = "network"
    /// Something that cannot be undone.
    public static let destructiveAction: PermissionScope = "destructiveAction"
    /// Something that reaches beyond this program and its data.
    public static let openWorldAction: PermissionScope = "openWorldAction"

    /// What a person reads before deciding.
    public var explanation: String {
        switch self {
        case .hostTool: "run the code of this tool"
        case .contacts: "use your contacts"
        case .photos: "use your photos"
        case .location: "know where you are"
        case .files: "use your files"
        case .network: "use the network"
        case .destructiveAction: "change or delete something that may not come back"
        case .openWorldAction: "act on things outside this program"
        default: name
        }
    }

    /// By name.
    public static func < (a: PermissionScope, b: PermissionScope) -> Bool { a.name < b.name }
}
