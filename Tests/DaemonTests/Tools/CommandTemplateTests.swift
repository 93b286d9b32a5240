import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct CommandTemplateTests {
    private func tool(_ input: String, _ exec: String) throws -> ToolDefinition {
        let text = "{ \"tools\": { \"t\": { \"input\": \(input), \"exec\": \(exec) } } }"
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(name: "c", text: text), directory: "/", Diagnostics())
        try #require(outcome.diagnostics.errorCount == 0, "\(outcome.diagnostics.report)")
        return try #require(outcome.configuration.tools.first)
    }

    private func argv(_ definition: ToolDefinition, _ arguments: JSONObject) throws -> [String] {
        let values = ArgumentValues(arguments, parameters: definition.input.parameters) {
            (path, _, root) throws(ArgumentFailure) in "\(root)/\(path)"
        }
        return try definition.command.argv(values)
    }

    private static let input = """
        { "author?": { "type": "string" }, "limit?": { "type": "integer", "default": 20 },
          "all?": { "type": "boolean" }, "paths?": { "type": "array", "items": { "type": "string" } },
          "any?": { "type": "string", "dash": true } }
        """

    private func logTool() throws -> ToolDefinition {
        try tool(
            Self.input,
            #"["git", "log", "-n", "{limit}", ["--author={author}"], "#
                + #"{"when": "all", "args": ["--all"]}, ["{any}"], "--", "{paths...}"]"#
        )
    }

    @Test func insertsWhatIsThere() throws {
        let tool = try logTool()
        #expect(try argv(tool, [:]) == ["git", "log", "-n", "20", "--"])
        #expect(
            try argv(tool, ["author": "a b", "limit": 3, "all": true, "paths": ["x", "-y", "z z"]])
                == ["git", "log", "-n", "3", "--author=a b", "--all", "--", "x", "-y", "z z"])
        #expect(
            try argv(tool, ["author": nil, "all": false, "paths": []]) == ["git", "log", "-n", "20", "--"])
    }

    @Test func anElementIsNeverSplitOrInterpreted() throws {
        let hostile = "x; rm -rf / $(id) `id` \"'\n* ${HOME} {limit}"
        #expect(
            try argv(logTool(), ["author": .string(hostile)])
                == ["git", "log", "-n", "20", "--author=\(hostile)", "--"])
    }

    @Test("Advisory_CVE_2025_68143: arguments that begin with a dash")
    func refusesInjectedOptions() throws {
        let tool = try tool(
            #"{ "a": { "type": "string" }, "b?": { "default": "" }, "c?": { "type": "array" } }"#,
            #"["echo", "{b}{a}", "{c...}"]"#)
        #expect(try argv(tool, ["a": "x"]) == ["echo", "x"])
        for arguments in [
            ["a": "-x"], ["a": "--output=/etc/passwd"], ["a": "x", "b": "-"], ["a": "x", "c": ["-rf"]],
        ]
            as [JSONObject]
        {
            #expect(throws: ArgumentFailure.self) { try argv(tool, arguments) }
        }
        #expect(throws: ArgumentFailure.self) { try argv(tool, ["a": -5]) }
        #expect(try argv(logTool(), ["any": "-5"]) == ["git", "log", "-n", "20", "-5", "--"])
        #expect(try argv(logTool(), ["paths": ["-5"]]).suffix(2) == ["--", "-5"])
        #expect(throws: ArgumentFailure.self) { try argv(logTool(), ["limit": -1]) }
    }

    @Test func refusesNUL() throws {
        #expect(throws: ArgumentFailure.self) { try argv(logTool(), ["author": "a\0b"]) }
    }

    @Test func writesNumbersPlainly() throws {
        let tool = try tool(#"{ "n": { "type": "number" } }"#, #"["echo", "{n}"]"#)
        #expect(try argv(tool, ["n": 100]).last == "100")
        #expect(try argv(tool, ["n": JSONValue(parsing: "1e2")]).last == "100")
        #expect(try argv(tool, ["n": JSONValue(parsing: "1.50")]).last == "1.50")
        #expect(try argv(tool, ["n": true]).last == "true")
        #expect(try argv(tool, ["n": ["a": 1]]).last == #"{"a":1}"#)
    }

    @Test func resolvesPathsOfArraysToo() throws {
        let tool = try tool(
            #"{ "p": { "type": "array", "items": { "format": "path", "x-root": "/tmp" } } }"#,
            #"["ls", "--", "{p...}"]"#)
        #expect(try argv(tool, ["p": ["a", "b"]]) == ["ls", "--", "/tmp/a", "/tmp/b"])
        #expect(tool.tool.inputSchema["properties"]?["p"]?["items"] == ["format": "path"])
    }
}
