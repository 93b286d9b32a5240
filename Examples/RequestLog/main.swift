// An MCP server that logs every request with its duration. Usage: example-request-log
import MCPCore

struct RequestLog: ServerMiddleware {
    func didServe(_ request: IncomingRequest, _ end: RequestEnd) {
        // Printed text goes to standard error: standard output is reserved for the protocol.
        print(request.method, request.name ?? "", end.outcome, end.duration)
    }
}

var options = ServerOptions()
options.middleware = [RequestLog()]
let server = MCPServer("calc", version: "1.0", options: options)
server.addTool("add", "Add two numbers", Argument("a"), Argument("b")) { (a: Double, b: Double) in a + b }
try await server.run(.stdio)
