/// Carries JSON-RPC messages to one server and back, over a way of your own: a WebSocket, a serial line, a
/// message bus. One message is one JSON text; what it means is the client's business (basic/transports
/// "Custom Transports").
///
/// ```swift
/// let target = ClientTarget.transport("bus") { BusTransport(topic: "calc") }
/// let client = try await MCPClient.connect(target)
/// ```
public protocol MessageTransport: Sendable {
    /// Sends one message, and returns when the next may be sent. Called by one task, in the order of the
    /// messages.
    ///
    /// - Throws: when the message cannot be sent: the connection is given up.
    func send(_ message: [UInt8]) async throws

    /// The next message of the server; nil at the end of the connection. Called by one task, again after each
    /// message.
    ///
    /// - Throws: when the connection is broken; the text of the error is shown to people.
    func receive() async throws -> [UInt8]?

    /// Ends the connection: `receive` then returns nil or throws. Called once.
    func close() async
}

extension ClientTarget {
    /// A server behind a transport of your own.
    ///
    /// - Parameters:
    ///   - name: the server in words, for messages.
    ///   - open: makes the transport for one connection. Do what takes time, such as connecting, in the first
    ///     `send`; `ClientOptions.connectTimeout` limits it.
    public static func transport(
        _ name: String, _ open: @escaping @Sendable () throws -> any MessageTransport
    ) -> ClientTarget {
        ClientTarget(name) { (options) throws(ClientError) in
            do {
                return MessageClientTransport(try open(), name: name, options: options)
            } catch {
                throw ClientError(.cannotStart, "cannot open \(name): \(error)")
            }
        }
    }
}
