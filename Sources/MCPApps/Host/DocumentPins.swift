import MCPCore

/// The SHA-256 of the document that each address had when it was last shown.
///
/// Other events in the meantime do not displace it.
struct DocumentPins {
    /// The number of addresses that are remembered; the one that was shown the longest ago is evicted.
    static let maxPins = 1_000

    private var hashes = BoundedTable<String, String>(capacity: maxPins, policy: .evictLeastRecentlyUsed)

    /// Records the document that is shown now.
    /// - Returns: whether the address had a different document before.
    @discardableResult
    mutating func pin(_ uri: String, of server: String, _ hash: String) -> Bool {
        // An address may be long.
        let key = Hex.encode(SHA256.hash("\(server)\n\(uri)".utf8).bytes)
        guard case .replaced(let before) = hashes.insert(hash, for: key) else { return false }
        return before != hash
    }
}
