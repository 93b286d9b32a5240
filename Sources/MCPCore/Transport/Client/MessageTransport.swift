/// A transport that carries JSON-RPC messages to one server and back over a channel of your own: a WebSocket,
/// a serial line, a message bus. One message is one JSON text; its meaning is the client's concern
/// (basic/transports "Custom Transports").
///
/// ```swift
/// let target = ClientTarget.transport("bus") { BusTransport(topic: "calc") }
/// let client = try await MCPClient.connect(target)
/// ```
public protocol MessageTransport: Sendable {
    /// Sends one message, and returns when the next one may be sent. Called by one task, in the order
    /// of the messages.
    ///
    /// - Throws: an error when the message cannot be sent; the connection is then abandoned.
    func send(_ message: [UInt8]) async throws

    /// Returns the next message from the server, or nil at the end of the connection. Called by one task,
    /// again after each message.
    ///
    /// - Throws: an error when the connection is broken; the text of the error is shown to people.
    func receive() async throws -> [UInt8]?

    /// Ends the connection: `receive` then returns nil or throws. Called once.
    func close() async
}

extension ClientTarget {
    /// Returns the target for a server behind a transport of your own.
    ///
    /// - Parameters:
    ///   - name: a description of the server, for messages.
    ///   - open: creates the transport for one connection. Perform slow steps, such as connecting, in the
    ///     first `send`; `ClientOptions.connectTimeout` limits it.
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
