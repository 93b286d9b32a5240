/// One message to the server, with the data that a transport needs to route it.
struct OutboundMessage: Sendable {
    /// The JSON text, without a newline.
    let bytes: ByteSlice
    /// The JSON-RPC method; empty for a response to a request from the server.
    let method: String
    /// The value for `Mcp-Name` (HDR-05); modern requests only.
    var mirroredName: String?
    /// The encoded values for `Mcp-Param-*` (HDR-15); tool calls in modern revisions over HTTP only.
    var mirroredArguments: [(name: String, value: String)] = []
    /// The revision of the message; nil for `initialize`, which negotiates it.
    var revision: Revision?
    /// The longest time to open a connection if one has to be opened for this message.
    var connectTimeout: Duration
    /// Whether processing the message twice does no harm; see `Repetition`.
    var isRepeatable = false
    /// Whether the refusal of a message that has no response is a failure.
    var mustBeTaken = false

    /// What is sent, in words.
    var subject: String { method.isEmpty ? "the message" : method }
}

/// A channel that carries messages to a server, and incoming ones to the inbox.
///
/// It does not interpret the messages. It sends a request and delivers everything that belongs to it, up to a
/// single response or failure.
protocol ClientTransport: AnyObject, Sendable {
    /// Whether the transport is HTTP: each request has its own exchange, and closing that cancels the request
    /// (CANC-01).
    var isHTTP: Bool { get }

    /// The key under which the server is remembered; nil if it is not remembered (DUAL-19).
    var serverKey: ServerKey? { get }

    /// Finds out for whom the credentials of the requests stand, before `serverKey` is used.
    func identify() async

    /// Returns whether the credentials stand for somebody else than before, and drops a session that was
    /// opened for them (AUTH-46). Returns true once.
    func adoptsOtherIdentity() -> Bool

    /// The thread on which the transport works, if it has one of its own.
    var executor: (any TaskExecutor)? { get }

    /// Sets the inbox, before anything is sent.
    func start(_ inbox: any ClientInbox)

    /// Sends a request. Its response, or the reason why there will be none, is delivered to the inbox under
    /// the same id.
    func send(_ message: OutboundMessage, id: Int64)

    /// Sends a message that has no response; returns once it is sent, over HTTP once it is accepted.
    func post(_ message: OutboundMessage) async throws(ClientError)

    /// Abandons a request that no caller waits for any more; `notice` notifies the server if the revision has
    /// such a message.
    func abandon(_ id: Int64, notice: OutboundMessage?)

    /// Opens, in the background, the channel for messages that the server sends on its own: the GET stream of
    /// a legacy HTTP session (LEG-12). Has no effect if it is open; the inbox is notified if the server has
    /// none.
    func openServerStream()

    /// Calls `then` once the stream of the session is open, or has been refused; at once where there is none
    /// to wait for.
    func whenServerStreamIsSettled(_ then: @escaping @Sendable () -> Void)

    /// Asks that the inbox is told that messages may have been lost, once a new session has its stream, or is
    /// certain to have none, and after `limit` also for a server that is silent until it has a message.
    /// Returns false where there is no such stream, so that it is certain already.
    func reportsLoss(within limit: Duration) -> Bool

    /// Records that the session has ended with its channel: messages other than `initialize` fail with
    /// `.sessionExpired` until there is another one.
    func loseSession()

    /// Switches to an older transport after `initialize` was refused (DUAL-17). Returns false when the server
    /// has no such transport either, or when it is already in use.
    func fallBack(within timeout: Duration) async throws(ClientError) -> Bool

    /// Whether a server that ended on its own can be restarted.
    var canRestart: Bool { get }

    /// Restarts the server after the inbox was notified about its end. Messages in transit are lost.
    func restart() async throws(ClientError)

    /// Returns whether the server has read everything that was sent to it; true where that is unknown.
    func hasBeenRead() async -> Bool

    /// Ends the program at once, without notice to the inbox, and starts it afresh.
    func startAfresh() async throws(ClientError)

    /// Closes the connection gracefully and waits until that is done. May be called again.
    func close() async

    /// Begins to close the connection, without waiting.
    func shutDown()

    /// Ends a connection on which no revision was agreed: immediately, and not gracefully.
    func abort() async

    /// Returns the error for having waited `limit` for a connection that is not open yet, naming the pending
    /// step; nil if it is open, or if there is nothing to open.
    func openingFailure(after limit: Duration) -> ClientError?

    /// The last lines that a program started by the client wrote to stderr; nil for other servers.
    var lastErrors: [String]? { get }

    /// The address of the server for messages; nil if it has none.
    var address: String? { get }
}

extension ClientTransport {
    /// A server without an address is not remembered.
    var serverKey: ServerKey? { nil }

    var executor: (any TaskExecutor)? { nil }

    /// A shared channel has no credentials.
    func identify() async {}

    func adoptsOtherIdentity() -> Bool { false }

    /// On a shared channel the server can send messages at any time.
    func openServerStream() {}

    func whenServerStreamIsSettled(_ then: @escaping @Sendable () -> Void) { then() }

    func reportsLoss(within limit: Duration) -> Bool { false }

    /// The end of a shared channel is the end of the connection.
    func loseSession() {}

    func abort() async { shutDown() }

    func openingFailure(after limit: Duration) -> ClientError? { nil }

    var lastErrors: [String]? { nil }

    var address: String? { nil }

    func hasBeenRead() async -> Bool { true }

    func startAfresh() async throws(ClientError) { try await restart() }

    /// Servers that others started are not managed by the client.
    var canRestart: Bool { false }

    func restart() async throws(ClientError) {
        throw ClientError(.cannotStart, "this server cannot be started from here")
    }

    /// A pipe has only one transport.
    func fallBack(within timeout: Duration) async throws(ClientError) -> Bool { false }
}

/// The receiver of everything that comes from the server. Called from any thread.
protocol ClientInbox: AnyObject, Sendable {
    /// Receives a message. `exchange` is the id of the request on whose HTTP exchange it arrived, nil on a
    /// shared channel; `status` is that of an HTTP error response.
    func receive(_ bytes: ByteSlice, exchange: Int64?, status: Int?)

    /// Returns whether a caller is still waiting for the response to this request.
    func isWaiting(_ id: Int64) -> Bool

    /// Fails a request that will get no response. Has no effect if it already has one.
    func fail(_ id: Int64, _ error: ClientError)

    /// Fails all pending requests: none of them will get a response.
    func failAll(_ error: ClientError)

    /// Reports that the server has no channel for messages of its own; it sends them only along with its
    /// responses.
    func serverStreamRefused(_ error: ClientError)

    /// Reports that messages of the server may have been lost: a stream of the session was down, and no event
    /// id allowed to resume it exactly.
    func messagesMayBeLost()

    /// Reports that the server sends the stream of the session.
    func serverStreamBegan()

    /// Reports that an attempt to open the stream of the session was in vain, as were the ones before it, and
    /// that there will be others.
    func serverStreamFailed(_ error: ClientError, attempts: Int)

    /// Reports that the server no longer knows the session whose stream it had sent: it was restarted, or the
    /// session expired.
    func sessionLost()

    /// Reports that a request begins or ends to wait for its credentials; nil for a message without a
    /// response of its own.
    func awaitsCredentials(_ id: Int64?, _ isWaiting: Bool)

    /// Reports that the credentials stand for somebody else from now on.
    func identityChanged()

    /// Reports that the connection has ended: pending and later requests fail.
    func connectionClosed(_ error: ClientError)
}
