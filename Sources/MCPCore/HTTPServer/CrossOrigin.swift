/// The fields of responses by which browsers let pages of other origins send requests and read responses (the
/// CORS protocol of the Fetch standard).
///
/// The credentials of a browser, its cookies and certificates, are never admitted.
enum CrossOrigin {
    /// Returns the fields of a response that a page of this origin may read.
    static func response(to origin: String) -> HeaderFields {
        var fields = HeaderFields()
        fields.append(sanitizing: "Access-Control-Allow-Origin", origin)
        fields.append(sanitizing: "Vary", "Origin")
        return fields
    }

    /// Returns the fields of the response to a preflight request, besides those for the origin.
    ///
    /// - Parameters:
    ///   - methods: the methods that a page may use.
    ///   - headers: the fields that a page may send. `*` does not include `Authorization`.
    static func preflight(methods: String, headers: String) -> HeaderFields {
        var fields = HeaderFields()
        fields.append(sanitizing: "Access-Control-Allow-Methods", methods)
        fields.append(sanitizing: "Access-Control-Allow-Headers", headers)
        fields.append(sanitizing: "Access-Control-Max-Age", "600")
        return fields
    }
}

extension AccessPolicy {
    /// Returns the fields of a response for the page of another origin that sends a request; nil for other
    /// clients.
    func page(of head: RequestHead, in bytes: ByteSlice) -> HeaderFields? {
        guard !head.isRepeated(.origin), let origin = head.value(.origin, in: bytes),
            origins.lists(origin)
        else { return nil }
        var fields = CrossOrigin.response(to: String(origin))
        // What clients of MCP read besides `Content-Type`.
        fields.append(
            sanitizing: "Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
        return fields
    }

    /// Returns the response to the question of a browser whether a page may send a request; nil for other
    /// requests.
    func preflight(_ head: RequestHead, in bytes: ByteSlice) -> EarlyResponse? {
        guard head.method == .options, page(of: head, in: bytes) != nil,
            head.value(named: "access-control-request-method", in: bytes) != nil
        else { return nil }
        // Parameters of tools may come in `Mcp-Param-` fields of any name.
        return EarlyResponse(
            status: 204,
            fields: CrossOrigin.preflight(methods: "GET, POST, DELETE", headers: "Authorization, *"))
    }
}
