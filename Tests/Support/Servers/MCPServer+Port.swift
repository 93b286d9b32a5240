package import MCPCore

extension MCPServer {
    /// The server with templates beside what it has, so that clients may watch what fits them.
    package func covering(_ templates: String...) throws -> MCPServer {
        for template in templates {
            try register(ResourceTemplate(template, name: template)) { _, _, _ in [] }
        }
        return self
    }

    /// Serves HTTP on a free port while `body` runs, and has stopped when this returns.
    package func withPort(
        _ options: HTTPServerOptions = HTTPServerOptions(), loops: Int = 1,
        _ body: (UInt16) async throws -> Void
    ) async throws {
        var options = options
        options.loops = loops
        options.drainTimeout = .seconds(2)
        let running = try start([.http(.tcp(port: 0), options: options)])
        do {
            try await body(try running.port())
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }
}
