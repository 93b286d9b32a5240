import MCPCore
import Testing

@testable import MCPServerDaemon

/// Arguments of other types than a tool asks for, with `"coerce": "lenient"` and without.
@Suite struct LenientArgumentsTests {
    private static let tools = #"""
        "tools": { "t": {
          "input": { "n?": {"type": "integer", "maximum": 3000}, "x?": {"type": "number"},
                     "b?": {"type": "boolean"}, "s?": {"type": "string"},
                     "a?": {"type": "array", "items": {"type": "integer"}},
                     "e?": {"type": "string", "enum": ["1", "2"]} },
          "exec": ["printf", "%s|", "{n}", ["{x}"], ["{b}"], ["{s}"], ["{e}"], "{a...}"] } }
        """#.replacing(#""{n}","#, with: #"["{n}"],"#)

    @Test(arguments: [
        (#"{"n":"2000"}"#, "2000|"), (#"{"x":"1.5"}"#, "1.5|"), (#"{"b":"true"}"#, "true|"),
        (#"{"s":12}"#, "12|"), (#"{"s":true}"#, "true|"), (#"{"a":"[1,2]"}"#, "1|2|"),
        (#"{"a":["1",2]}"#, "1|2|"), (#"{"e":2}"#, "2|"),
        // What fits stays as it is.
        (#"{"n":7,"s":"8"}"#, "7|8|"),
    ])
    func isConverted(_ arguments: String, _ output: String) async throws {
        let arguments = try #require(try JSONValue(parsing: arguments).objectValue)
        let lenient = try ConfiguredServer("{ \"coerce\": \"lenient\", \(Self.tools) }", in: "/")
        #expect(try await lenient.call("t", arguments).content.first?.text == output)
        guard arguments["n"] != 7 else { return }
        let strict = try ConfiguredServer("{ \(Self.tools) }", in: "/")
        let refused = try await strict.call("t", arguments)
        #expect(refused.isError && refused.content.first?.text?.contains("do not fit") == true)
    }

    /// What has no clear meaning, and what breaks another rule of the schema, is refused as before.
    @Test(arguments: [
        #"{"n":"many"}"#, #"{"n":"2000 "#, #"{"n":"4000"}"#, #"{"n":"1.5"}"#, #"{"b":"yes"}"#, #"{"b":1}"#,
        #"{"a":"1,2"}"#, #"{"a":["x"]}"#, #"{"e":3}"#, #"{"s":null}"#, #"{"s":{}}"#, #"{"z":1}"#,
        #"{"n":"null"}"#,
    ])
    func isRefused(_ text: String) async throws {
        let text = text.hasSuffix("}") ? text : text + #"x"}"#
        let arguments = try #require(try JSONValue(parsing: text).objectValue)
        let lenient = try ConfiguredServer("{ \"coerce\": \"lenient\", \(Self.tools) }", in: "/")
        let refused = try await lenient.call("t", arguments)
        #expect(refused.isError && refused.content.first?.text?.contains("do not fit") == true)
    }

    /// The log names the arguments, never their values.
    @Test func isLogged() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", "{ \"coerce\": \"lenient\", \(Self.tools) }")
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        let result = try await client.callTool("t", ["n": "1234", "x": "0.25"])
        #expect(result.content.first?.text == "1234|0.25|")
        #expect(await program.logs(#""event":"arguments coerced","tool":"t","arguments":"n x""#))
        #expect(!program.output.contains("1234"))
        await client.close()
        await program.stop()
    }
}
