import MCPCore
import TestSupport

/// A server of this process behind a real socket, for limits and tools that the program does not have.
enum LocalServer {
    static func serve(
        _ server: MCPServer, handler: (any HTTPRequestHandler)? = nil,
        options: HTTPServerOptions = HTTPServerOptions(),
        _ body: (UInt16) async throws -> Void
    ) async throws {
        let running = try server.start([.http(.tcp(port: 0), handler: handler, options: options)])
        do {
            try await body(try running.port())
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }
}
