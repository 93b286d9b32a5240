// Usage: example-minimal-client PROGRAM [ARGUMENT]…, for example with ./example-minimal-server as the
// program.
import MCPCore

let client = try await MCPClient.connect(
    .command(CommandLine.arguments[1], Array(CommandLine.arguments.dropFirst(2))))
print("tools:", try await client.listTools().map(\.name).joined(separator: ", "))
print("2 + 3 =", try await client.call("add", ["a": 2, "b": 3], as: Double.self))
await client.close()
