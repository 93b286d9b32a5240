import Synchronization

/// Where requests go that are not for the main endpoint of a listener.
final class SideEndpoints: Sendable {
    /// Endpoints whose sessions and streams are remembered; the one that was used longest ago makes room.
    static let maximumEndpoints = 1_024

    private struct Entry {
        let endpoint: StreamableEndpoint
        var usedAt: UInt64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var uses: UInt64 = 0
    }

    let door: any HTTPSideDoor
    private let state = Mutex(State())

    init(_ door: any HTTPSideDoor) { self.door = door }

    /// The endpoint of a server of the door.
    ///
    /// - Parameter home: the main endpoint of the listener.
    func endpoint(
        of server: MCPServer, at path: String, beside home: StreamableEndpoint
    ) -> StreamableEndpoint {
        state.withLock { state in
            state.uses += 1
            if let entry = state.entries[path], entry.endpoint.server === server {
                state.entries[path]?.usedAt = state.uses
                return entry.endpoint
            }
            if state.entries[path] == nil, state.entries.count >= Self.maximumEndpoints,
                let oldest = state.entries.min(by: { $0.value.usedAt < $1.value.usedAt })
            {
                state.entries[oldest.key] = nil
            }
            let endpoint = home.beside(with: server, at: path)
            state.entries[path] = Entry(endpoint: endpoint, usedAt: state.uses)
            return endpoint
        }
    }

    /// The endpoints that were used and are remembered.
    var endpoints: [StreamableEndpoint] { state.withLock { $0.entries.values.map(\.endpoint) } }
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
        if let server = beside.door.server(atPath: path) {
            let isAdmitted = beside.door.admits(path: path, isFromOwnUser: isFromOwnUser) {
                head.value(named: "authorization", in: bytes).map { String($0) }
            }
            guard isAdmitted else { throw .missingToken }
            let other = beside.endpoint(of: server, at: path, beside: self)
            return Route(endpoint: other, purpose: try other.purpose(of: head, in: bytes))
        }
        guard beside.door.handles(path: path) else { throw refusal }
        return Route(endpoint: nil, purpose: .message)
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
