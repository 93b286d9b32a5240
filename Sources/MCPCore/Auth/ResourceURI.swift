/// The identifier of an MCP server as a protected resource (RFC 8707, RFC 9728).
enum ResourceURI {
    /// Returns the canonical URI of a server: lower-case scheme and host, no query, no fragment, and no slash
    /// that stands for an empty path (AUTH-21).
    static func canonical(_ server: WebURL) -> String {
        server.origin + (server.path == "/" ? "" : server.path)
    }

    /// Whether `resource` may identify the server: the same origin, and a path that is a prefix of the
    /// server's, segment by segment; no query and no fragment (AUTH-06).
    static func covers(_ resource: String, _ server: WebURL) -> Bool {
        guard let url = WebURL(resource), url.query == nil, url.fragment == nil, url.hasSameOrigin(as: server)
        else { return false }
        let prefix = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        return server.path == prefix || server.path.utf8.starts(with: (prefix + "/").utf8) || prefix.isEmpty
    }

    /// Returns the well-known URLs of the metadata of a server, in the order in which they are asked
    /// (AUTH-04; RFC 9728, section 3.1).
    static func metadataURLs(_ server: WebURL) -> [String] {
        let root = server.origin + "/.well-known/oauth-protected-resource"
        let path = server.path == "/" ? "" : server.path
        let query = server.query.map { "?" + $0 } ?? ""
        return path.isEmpty && query.isEmpty ? [root] : [root + path + query, root]
    }
}
