/// An address that a browser may be sent to.
enum WebAddress {
    /// Whether it is of http or https, has at most 8 KiB and nothing that does not belong into an address.
    static func isOne(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        return (scheme == "http" || scheme == "https") && url.dropFirst(scheme.count).hasPrefix("://")
            && url.utf8.count <= 8_192
            && url.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    }
}
