/// A handler that judges and serves the requests of connections.
///
/// A class instead of a protocol for the same reason as `EventHandler`: calling a protocol requirement costs
/// too much on the path of a small request.
class RequestHandler: @unchecked Sendable {
    // SAFETY: has no state of its own.

    /// The decision about a request, based on its head.
    enum Decision {
        /// The given handler serves the request once its body has arrived.
        case serve(RequestHandler)
        indirect case refuse(EarlyResponse)
    }

    /// Judges a head before its body is read. Called on the connection's loop; must not wait.
    ///
    /// - Parameters:
    ///   - context: the context of the listener; the handler that serves a request applies its policy.
    ///   - isFromOwnUser: returns whether the client is a process of our own user, by a unix socket; costs a
    ///     system call.
    ///   - peer: returns the user of a client on this machine; costs some system calls, once a connection.
    ///   - memory: what the handler keeps for the next request of the connection.
    func check(
        _ head: RequestHead, in bytes: ByteSlice, context: ConnectionContext, isFromOwnUser: () -> Bool,
        peer: () -> PeerUser?, memory: inout ConnectionMemory?
    ) -> Decision { .refuse(EarlyResponse(status: 404, text: "Not found")) }

    /// Returns the fields that let the page of another origin, which sends a request, read the responses; nil
    /// for other clients. A handler that has fields of its own for pages returns none here.
    func page(of head: RequestHead, in bytes: ByteSlice, _ policy: AccessPolicy) -> HeaderFields? { nil }

    /// Returns the connections of the caller of the next request; nil if its caller is not limited.
    ///
    /// - Parameter address: returns the address or the network of the client; costs a system call.
    func waiting(from address: () -> [UInt8]?) -> WaitingResponses? { nil }

    /// The authenticated caller of the next request, for logs; nil if none is authenticated.
    var shownCaller: String? { nil }

    /// Serves a request that it accepted: writes the response to the connection, or makes the connection wait
    /// for it. Called on the connection's loop.
    func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection
    ) { connection.respond(EarlyResponse(status: 500)) }

    /// Called when the server begins to stop: pending output is sent before the connections end.
    func serverStops() {}

    /// Called when the drain time-out has passed: requests in flight are ended.
    func endInFlight() {}

    /// Returns when what the last requests have left to be done is done. Called when the server stops.
    func settle() async {}
}
