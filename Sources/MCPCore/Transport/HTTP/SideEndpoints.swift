import Synchronization

/// Where requests go that are not for the main endpoint of a listener.
final class SideEndpoints: Sendable {
    /// Endpoints whose sessions and streams are remembered; the one that was used longest ago makes room.
    static let maximumEndpoints = 1_024

    let door: any HTTPSideDoor
    private let known = Mutex(
        BoundedTable<String, StreamableEndpoint>(capacity: maximumEndpoints, policy: .evictLeastRecentlyUsed))

    init(_ door: any HTTPSideDoor) { self.door = door }

    /// The endpoint of a server of the door.
    ///
    /// - Parameter home: the main endpoint of the listener.
    func endpoint(
        of server: MCPServer, at path: String, beside home: StreamableEndpoint
    ) -> StreamableEndpoint {
        known.withLock { known in
            if let endpoint = known.use(path), endpoint.server === server { return endpoint }
            let endpoint = home.beside(with: server, at: path)
            known.insert(endpoint, for: path)
            return endpoint
        }
    }

    /// The endpoints that were used and are remembered.
    var endpoints: [StreamableEndpoint] { known.withLock { $0.map(\.value) } }
}

extension StreamableEndpoint {
    /// Who takes a request, and what it asks for.
    struct Route {
        /// Nil: the side door.
        let endpoint: StreamableEndpoint?
        let purpose: Purpose
    }

    /// Where a request goes that `check` has refused. Throws the answer when it stays refused.
    func route(
        _ head: RequestHead, in bytes: ByteSlice, refusedWith refusal: Plain, isFromOwnUser: () -> Bool
    ) throws(Plain) -> Route {
        guard refusal.isElsewhere, let beside else { throw refusal }
        try checkAccess(head, in: bytes)
        guard let path = DecodedTarget(head, in: bytes)?.path else {
            throw Plain(status: 400, text: "The target is not UTF-8 in percent-encoding")
        }
        if beside.door.handles(path: path) { return Route(endpoint: nil, purpose: .message) }
        // Asked before the door may make a server for it: who has no token makes none.
        let isAdmitted = beside.door.admits(path: path, isFromOwnUser: isFromOwnUser) {
            head.value(named: "authorization", in: bytes).map { String($0) }
        }
        guard isAdmitted else { throw .missingToken }
        guard let server = beside.door.server(atPath: path) else { throw refusal }
        let other = beside.endpoint(of: server, at: path, beside: self)
        return Route(endpoint: other, purpose: try other.purpose(of: head, in: bytes))
    }
}

extension StreamableEndpoint.Plain {
    fileprivate static var missingToken: Self {
        var fields = HeaderFields()
        fields.append(sanitizing: "WWW-Authenticate", "Bearer")
        let text =
            "This address has a token of its own, which was not sent or is another one. Send it as "
            + "\"Authorization: Bearer TOKEN\""
        return Self(status: 401, text: text, fields: fields)
    }
}
