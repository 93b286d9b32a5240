import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct ExecReaderTests {
    private func errors(_ input: String, _ exec: String, more: String = "") -> [String] {
        let text = "{ \"tools\": { \"t\": { \"input\": \(input), \"exec\": \(exec)\(more) } } }"
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(name: "c", text: text), directory: "/", Diagnostics())
        return outcome.diagnostics.sorted.filter { $0.severity == .error }.map(\.text)
    }

    private static let input = """
        { "x": { "type": "string" }, "o?": { "type": "string" }, "list?": { "type": "array" },
          "flag?": { "type": "boolean" } }
        """

    @Test(arguments: [
        (#"[]"#, "tools.t.exec must be an array"), (#""ls {x}""#, "tools.t.exec must be an array"),
        (#"["{x}"]"#, "tools.t.exec: the program must not come from an argument"),
        (#"["ls", "{xx}"]"#, "tools.t: placeholder {xx} is not in \"input\" (did you mean {x}?)"),
        (
            #"["ls", "{o}"]"#,
            "tools.t: {o} is optional and has no default: put the element into a nested array"
        ),
        (#"["ls", "{list}"]"#, "tools.t: {list} is an array; write {list...} as a separate element"),
        (#"["ls", "{x...}"]"#, "tools.t.exec: {x...} needs an array; write {x}"),
        (#"["ls", "-{list...}"]"#, "tools.t.exec: {list...} must be its own element"),
        (#"["ls", ["-l"]]"#, "tools.t.exec: a nested array is dropped"),
        (#"["ls", ["-l", ["{o}"]]]"#, "tools.t.exec: an argument must be a string, not an array"),
        (#"["ls", {"when": "x", "args": ["-l"]}]"#, "tools.t.exec: x is not a boolean"),
        (#"["ls", {"when": "flag"}]"#, "tools.t.exec: a condition is"),
        (#"["ls", {"when": "flag", "arg": []}]"#, "unknown key \"arg\" in tools.t.exec (did you mean args?)"),
        (#"["ls", 5]"#, "tools.t.exec: an argument must be a string, not a number"),
        (#"["ls", "a\u0000b"]"#, "tools.t.exec: an argument must not contain NUL"),
    ])
    func refuses(exec: String, expected: String) {
        let found = errors(Self.input, exec)
        #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    // Fault row 106: no argument ever becomes code of a shell.
    @Test(arguments: [
        #"["sh", "-c", "du {x}"]"#, #"["/bin/bash", "-ec", "{x}"]"#,
        #"["env", "bash", "-o", "pipefail", "-c", "{x}"]"#,
        #"["python3", "-c", "print('{x}')"]"#, #"["python3", "-c{x}"]"#, #"["perl", "-ne", "{x}"]"#,
        #"["bash", "-c", "-x", "{x}"]"#, #"["su", "ops", "-c", "{x}"]"#, #"["node", "--eval={x}"]"#,
        #"["timeout", "5", "sh", ["-c", "{o}"]]"#, #"["bash", "-c", "{list...}"]"#,
        #"["rbash", "-c", "{x}"]"#, #"["nodejs", "-e", "{x}"]"#, #"["luajit", "-e", "{x}"]"#,
        #"["pypy3", "-c", "{x}"]"#, #"["env", "-S", "sh -c {x}"]"#, #"["perl", "-M{x}", "-e", "1"]"#,
        #"["php", "-B", "{x}"]"#,
    ])
    func refusesArgumentsInsideCode(exec: String) {
        let found = errors(Self.input, exec)
        #expect(
            found.contains { $0.hasPrefix("tools.t.exec: a placeholder inside code would be run") },
            "\(found)")
    }

    @Test(arguments: [
        #"["/bin/sh", "-c", "du -s -- \"$1\" | sort -h", "sh", "{x}"]"#,
        #"["ping", "-c", "{x}", "localhost"]"#,
        #"["git", "-c", "user.name={x}", "log"]"#, #"["python3", "script.py", "-c", "{x}"]"#,
        #"["sh", "script.sh", "{x}"]"#, #"["grep", "-e", "{x}"]"#,
        #"["flock", "file", "ping", "-c", "{x}", "localhost"]"#, #"["env", "-i", "grep", "-c", "{x}", "f"]"#,
    ])
    func allowsArgumentsBesideCode(exec: String) {
        #expect(errors(Self.input, exec) == [])
    }

    @Test(arguments: ["", " "]) func aQuestionIsNotEmpty(_ text: String) {
        let found = errors(Self.input, #"["cat"]"#, more: #", "confirm": "\#(text)""#)
        #expect(found == ["tools.t.confirm must not be empty: it is the question to the user"])
        #expect(errors(Self.input, #"["cat"]"#, more: #", "confirm": "Run?""#) == [])
    }

    @Test(arguments: ["MCP_TOOL", "MCP_SUPERVISOR"]) func variablesOfTheServer(_ name: String) {
        let text = #"{ "tools": { "t": { "exec": ["cat"], "env": { "\#(name)": "x", "OTHER": "y" } } } }"#
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(name: "c", text: text), directory: "/", Diagnostics())
        #expect(
            outcome.diagnostics.sorted.map(\.text) == [
                "tools.t: \(name) in \"env\" has no effect: the server sets it"
            ])
    }

    @Test func checksTheOtherTexts() {
        let found = errors(
            Self.input, #"["cat"]"#, more: #", "stdin": "{o}", "cwd": "{x}", "result": "jsn", "output": {}"#)
        #expect(found.contains("tools.t: {o} is optional and has no default: give it a default"))
        #expect(found.contains { $0.hasPrefix("tools.t.cwd must be a directory or one {parameter}") })
        #expect(
            found.contains {
                $0.hasPrefix("tools.t.result must be one of") && $0.hasSuffix("(did you mean json?)")
            })
        #expect(found.contains { $0.hasPrefix("tools.t.output must have") })
    }

    @Test func checksTheInput() {
        #expect(
            errors(#"{ "a b": {} }"#, #"["ls"]"#).first?.hasPrefix(
                "tools.t.input: \"a b\" is not a parameter name")
                == true)
        #expect(
            errors(#"{ "a": 5 }"#, #"["ls"]"#).first?.hasPrefix("tools.t.input.a must be a schema") == true)
        #expect(errors(#"{ "a": {}, "a?": {} }"#, #"["ls"]"#) == ["tools.t.input: \"a\" occurs twice"])
        #expect(
            errors(#"{ "a": { "format": "path" } }"#, #"["ls"]"#)
                == [
                    "tools.t.input.a: \"format\": \"path\" needs \"x-root\", the directory that contains it"
                ])
        #expect(
            errors(#"{ "a": { "format": "path", "x-root": "/nope" } }"#, #"["ls"]"#)
                == ["tools.t.input.a.x-root: /nope does not exist"])
        #expect(errors(#"{ "a": { "type": "strng" } }"#, #"["ls"]"#).count == 1)
    }

    @Test func acceptsAFullSchema() {
        #expect(
            errors(
                #"{ "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"] }"#,
                #"["ls", "{x}"]"#) == [])
    }
}
