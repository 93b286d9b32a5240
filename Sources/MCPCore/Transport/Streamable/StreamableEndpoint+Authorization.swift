/// The requests of a listener with `ServerAuthorization`.
extension StreamableEndpoint {
    /// Judges a head like `check`, with the token in its place: after Host and Origin, and before everything
    /// that shows what is served here.
    func checkAuthorized(
        _ head: RequestHead, in bytes: ByteSlice, context: ConnectionContext, isFromOwnUser: () -> Bool,
        peer: () -> PeerUser?, by access: AccessGuard, _ memory: inout ConnectionMemory?
    ) throws(EarlyResponse) -> Decision {
        let isHere = isHere(head, in: bytes)
        if !isHere, let metadata, metadata.isAt(head.path(in: bytes)) {
            return .refuse(try metadata.response(to: head, in: bytes, context.policy))
        }
        try context.policy.check(head, in: bytes) { self.router?.admits($0, head, in: bytes) == true }
        if !isHere {
            guard let router else { throw notFound }
            if let handler = try router.handler(of: head, in: bytes) { return .serve(handler) }
            guard router.hasServers, !ResourceMetadata.isWellKnown(head.path(in: bytes)) else {
                throw notFound
            }
        }
        switch try access.admit(head, in: bytes, peer: peer, &memory) {
        case .known(let caller):
            let endpoint = try target(of: head, in: bytes, isFromOwnUser: isFromOwnUser)
            return .serve(caller.request(at: endpoint))
        case .caller(let caller):
            let endpoint = try target(of: head, in: bytes, isFromOwnUser: isFromOwnUser)
            return .serve(GuardedRequest(endpoint, caller))
        case .unverified(let credential): return .serve(UnverifiedRequest(self, access, credential))
        }
    }

    /// Returns the endpoint that serves a request of a known caller.
    func target(
        of head: RequestHead, in bytes: ByteSlice, isFromOwnUser: () -> Bool
    ) throws(EarlyResponse) -> StreamableEndpoint {
        if isHere(head, in: bytes) {
            try checkPurpose(of: head, in: bytes)
            return self
        }
        let handler = try router?.route(head, in: bytes, isFromOwnUser: isFromOwnUser, beside: self)
        guard let endpoint = handler as? StreamableEndpoint else { throw notFound }
        return endpoint
    }
}

/// The metadata of a protected resource (RFC 9728), which every client and every web page may read.
struct ResourceMetadata: Sendable {
    private let paths: [ByteSlice]
    private let document: String

    /// - Parameters:
    ///   - path: the path of the endpoint on its listener. A proxy may publish it at another path, which is
    ///     that of the resource.
    ///   - isAlone: whether the listener has no other endpoint; then the metadata is also at the root.
    init?(_ authorization: ServerAuthorization, path: String, isAlone: Bool, defaultName: String) {
        guard let document = authorization.metadata(defaultName: defaultName) else { return nil }
        self.document = document
        let tails = [path, authorization.location.path] + (isAlone ? [""] : [])
        paths = Set(tails).map { ByteSlice(BearerChallenge.wellKnownPath + $0) }
    }

    /// Whether a path is that of the metadata of some resource.
    static func isWellKnown(_ path: ByteSlice) -> Bool {
        path.starts(with: BearerChallenge.wellKnownPath.utf8)
    }

    func isAt(_ path: ByteSlice) -> Bool { paths.contains { $0 == path } }

    /// Returns the response to a request for the document. Its origin does not matter, its host does.
    func response(
        to head: RequestHead, in bytes: ByteSlice, _ policy: AccessPolicy
    ) throws(EarlyResponse) -> EarlyResponse {
        if let host = head.value(.host, in: bytes), !policy.hosts.allows(host) {
            throw EarlyResponse(status: 403, text: "Host not allowed")
        }
        guard head.method == .get || head.method == .head else {
            throw .notAllowed("Only GET and HEAD", allow: "GET, HEAD")
        }
        var fields = HeaderFields()
        fields.append(sanitizing: "Cache-Control", "max-age=300")
        fields.append(sanitizing: "Access-Control-Allow-Origin", "*")
        return EarlyResponse(status: 200, text: document, isJSON: true, fields: fields)
    }
}
