/// A seal that creates and verifies the cursors of lists.
///
/// A cursor carries its position, hidden and with a MAC: any instance with the same key accepts it (PAGE-07),
/// and a cursor that was forged or belongs to another list is refused (PAGE-06). A position may be a name
/// that the caller may not see, such as that of a file between two pages.
struct CursorSeal: Sendable {
    private let keys: StateKeys

    init(keys: StateKeys) { self.keys = keys }

    /// The length of a payload is a multiple of this number, so that a cursor does not show that of a name.
    private static let unit = 64
    /// In no text.
    private static let filler: UInt8 = 0xFF

    /// - Parameter principal: the principal that the cursor belongs to.
    func seal(_ payload: String, for list: Method, of principal: String = "") -> String {
        var bytes = Array(payload.utf8)
        bytes += repeatElement(Self.filler, count: Self.unit - bytes.count % Self.unit)
        return Base64URL.encode(keys.seal(bytes) { Self.add(list, principal, to: &$0) })
    }

    /// Returns the payload, or nil when the cursor does not belong to this list and principal.
    func open(_ cursor: String, for list: Method, of principal: String = "") -> String? {
        guard cursor.utf8.count <= 4096, let bytes = Base64URL.decode(cursor),
            let payload = keys.open(bytes, { Self.add(list, principal, to: &$0) })
        else { return nil }
        return String(validating: payload.prefix { $0 != Self.filler }, as: UTF8.self)
    }

    private static func add(_ list: Method, _ principal: String, to code: inout HMACSHA256) {
        code.update("cursor".utf8)
        code.update([list.rawValue])
        code.update(principal.utf8)
        // So that the principal and the payload are distinct.
        code.update([filler])
    }
}
