/// A policy on the web pages that requests may come from (HTTP-02, HTTP-03, fault 56).
///
/// A request without `Origin` does not come from a web page and is allowed. With an empty list, only pages of
/// the server's own host and port are allowed: an empty list never means "off" (CVE-2026-42559).
///
/// A page of an additional origin may read the responses of MCP endpoints: preflight requests (OPTIONS) are
/// answered, and responses have `Access-Control-Allow-Origin`. Credentials of the browser, such as cookies,
/// are not admitted.
public struct OriginPolicy: Sendable, Hashable {
    /// The additional origins that are allowed, such as `https://app.example`; case is ignored.
    public var allowed: [String]

    /// Creates a policy that allows pages of the server itself and of these origins.
    public init(allowed: [String] = []) { self.allowed = allowed.map { $0.lowercased() } }

    /// Returns whether `origin` may call a server that the request names as `host`.
    func allows(_ origin: ByteSlice, host: ByteSlice?) -> Bool {
        if lists(origin) { return true }
        guard let host else { return false }
        let (text, name) = (String(origin).lowercased(), String(host).lowercased())
        return text == "http://\(name)" || text == "https://\(name)"
    }

    /// Returns whether `origin` is one of the additional ones.
    func lists(_ origin: ByteSlice) -> Bool { allowed.contains(String(origin).lowercased()) }
}
