import Synchronization

/// A client: one connection to one server, in any revision of the protocol that both support.
///
/// Calls may be made concurrently from any task. The connection lives until `close()`; a client that is
/// released ends its program or its connections automatically.
///
/// ```swift
/// let client = try await MCPClient.connect(.command("python3", "server.py"))
/// let sum: Double = try await client.call("add", ["a": 2, "b": 3])
/// await client.close()
/// ```
public final class MCPClient: Sendable {
    private let counted = Counted(.mcpClient)
    let connection: ClientConnection

    private init(_ connection: ClientConnection) { self.connection = connection }

    deinit {
        connection.conclude(ClientError(.connectionClosed, "the client was deallocated"))
        connection.transport.shutDown()
    }

    /// Connects to a server and negotiates a revision, within `ClientOptions.connectTimeout`.
    ///
    /// - Throws: `ClientError` when the program cannot be started, the server cannot be reached or there is
    ///   no common revision; the `MCPError` with which a server refuses the handshake.
    public static func connect(
        _ target: ClientTarget, options: ClientOptions = ClientOptions()
    ) async throws -> MCPClient {
        try await connect(target, options: options, clock: SystemClock())
    }

    static func connect(
        _ target: ClientTarget, options: ClientOptions, clock: any TimeSource
    ) async throws -> MCPClient {
        var options = options.guarded(at: target.url)
        var target = target
        let start = clock.now
        for _ in 0 ..< maxRedirects {
            do {
                return try await connect(over: target.open(options), options: options, clock: clock)
            } catch let error as ClientError where error.kind == .redirect {
                guard let next = target.redirected?(error) else { throw error }
                options.shortenConnectTimeout(by: clock.now - start)
                target = next
            }
        }
        return try await connect(over: target.open(options), options: options, clock: clock)
    }

    /// The number of redirects to the same origin that are followed.
    static let maxRedirects = 3

    static func connect(
        over transport: any ClientTransport, options: ClientOptions, clock: any TimeSource = SystemClock()
    ) async throws -> MCPClient {
        let client = MCPClient(ClientConnection(transport, options: options, clock: clock))
        client.connection.transport.start(client.connection)
        let negotiation = Negotiation(client.connection)
        do {
            try await negotiation.open()
        } catch {
            // Ending the server counts towards the time limit for connecting.
            do {
                try await TimeLimit.run(negotiation.left, late: { error }, { await client.close() })
            } catch {
                await client.connection.transport.abort()
            }
            throw error
        }
        await client.connection.tellInterests(isAgain: false, atMost: min(.seconds(10), negotiation.left))
        client.connection.remembersInterests()
        return client
    }

    // MARK: The server

    /// The name and version that the server declares; modern servers may omit them. For display, never for
    /// decisions.
    public var serverInfo: Implementation? { connection.profile?.serverInfo }

    /// The negotiated revision.
    public var protocolVersion: ProtocolVersion { connection.profile?.revision.version ?? .newest }

    /// The capabilities of the server.
    public var serverCapabilities: ServerCapabilities {
        connection.profile?.capabilities ?? ServerCapabilities()
    }

    /// The server's instructions to a model.
    public var instructions: String? { connection.profile?.instructions }

    /// The revisions that the server lists; for a server from before 2026-07-28 only the negotiated one is
    /// known.
    public var supportedVersions: [String] { connection.profile?.supportedVersions ?? [] }

    /// The thread on which this client reads and writes; nil if the transport has none of its own.
    ///
    /// A task that prefers it (`withTaskExecutorPreference`) makes its calls without changing threads, which
    /// is the cheapest way to make many small calls. The thread is shared with other clients of this process:
    /// code that runs on it delays the responses to all of them, and must never block.
    public var executor: (any TaskExecutor)? { connection.transport.executor }

    /// The number of requests that were sent so far, those of connecting included.
    package var requestCount: Int { Int(clamping: connection.pending.lastID) }

    /// The number of requests that a cached response answered.
    package var reusedCount: Int { connection.reused.load(ordering: .relaxed) }

    // MARK: The end

    /// Closes the connection: legacy sessions are deleted; the input of a program is closed, then it receives
    /// SIGTERM, then SIGKILL. Pending calls fail with `.connectionClosed`. May be called again.
    public func close() async { await connection.close() }

    /// Whether the connection has ended permanently.
    package var hasEnded: Bool { connection.endOfConnection != nil }

    /// Waits until the connection has ended permanently and returns the reason: `close()` was called, or the
    /// server is gone.
    public func waitUntilClosed() async -> ClientError {
        await withCheckedContinuation { continuation in
            connection.whenEnded { continuation.resume(returning: $0) }
        }
    }
}
