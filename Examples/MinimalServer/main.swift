import MCPCore

let server = MCPServer("calc", version: "1.0")
server.addTool("add", "Add two numbers", Argument("a"), Argument("b", "the second")) {
    (a: Double, b: Double?) in
    a + (b ?? 0)
}
try await server.run(.stdio)
