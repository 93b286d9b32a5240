import MCPCore
import Testing

@testable import MCPServerDaemon

/// Schemas of parameters that no value fits, and defaults that no caller could send.
@Suite struct SchemaCheckTests {
    private func report(_ input: String, isFull: Bool = false) -> [String] {
        let use = input.contains(#""type":"array""#) ? "{a...}" : "{a}"
        let whole = isFull ? input : #"{"a?":\#(input)}"#
        let text = #"{"tools":{"t":{"exec":["true",["\#(use)"]],"input":\#(whole)}}}"#
        let loader = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin", "HOME": "/root"])
        return loader.load(SourceText(name: "c", text: text), directory: "/", Diagnostics()).diagnostics
            .report
    }

    @Test(arguments: [
        (#"{"enum":["x","y"],"default":"zz"}"#, "tools.t.input.a.default does not match the schema"),
        (
            #"{"anyOf":[{"type":"string","format":"path","x-root":"/tmp"}]}"#,
            "tools.t.input.a.anyOf[0].x-root has no effect here"
        ),
        (
            #"{"type":"object","properties":{"p":{"format":"path"}}}"#,
            "tools.t.input.a.properties.p: \"format\": \"path\" has no effect here"
        ),
        (
            #"{"type":"array","format":"path","x-root":"/tmp","items":{"type":"string"}}"#,
            "tools.t.input.a.x-root has no effect here"
        ),
        (#"{"type":"string","default":5}"#, "tools.t.input.a.default does not match the schema"),
        (
            #"{"type":"integer","maximum":200,"default":2000}"#,
            "tools.t.input.a.default does not match the schema"
        ),
        (
            #"{"type":"string","pattern":"^a","default":"b"}"#,
            "tools.t.input.a.default does not match the schema"
        ),
        (#"{"type":"string","examples":["b",5]}"#, "tools.t.input.a.examples[1] does not match the schema"),
        (#"{"enum":["x"],"const":"y"}"#, "tools.t.input.a.const does not match the schema"),
        (#"{"type":"integer","minimum":200,"maximum":1}"#, "minimum is greater than maximum"),
        (#"{"type":"string","minLength":5,"maxLength":1}"#, "minLength is greater than maxLength"),
        (#"{"type":"array","minItems":5,"maxItems":1}"#, "minItems is greater than maxItems"),
        (#"{"type":"number","exclusiveMinimum":1,"maximum":1}"#, "exclusiveMinimum is not below maximum"),
        (
            #"{"type":"array","items":{"type":"string","default":1}}"#,
            "tools.t.input.a.items.default does not"
        ),
    ])
    func isAnErrorAtItsPlace(_ input: String, _ words: String) throws {
        let report = report(input)
        let line = try #require(report.first { $0.contains(words) }, "\(report)")
        #expect(line.hasPrefix("c:1:") && line.contains(": error: "))
    }

    @Test(arguments: [
        #"{"enum":["x","y"],"default":"y"}"#, #"{"type":"integer","minimum":1,"maximum":1,"default":1}"#,
        #"{"type":"string","default":"x","examples":["y"]}"#,
        #"{"type":"array","items":{"type":"string"},"default":[]}"#,
        #"{"type":"string","format":"path","x-root":"/tmp","default":"."}"#,
    ])
    func whatFitsIsTaken(_ input: String) { #expect(report(input) == []) }

    /// Paths are checked only where the schema of a parameter says so.
    @Test(arguments: [
        (##""properties":{"a":{"$ref":"#/$defs/p"}},"$defs":{"p":PATH}"##, "tools.t.input.$defs.p.x-root"),
        (
            #""properties":{"a":{"type":"string"}},"allOf":[{"properties":{"a":PATH}}]"#,
            "input.allOf[0].properties.a"
        ),
        (
            #""properties":{"a":{"type":"string"}},"patternProperties":{"^b":PATH}"#,
            "input.patternProperties.^b"
        ),
        (#""properties":{"a":{"if":PATH}}"#, "tools.t.input.a.if.x-root"),
        (#""properties":{"a":{"type":["array","null"],"items":PATH}}"#, "tools.t.input.a.items.x-root"),
    ])
    func aPathThatWouldNotBeCheckedIsAnError(_ members: String, _ words: String) {
        let path = #"{"type":"string","format":"path","x-root":"/tmp"}"#
        let report = report(#"{"type":"object",\#(members.replacing("PATH", with: path))}"#, isFull: true)
        let found = report.contains { $0.contains(words) && $0.contains("has no effect here") }
        #expect(found, "\(report)")
    }

    @Test func aFileThatIsNotExecutableIsNamedAsThat() throws {
        let directory = try TemporaryDirectory()
        try directory.write("script", "#!/bin/sh")
        let text = #"{"tools":{"t":{"exec":["\#(directory.path)/script"]},"u":{"exec":["./none"]}}}"#
        let report = ConfigurationLoader(environment: ["PATH": "/usr/bin"]).load(
            SourceText(name: "c", text: text), directory: "/", Diagnostics()
        ).diagnostics.sorted.map(\.rendered)
        let isNamed = report.contains {
            $0.contains("\(directory.path)/script exists but cannot be executed")
        }
        #expect(isNamed, "\(report)")
        #expect(report.contains { $0.contains("/none was not found") }, "\(report)")
    }

    @Test(arguments: [(64, 1), (1_024, 28), (4_608, 128), (1 << 20, 128)])
    func commandsFitIntoTheDescriptors(_ openFiles: Int, _ count: Int) {
        #expect(CommandTool.maxRunning(openFiles: openFiles) == count)
    }
}
