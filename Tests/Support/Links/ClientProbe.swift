import Synchronization

@testable package import MCPCore

/// What a client waits for and keeps.
package struct ClientProbe {
    private let connection: ClientConnection

    fileprivate init(_ connection: ClientConnection) { self.connection = connection }

    /// The most questions of a server that are worked on.
    package static var maxQuestions: Int { ServerRequestHandler.maximum }

    /// Requests that are not yet answered.
    package var requests: Int { connection.pending.count }
    /// Results that are kept.
    package var results: Int { connection.cache.count }
    /// Whether there is a subscription.
    package var hasListeners: Bool { connection.listeners.hasAny }
    /// What subscriptions watch.
    package var watchedURIs: Set<String> { Set(connection.listeners.watchedURIs) }

    /// Learns tools as from a page of `tools/list`.
    package func learn(_ page: String) throws {
        connection.tools.learn(try RawJSON(validating: page), isFirst: true, mirrors: true)
    }

    /// Calls `body` each time the server was started again.
    package func onReconnect(_ body: @escaping @Sendable () -> Void) {
        connection.state.withLock { $0.onReconnect = body }
    }
}

extension MCPClient {
    package var probe: ClientProbe { ClientProbe(connection) }

    /// A client whose time is another one.
    package static func connect(
        _ target: ClientTarget, options: ClientOptions, at clock: any TimeSource
    ) async throws -> MCPClient {
        try await connect(target, options: options, clock: clock)
    }
}

extension Subscription {
    /// Whether nothing more comes.
    package var hasEnded: Bool { isOver }
}

extension ScriptedTransport.Sent {
    package var method: String { message.method }
    package var mirroredName: String? { message.mirroredName }
    package var mirroredArguments: [(name: String, value: String)] { message.mirroredArguments }
    /// The revision that it is written for; nil before one is agreed on.
    package var revision: String? { message.revision?.version.text }
    /// The message as it is sent.
    package var text: String { String(message.bytes) }
}
