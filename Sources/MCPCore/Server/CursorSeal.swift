/// A seal that creates and verifies the cursors of lists.
///
/// A cursor carries its position and a MAC, so any instance with the same key accepts it (PAGE-07), and a
/// cursor that was forged or belongs to another list is refused (PAGE-06).
struct CursorSeal: Sendable {
    private let keys: StateKeys
    private static let macBytes = 8

    init(keys: StateKeys) { self.keys = keys }

    /// - Parameter principal: the principal that the cursor belongs to.
    func seal(_ payload: String, for list: Method, of principal: String = "") -> String {
        let body = [list.rawValue] + Array(payload.utf8)
        return Base64URL.encode(body + keys.sign(Self.macBytes) { Self.add(body, principal, to: &$0) })
    }

    /// Returns the payload, or nil when the cursor does not belong to this list and principal.
    func open(_ cursor: String, for list: Method, of principal: String = "") -> String? {
        guard cursor.utf8.count <= 4096, let bytes = Base64URL.decode(cursor), bytes.count > Self.macBytes
        else { return nil }
        let body = Array(bytes.dropLast(Self.macBytes))
        let mac = bytes.suffix(Self.macBytes)
        guard keys.verify(mac, Self.macBytes, { Self.add(body, principal, to: &$0) }),
            body[0] == list.rawValue
        else { return nil }
        return String(validating: body.dropFirst(), as: UTF8.self)
    }

    private static func add(_ body: [UInt8], _ principal: String, to code: inout HMACSHA256) {
        code.update("cursor".utf8)
        code.update(body)
        if principal.isEmpty { return }
        // In no text, so that both parts are distinct.
        code.update([0xFF])
        code.update(principal.utf8)
    }
}
