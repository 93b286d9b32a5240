// An MCP server that requires a token, which it makes and prints. Usage: example-protected PORT
//     mcp-client -H "Authorization: Bearer TOKEN" call http://127.0.0.1:PORT/mcp whoami
import MCPCore

let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8808

// A program of your own keeps the records, and shows each token once.
let new = StaticToken.make(name: "ci", scopes: ["files:read"])
let tokens = try StaticTokens([new.record])
print("token: \(new.token)")

let authorization = try ServerAuthorization(
    resource: "http://127.0.0.1:\(port)/mcp", verifier: tokens, requiredScopes: ["files:read"],
    impliedScopes: ["files:write": ["files:read"]])

let server = MCPServer("files", version: "1.0")
server.addTool("whoami", "Names the caller", schema: #"{"type":"object"}"#) { _, context, out in
    out.text(context.principal?.subject ?? "nobody")
}
server.addTool("clear", "Deletes all files", schema: #"{"type":"object"}"#) { _, context, out in
    try context.require(scopes: ["files:write"])
    out.text("deleted")
}
try await server.run(.http(.tcp(port: port), authorization: authorization))
