/// A policy on the web pages that requests may come from (HTTP-02, HTTP-03, fault 56).
///
/// A request without `Origin` does not come from a web page and is allowed. With an empty list, only pages of
/// the server's own host and port are allowed: an empty list never means "off" (CVE-2026-42559).
public struct OriginPolicy: Sendable, Hashable {
    /// The additional origins that are allowed, such as `https://app.example`; case is ignored.
    public var allowed: [String]

    /// Creates a policy that allows pages of the server itself and of these origins.
    public init(allowed: [String] = []) { self.allowed = allowed.map { $0.lowercased() } }

    /// Returns whether `origin` may call a server that the request names as `host`.
    func allows(_ origin: ByteSlice, host: ByteSlice?) -> Bool {
        let text = String(origin).lowercased()
        if allowed.contains(text) { return true }
        guard let host else { return false }
        let name = String(host).lowercased()
        return text == "http://\(name)" || text == "https://\(name)"
    }
}
