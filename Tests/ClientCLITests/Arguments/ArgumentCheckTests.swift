import MCPCore
import Testing

@testable import MCPClientCLI

struct ArgumentCheckTests {
    private func report(_ name: String, _ schema: String, _ words: [String]) throws -> String? {
        let line = ["call", "localhost:1", name] + words
        guard case .run(let invocation) = try InvocationParser.parse(line) else { return nil }
        let quiet = BufferSink()
        let console = Console(stdout: quiet, stderr: quiet, options: invocation.options) { _ in nil }
        let input = ArgumentInput(
            file: { _ throws(Failure) in [] }, stdin: { () throws(Failure) in [] }, isStdinPiped: false)
        do {
            _ = try ArgumentReader(invocation: invocation, console: console)
                .read(words, name: name, schema: try JSONValue(parsing: schema), input: input)
            return nil
        } catch let failure as Failure {
            #expect(failure.code == .usage)
            #expect(failure.kind == .invalidArguments)
            return FailureText.lines(failure, style: Style(isOn: false))
        }
    }

    private static let unit =
        #"{"type":"object","properties":{"unit":{"enum":["web","worker","cron"]}},"required":["unit"],"additionalProperties":false}"#

    @Test func aWrongChoiceAndAnUnknownName() throws {
        #expect(
            try report("unit_restart", Self.unit, ["unit=wrker", "now=1"]) == """
                error: the arguments do not match the schema of unit_restart (nothing was sent)
                  unit  "wrker" is not one of "web", "worker", "cron"        did you mean "worker"?
                  now   no such argument
                usage: mcp-client call localhost:1 unit_restart unit=<web|worker|cron>

                """)
    }

    /// The work grows with the number of arguments, not with its square, and the report does not.
    @Test(.timeLimit(.minutes(5))) func manyRequiredArguments() throws {
        let names = (0 ..< 15_000).map { "\"p\($0)\"" }
        let schema =
            #"{"type":"object","properties":{"#
            + names.map { $0 + #":{"type":"string"}"# }.joined(separator: ",") + #"},"required":["#
            + names.joined(separator: ",") + "]}"
        let text = try #require(try report("many", schema, []))
        #expect(text.contains("  p0   is missing (string)\n"), "\(text)")
        #expect(text.contains("… and 14988 more\n"), "\(text)")
        #expect(text.contains("p31=<string> … 14968 more\n") && text.utf8.count < 4_096, "\(text)")
    }

    @Test func whatIsMissingIsNamedWithItsType() throws {
        #expect(
            try report("unit_restart", Self.unit, []) == """
                error: the arguments do not match the schema of unit_restart (nothing was sent)
                  unit  is missing ("web"|"worker"|"cron")
                usage: mcp-client call localhost:1 unit_restart unit=<web|worker|cron>

                """)
    }

    @Test func limitsOfTheSchemaAreChecked() throws {
        let schema =
            #"{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":200}}}"#
        let text = try #require(try report("git_log", schema, ["limit=500"]))
        #expect(text.contains("\n  limit  "))
        #expect(text.contains("500"))
        #expect(text.hasSuffix("usage: mcp-client call localhost:1 git_log [limit=<int 1…200>]\n"))
    }

    @Test func theWholeObjectIsCheckedTheSameWay() throws {
        let text = try #require(try report("unit_restart", Self.unit, [#"{"unit":"web","nwo":1}"#]))
        #expect(text.contains("nwo  no such argument"))
    }

    @Test func nestedMembersAreNamedByTheirPath() throws {
        let schema =
            #"{"properties":{"tags":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n","m"]}}}"#
        let text = try #require(try report("t", schema, [#"tags:={"n":"x"}"#]))
        #expect(text.contains("tags.n  "))
        #expect(text.contains("tags.m  is missing"))
    }

    @Test func fittingArgumentsPass() throws {
        #expect(try report("unit_restart", Self.unit, ["unit=web"]) == nil)
    }

    /// Fault row 110: names of the server cannot forge lines.
    @Test func namesCannotForgeLines() throws {
        let schema =
            #"{"properties":{"a\nerror: forged":{"type":"integer"}},"required":["a\nerror: forged"]}"#
        let text = try #require(try report("t", schema, []))
        #expect(!text.contains("\nerror: forged"))
        #expect(text.contains(#"a\nerror: forged"#))
    }

    /// Arguments that cannot be checked are sent, and a note says why they were not.
    @Test(arguments: [
        (##"{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}"##, "#/$defs/none"),
        (#"{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}"#, "https://example.com/x"),
        (##"{"$ref":"#"}"##, "#"),
    ])
    func aSchemaThatCannotBeUsedSaysWhy(_ schema: String, _ part: String) throws {
        guard case .run(let invocation) = try InvocationParser.parse(["call", "localhost:1", "t"]) else {
            Issue.record("not a command")
            return
        }
        let sink = MemorySink(isTerminal: false)
        let console = Console(stdout: sink, stderr: sink, options: invocation.options) { _ in nil }
        let input = ArgumentInput(
            file: { _ throws(Failure) in [] }, stdin: { () throws(Failure) in [] }, isStdinPiped: false)
        let read = try ArgumentReader(invocation: invocation, console: console)
            .read(["a=1"], name: "t", schema: try JSONValue(parsing: schema), input: input)
        #expect(read["a"] != nil)
        let note = "note: the arguments are not checked, because the schema of t cannot be used: schema "
        #expect(sink.text.hasPrefix(note) && sink.text.contains(part), "\(sink.text)")
    }
}
