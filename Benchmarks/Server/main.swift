// The same tool in three forms, so that the cost of each form can be measured:
// raw JSON in and out, typed arguments and result, and an asynchronous handler.
import MCPCore

struct Echo: Codable, Sendable {
    var text: String
}

let server = MCPServer("benchmark-server", version: "1.0")
let schema =
    #"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}"#
server.addTool("raw", "Returns the text", schema: schema) { arguments, _, out in out.text(arguments["text"]) }
server.addTool("typed", "Returns the text", Argument("text")) { (text: String) in Echo(text: text) }
server.addTool("wordy", "Returns the text", Argument("text")) { (text: String) in text }
try server.register(Tool("async", inputSchema: JSONValue(parsing: schema))) { call, _ in
    .text(call.arguments["text"]?.string ?? "")
}

server.addTool("change", "Tells everybody who listens that the tools have changed") { () -> String in
    server.notifyToolsChanged()
    return "told"
}

// --listen PORT [LOOPS], or --listen PORT ISSUER KEYS with the tokens of an authorization server
let words = CommandLine.arguments
if words.count >= 3, words[1] == "--listen", let port = UInt16(words[2]) {
    var options = HTTPServerOptions()
    var authorization: ServerAuthorization?
    if words.count > 4 {
        let verifier = try JWTVerifier(issuer: words[3], keys: words[4])
        authorization = try ServerAuthorization(
            resource: "http://127.0.0.1/mcp", authorizationServers: [words[3]], verifier: verifier,
            requiredScopes: ["mcp:use"])
    } else if words.count > 3 {
        options.loops = Int(words[3]) ?? options.loops
    }
    try await server.run(.http(.tcp(port: port), options: options, authorization: authorization))
} else {
    try await server.run(.stdio)
}
