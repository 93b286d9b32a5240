/// A seal that creates and verifies the cursors of lists.
///
/// A cursor carries its position and a MAC, so any instance with the same key accepts it (PAGE-07), and a
/// cursor that was forged or belongs to another list is refused (PAGE-06).
struct CursorSeal: Sendable {
    private let key: [UInt8]
    private static let macBytes = 8

    init(key: [UInt8]) { self.key = key }

    /// - Parameter principal: the principal that the cursor belongs to.
    func seal(_ payload: String, for list: Method, of principal: String = "") -> String {
        let body = [list.rawValue] + Array(payload.utf8)
        return Base64URL.encode(body + mac(body, principal))
    }

    /// Returns the payload, or nil when the cursor does not belong to this list and principal.
    func open(_ cursor: String, for list: Method, of principal: String = "") -> String? {
        guard cursor.utf8.count <= 4096, let bytes = Base64URL.decode(cursor), bytes.count > Self.macBytes
        else { return nil }
        let body = Array(bytes.dropLast(Self.macBytes))
        guard constantTimeEquals(mac(body, principal), Array(bytes.suffix(Self.macBytes))),
            body[0] == list.rawValue
        else { return nil }
        return String(validating: body.dropFirst(), as: UTF8.self)
    }

    private func mac(_ body: [UInt8], _ principal: String) -> [UInt8] {
        // 0xFF is in no text, so that both parts are distinct.
        let owner = principal.isEmpty ? [] : [0xFF] + Array(principal.utf8)
        let message = Array("cursor".utf8) + body + owner
        return Array(HMACSHA256.authenticate(message, key: key).bytes.prefix(Self.macBytes))
    }
}
