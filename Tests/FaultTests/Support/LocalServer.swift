@testable import MCPCore

/// A server of this process behind a real socket, for limits and tools that the program does not have.
enum LocalServer {
    static func serve(
        _ server: MCPServer, handler: (any HTTPRequestHandler)? = nil,
        options: HTTPServerOptions = HTTPServerOptions(),
        _ body: (UInt16) async throws -> Void
    ) async throws {
        let running = try server.start([.http(.tcp(port: 0), handler: handler, options: options)])
        guard case .tcp(_, let port)? = running.addresses.first?.kind else {
            throw FaultTestError("the server has no port")
        }
        do {
            try await body(port)
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }
}
