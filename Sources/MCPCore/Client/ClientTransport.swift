/// One message to the server, with what a transport needs to route it.
struct OutboundMessage: Sendable {
    /// The JSON text, without a newline.
    let bytes: ByteSlice
    /// The JSON-RPC method; empty for an answer to a request of the server.
    let method: String
    /// What `Mcp-Name` repeats (HDR-05); modern requests only.
    var mirroredName: String?
    /// What `Mcp-Param-*` repeat (HDR-15), encoded; calls of tools in modern revisions over HTTP only.
    var mirroredArguments: [(name: String, value: String)] = []
    /// What the message speaks; nil for `initialize`, which negotiates it.
    var revision: Revision?
    /// How long a connection that has to be opened for it may take.
    var connectTimeout: Duration
    /// Doing what it says twice does no harm; see `Repetition`.
    var isRepeatable = false
}

/// Carries messages to a server, and what comes back to the inbox.
///
/// It knows nothing of what the messages mean: a request goes out, and what belongs to it comes back, ended
/// by one answer or one failure.
protocol ClientTransport: AnyObject, Sendable {
    /// The transport is HTTP: a request has an exchange of its own, and closing it cancels it (CANC-01).
    var isHTTP: Bool { get }

    /// Under which name the server is remembered; nil when it is not (DUAL-19).
    var serverKey: ServerKey? { get }

    /// Takes the inbox, before anything is sent.
    func start(_ inbox: any ClientInbox)

    /// Sends a request. What comes back, or that nothing can come, is told to the inbox under the same id.
    func send(_ message: OutboundMessage, id: Int64)

    /// Sends a message that has no answer; returns when it is on its way, over HTTP when it was taken.
    func post(_ message: OutboundMessage) async throws(ClientError)

    /// Nobody waits for the request any more; `notice` tells the server where the revision has such a
    /// message.
    func abandon(_ id: Int64, notice: OutboundMessage?)

    /// Opens, in the background, the channel on which the server speaks unasked: the GET stream of a legacy
    /// HTTP session (LEG-12). Without effect where it is open; the inbox is told where there is none.
    func openServerStream()

    /// Changes to an older way of carrying messages after `initialize` was refused (DUAL-17). False when the
    /// server has none either, or it was taken already.
    func fallBack(within timeout: Duration) async throws(ClientError) -> Bool

    /// A server that ended by itself can be started again.
    var canRestart: Bool { get }

    /// Starts the server again after its end was told to the inbox. What was on its way is lost.
    func restart() async throws(ClientError)

    /// Ends the connection in good order and waits for that. May be called again.
    func close() async

    /// Begins to end the connection, without waiting.
    func shutDown()

    /// Ends a connection on which nothing was agreed: at once, and not in good order.
    func abort() async

    /// What a connection that is not open yet waits for, as the error of having waited for it so long; nil
    /// when it is open, or there is nothing to open.
    func openingFailure(after limit: Duration) -> ClientError?

    /// The last lines on stderr of a program that the client started; nil for other servers.
    var lastErrors: [String]? { get }
}

extension ClientTransport {
    /// A server that has no place is not remembered.
    var serverKey: ServerKey? { nil }

    /// On a shared channel the server can speak at any time.
    func openServerStream() {}

    func abort() async { shutDown() }

    func openingFailure(after limit: Duration) -> ClientError? { nil }

    var lastErrors: [String]? { nil }

    /// Servers that others have started are none of the client's business.
    var canRestart: Bool { false }

    func restart() async throws(ClientError) {
        throw ClientError(.cannotStart, "this server cannot be started from here")
    }

    /// There is one way to speak over a pipe.
    func fallBack(within timeout: Duration) async throws(ClientError) -> Bool { false }
}

/// Takes what comes from the server. Called from any thread.
protocol ClientInbox: AnyObject, Sendable {
    /// A message came. `exchange` is the id of the request on whose HTTP exchange it came, nil on a shared
    /// channel; `status` is that of a refusing HTTP answer.
    func receive(_ bytes: ByteSlice, exchange: Int64?, status: Int?)

    /// Whether somebody still waits for the answer to this request.
    func isWaiting(_ id: Int64) -> Bool

    /// The request will have no answer. Without effect when it has one already.
    func fail(_ id: Int64, _ error: ClientError)

    /// None of the requests that wait now will have an answer.
    func failAll(_ error: ClientError)

    /// The server has no channel on which it could speak unasked; what it says comes with its answers.
    func serverStreamRefused(_ error: ClientError)

    /// The server no longer knows the session whose stream it had sent: it was restarted, or let it expire.
    func sessionLost()

    /// The connection is at its end: what waits fails, and what is sent later fails as well.
    func connectionClosed(_ error: ClientError)
}
