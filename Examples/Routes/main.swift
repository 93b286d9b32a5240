// An MCP server that also answers GET /version. Usage: example-routes SOCKET
//     curl --unix-socket SOCKET http://localhost/version
import MCPCore

struct Version: HTTPRequestHandler {
    func handles(path: String) -> Bool { path == "/version" }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        request.method == "GET" ? .text("1.0\n") : .text("Only GET\n", status: 405)
    }
}

let server = MCPServer("calc", version: "1.0")
server.addTool("add", "Add two numbers", Argument("a"), Argument("b")) { (a: Double, b: Double) in a + b }
try await server.run(.http(.unix(path: CommandLine.arguments[1]), handler: Version()))
