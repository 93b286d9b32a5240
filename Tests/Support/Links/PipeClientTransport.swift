@testable package import MCPCore

/// Our client on a pair of pipes to a server in this process.
package final class PipeClientTransport: ClientTransport {
    private let link: StdioLink

    package init(_ server: MCPServer) throws {
        // The client's messages and the server's are checked where the client is.
        link = try StdioLink(server, MessageRecorder([]))
    }

    package var isHTTP: Bool { false }

    package func start(_ inbox: any ClientInbox) {
        link.listen { [weak inbox] in inbox?.receive($0.bytes, exchange: nil, status: nil) }
    }

    package func send(_ message: OutboundMessage, id: Int64) { link.write(String(message.bytes)) }

    package func post(_ message: OutboundMessage) async throws(ClientError) {
        link.write(String(message.bytes))
    }

    package func abandon(_ id: Int64, notice: OutboundMessage?) {
        if let notice { link.write(String(notice.bytes)) }
    }

    package func close() async { await link.close() }

    package func shutDown() { link.endInput() }
}

extension ClientTarget {
    /// A server of this process behind a pair of pipes.
    package static func pipes(_ server: MCPServer) -> ClientTarget {
        ClientTarget("pipes") { (_) throws(ClientError) in
            do {
                return try PipeClientTransport(server)
            } catch {
                throw ClientError(.cannotStart, "\(error)")
            }
        }
    }
}
