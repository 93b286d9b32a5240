// A client that does what one scenario of the public conformance suite asks for.
//
//     MCP_CONFORMANCE_SCENARIO=tools_call conformance-client http://localhost:3000/mcp
import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Writes to standard error.
func say(_ text: String) {
    var bytes = Array(text.utf8)
    _ = unsafe write(2, &bytes, bytes.count)
}

func environment(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}

func fail(_ text: String) -> Never {
    say("conformance-client: \(text)\n")
    exit(1)
}

guard let url = CommandLine.arguments.last, CommandLine.arguments.count > 1 else {
    fail("the URL of the server is missing; it is the last argument")
}
guard let name = environment("MCP_CONFORMANCE_SCENARIO") else {
    fail("MCP_CONFORMANCE_SCENARIO names no scenario")
}
guard let run = Scenario.body(of: name) else { fail("the scenario \(name) is not known") }
do {
    let scenario = Scenario(
        url: url, name: name, version: environment("MCP_CONFORMANCE_PROTOCOL_VERSION"),
        context: try environment("MCP_CONFORMANCE_CONTEXT").map { try JSONValue(parsing: $0) } ?? [:])
    try await run(scenario)
} catch {
    fail("\(name): \(error)")
}
