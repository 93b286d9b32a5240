import MCPCore

let server = MCPServer("calc", version: "1.0")
server.tool("add", "Add two numbers", Arg("a"), Arg("b", "the second")) { (a: Double, b: Double?) in
    a + (b ?? 0)
}
try await server.run(.stdio)
