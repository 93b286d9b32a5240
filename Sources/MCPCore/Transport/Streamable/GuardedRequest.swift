/// A handler for a request whose caller is known. A connection uses it again for the next request, once
/// nothing refers to the caller of the last one.
final class GuardedRequest: RequestHandler, @unchecked Sendable {
    // SAFETY: accessed only on the connection's loop.
    let endpoint: StreamableEndpoint
    private(set) var caller: Caller

    init(_ endpoint: StreamableEndpoint, _ caller: Caller) {
        self.endpoint = endpoint
        self.caller = caller
    }

    override func waiting(from address: () -> [UInt8]?) -> WaitingResponses? {
        guard caller.identity.isAnonymous, let access = endpoint.access else { return caller.waiting }
        return access.waiting(from: address())
    }

    override var shownCaller: String? { caller.identity.principal.shown }

    /// Whether no earlier request still uses the caller.
    var isUnused: Bool { isKnownUniquelyReferenced(&caller) }

    override func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection
    ) {
        // All others were counted when they were admitted.
        if caller.identity.isAnonymous {
            do throws(EarlyResponse) {
                try endpoint.access?.count(caller) { connection.clientAddress(head, in: bytes) }
            } catch {
                return connection.respond(error)
            }
        }
        endpoint.serve(head, bytes, body, on: connection, as: caller)
    }
}

/// A handler for one request whose caller has to be verified first. Its body is read in the meantime.
final class UnverifiedRequest: RequestHandler, @unchecked Sendable {
    // SAFETY: immutable.
    /// The main endpoint of the listener.
    let home: StreamableEndpoint
    let access: AccessGuard
    let credential: AccessGuard.UnverifiedCredential

    init(_ home: StreamableEndpoint, _ access: AccessGuard, _ credential: AccessGuard.UnverifiedCredential) {
        self.home = home
        self.access = access
        self.credential = credential
    }

    override func waiting(from address: () -> [UInt8]?) -> WaitingResponses? {
        access.waiting(of: credential, from: address)
    }

    override func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection
    ) {
        guard credential.wasGood || !connection.hasFailedTooOften(head, in: bytes) else {
            return connection.respond(EarlyResponse.tooManyAttempts)
        }
        let request = WaitingRequest(head, bytes, body, on: connection)
        connection.wait(for: request)
        access.verifications.verify(credential) { outcome in
            request.loop.execute {
                request.go { (connection, head, bytes, body) throws(EarlyResponse) in
                    let (endpoint, caller) = try self.admit(
                        head, in: bytes, outcome, isFromOwnUser: { connection.isFromOwnUser })
                    try self.access.count(caller) { connection.clientAddress(head, in: bytes) }
                    endpoint.serve(head, bytes, body, on: connection, as: caller)
                }
            }
        }
    }

    /// Returns the endpoint and the caller of the request, once its caller is verified.
    func admit(
        _ head: RequestHead, in bytes: ByteSlice, _ outcome: Result<Caller.Identity, EarlyResponse>,
        isFromOwnUser: () -> Bool
    ) throws(EarlyResponse) -> (endpoint: StreamableEndpoint, caller: Caller) {
        let caller = try access.caller(try outcome.get(), with: credential)
        return (try home.target(of: head, in: bytes, isFromOwnUser: isFromOwnUser), caller)
    }
}

/// A connection's wait for what is found out about a request before it is served.
final class WaitingRequest: PendingResponse, @unchecked Sendable {
    // SAFETY: accessed only on the connection's loop.
    typealias Serve = (HTTPConnection, RequestHead, ByteSlice, ByteSlice) throws(EarlyResponse) -> Void

    private let head: RequestHead
    private let bytes: ByteSlice
    private let message: ByteSlice

    init(_ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection) {
        self.head = head
        // Copied: the block that the request was read into is needed again.
        self.bytes = bytes.copy()
        message = body.copy()
        super.init(connection: connection, version: head.version)
        keep(message, of: connection.context.memory)
    }

    override func clientVanished() { isOver = true }

    /// Serves or refuses the request, if its client still waits. Called on the loop.
    func go(_ serve: Serve) {
        guard let connection = waiting else { return isOver = true }
        isOver = true
        do throws(EarlyResponse) {
            try serve(connection, head, bytes, message)
            // The end of the input may have been read while the connection waited.
            if case .response(let next) = connection.work, next.endsWithInput {
                connection.responseEndsWithInput()
            }
        } catch {
            connection.respond(connection.counted(error, head, in: bytes))
        }
        connection.scheduleFlush()
    }
}
