/// Judges and serves the requests of connections.
///
/// A class and not a protocol for the same reason as `EventHandler`: a call of a protocol's requirement
/// costs more than the road of a small request has room for.
class RequestHandler: @unchecked Sendable {
    // SAFETY: has no state of its own.

    /// What becomes of a request, by its head.
    enum Decision {
        /// This handler serves it, when its body has come.
        case serve(RequestHandler)
        indirect case refuse(EarlyResponse)
    }

    /// Judges a head before its body is read. On the connection's loop; must not wait.
    ///
    /// - Parameters:
    ///   - context: the listener's; the handler that serves a request applies its policy.
    ///   - isFromOwnUser: whether the client is a process of our own user; costs a system call.
    func check(
        _ head: RequestHead, in bytes: ByteSlice, context: ConnectionContext, isFromOwnUser: () -> Bool
    ) -> Decision { .refuse(EarlyResponse(status: 404, text: "Not found")) }

    /// Serves a request that it took: writes the response to the connection, or has the connection wait for
    /// it. On the connection's loop.
    func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection
    ) { connection.respond(EarlyResponse(status: 500)) }

    /// The server begins to stop: what waits to be sent is sent before the connections end.
    func serverStops() {}

    /// The time to drain is over: what is in flight ends.
    func endInFlight() {}
}
