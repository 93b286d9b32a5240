/// The web pages of other origins that may use the endpoints for client tools.
struct PageAccess: Sendable {
    private let origins: Set<String>

    init(_ origins: [String]) { self.origins = Set(origins.map { $0.lowercased() }) }

    /// Whether pages of this origin are admitted.
    func admits(_ origin: String) -> Bool { origins.contains(origin.lowercased()) }

    /// Returns the origin of an admitted page that sends the request; nil for all other clients.
    func origin(of request: HTTPRequest) -> String? {
        request.headers["Origin"].flatMap { admits($0) ? $0 : nil }
    }

    /// Whether a request with this origin comes from a page of the server itself.
    ///
    /// Such a page sends its origin with what it posts, and none with the GET of an event stream. No page can
    /// set `Sec-Fetch-Site`; a browser that leaves it out, as at `http` addresses, names the host.
    static func isOwn(_ origin: String, _ request: HTTPRequest) -> Bool {
        if let site = request.headers["Sec-Fetch-Site"] { return site == "same-origin" }
        return OriginPolicy().allows(
            ByteSlice(origin), host: request.headers["Host"].map { ByteSlice($0) })
    }

    /// The response to the question of a browser whether the page may send a request.
    static func preflight(_ method: String, _ origin: String) -> HTTPResponse {
        let headers = CrossOrigin.preflight(
            methods: method, headers: "Authorization, Content-Type, Last-Event-ID")
        var response = HTTPResponse(status: 204, headers: headers)
        admit(origin, to: &response)
        return response
    }

    /// Lets the page read the response. Credentials of the browser are never admitted.
    static func admit(_ origin: String, to response: inout HTTPResponse) {
        response.headers.append(contentsOf: CrossOrigin.response(to: origin))
    }
}
