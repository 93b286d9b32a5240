import MCPCore

/// `mock`: serves a recording as a server, over stdio or HTTP.
struct MockCommand {
    let context: CommandContext
    private var console: Console { context.console }

    func run() async throws(Failure) -> ExitCode {
        let path = context.invocation.operands.first ?? ""
        let server = RecordedServer(try context.environment.recording(path))
        guard let listen = context.invocation.options.checks.listen else {
            await LineRelay.serve { server.answer(to: $0) }
            return .ok
        }
        try await LocalServer.run(listen, MockHandler(server: server), context)
        return .ok
    }
}

/// The recorded server over Streamable HTTP: each request has one response of JSON, and there are no
/// sessions.
private struct MockHandler: HTTPRequestHandler {
    let server: RecordedServer

    func handles(path: String) -> Bool { path == "/mcp" }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard request.method == "POST" else {
            return .text("Only POST is served", status: request.method == "DELETE" ? 200 : 405)
        }
        guard let answer = server.answer(to: request.body.array) else { return HTTPResponse(status: 202) }
        return HTTPResponse(status: 200, headers: TapHandler.jsonFields, body: .bytes(answer))
    }
}
