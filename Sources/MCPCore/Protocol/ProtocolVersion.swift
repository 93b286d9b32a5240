/// A revision of the Model Context Protocol, identified by its date.
///
/// The set is open: a revision that this library does not know keeps its text. Compare against the constants
/// (MCP 2026-07-28 basic/versioning).
public struct ProtocolVersion: Sendable, Hashable, CustomStringConvertible {
    /// The revision as sent on the wire, for example `2026-07-28`.
    public let text: String

    /// Creates a revision from any text; see `isKnown`.
    public init(_ text: String) { self.text = text }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// 2024-11-05: the first revision; HTTP+SSE with two endpoints.
    public static let v2024_11_05 = ProtocolVersion("2024-11-05")
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// 2025-03-26: Streamable HTTP, batches, audio, tool annotations.
    public static let v2025_03_26 = ProtocolVersion("2025-03-26")
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// 2025-06-18: structured results, titles, resource links, elicitation.
    public static let v2025_06_18 = ProtocolVersion("2025-06-18")
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// 2025-11-25: icons, URL elicitation, SSE polling.
    public static let v2025_11_25 = ProtocolVersion("2025-11-25")
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// 2026-07-28: stateless requests, `server/discover`, multi round-trip requests.
    public static let v2026_07_28 = ProtocolVersion("2026-07-28")

    /// Every revision that this library supports, newest first.
    public static var known: [ProtocolVersion] { Revision.all.reversed().map(\.version) }

    /// The newest revision that this library supports.
    public static var newest: ProtocolVersion { .v2026_07_28 }

    /// Whether this library supports the revision.
    public var isKnown: Bool { Revision.named(text) != nil }

    /// Whether requests of the revision are stateless and carry their version in `_meta` (2026-07-28 and
    /// later).
    public var isModern: Bool { Revision.named(text)?.isModern ?? false }

    /// The revision's date.
    public var description: String { text }
}
