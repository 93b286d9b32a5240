// A client and a server in one process: no pipes, no sockets, the same protocol.
import MCPCore

let notes = ["milk": "Buy milk.", "call": "Call Ada back."]

let server = MCPServer("notes", version: "1.0", instructions: "Read the notes before you plan a day.")
server.addTool("search", "Find notes that contain a word", Argument("word")) { (word: String) in
    notes.filter { $0.value.holds(word) }.keys.sorted()
}
try server.register(ResourceTemplate("note:///{name}", name: "note", mimeType: "text/plain")) {
    uri, variables, _ in
    guard let text = notes[variables["name"] ?? ""] else { throw MCPError.resourceNotFound(uri) }
    return [.text(text, uri: uri)]
}
try server.register(Prompt("plan", arguments: [PromptArgument("day", required: true)])) { arguments, _ in
    GetPromptResult([.user("Plan my \(arguments["day"] ?? "day") with these notes: \(notes.keys.sorted())")])
}

let client = try await MCPClient.connect(.inProcess(server))
print("connected to", client.serverInfo?.name ?? "?", "using", client.protocolVersion)

let found: [String] = try await client.call("search", ["word": "buy"])
print("found:", found)
for name in found {
    print("note:", try await client.readResource("note:///\(name)").first?.text ?? "")
}
print("prompt:", try await client.getPrompt("plan", ["day": "Monday"]).messages.first?.content.text ?? "")

do {
    _ = try await client.readResource("note:///taxes")
} catch let error as MCPError {
    print("error:", error)
}
await client.close()

extension String {
    /// Whether the text contains a word, ignoring case.
    func holds(_ word: String) -> Bool { lowercased().contains(word.lowercased()) }
}
