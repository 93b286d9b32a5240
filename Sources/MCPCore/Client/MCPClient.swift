/// A client: one connection to one server, in whichever revision of the protocol both speak.
///
/// Calls may be made from any task and at the same time. The connection lives until `close()`; a client that
/// is let go ends its program or its connections by itself.
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

    /// Connects to a server and agrees on a revision with it, in `ClientOptions.connectTimeout` at most.
    ///
    /// - Throws: `ClientError` when the program cannot be started, the server cannot be reached or no
    ///   revision is common; the `MCPError` with which a server refuses the handshake.
    public static func connect(
        _ target: ClientTarget, options: ClientOptions = ClientOptions()
    ) async throws -> MCPClient {
        try await connect(target, options: options, clock: SystemClock())
    }

    static func connect(
        _ target: ClientTarget, options: ClientOptions, clock: any TimeSource
    ) async throws -> MCPClient {
        try await connect(over: target.open(options), options: options, clock: clock)
    }

    static func connect(
        over transport: any ClientTransport, options: ClientOptions, clock: any TimeSource = SystemClock()
    ) async throws -> MCPClient {
        let client = MCPClient(ClientConnection(transport, options: options, clock: clock))
        client.connection.transport.start(client.connection)
        let negotiation = Negotiation(client.connection)
        do {
            try await negotiation.open()
        } catch {
            // The end of the server belongs to the time for connecting.
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

    /// Who the server says it is; modern servers may keep silent about it. For display, never for decisions.
    public var serverInfo: Implementation? { connection.profile?.serverInfo }

    /// The revision that is spoken.
    public var protocolVersion: ProtocolVersion { connection.profile?.revision.version ?? .newest }

    /// What the server offers.
    public var serverCapabilities: ServerCapabilities {
        connection.profile?.capabilities ?? ServerCapabilities()
    }

    /// How a model should use the server.
    public var instructions: String? { connection.profile?.instructions }

    /// The revisions that the server lists; of a server from before 2026-07-28 only the negotiated one is
    /// known.
    public var supportedVersions: [String] { connection.profile?.supportedVersions ?? [] }

    // MARK: The end

    /// Ends the connection: legacy sessions are deleted, a program gets the end of its input, then SIGTERM,
    /// then SIGKILL. Calls that wait fail with `.connectionClosed`. May be called again.
    public func close() async { await connection.close() }

    /// Returns when the connection is at its end for good, with the reason: `close()` was called, or the
    /// server is gone.
    public func waitUntilClosed() async -> ClientError {
        await withCheckedContinuation { continuation in
            connection.whenEnded { continuation.resume(returning: $0) }
        }
    }
}
