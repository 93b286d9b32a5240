import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct ToolBehaviourTests {
    private func findings(_ members: String) -> [String] {
        let text = "{\"tools\":{\"t\":{\"exec\":[\"true\"],\n\(members)}}}"
        return ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(name: "m", text: text), directory: "/", Diagnostics()
        ).diagnostics.sorted.map(\.rendered)
    }

    private static let mistakes: [(members: String, column: Int, text: String)] = [
        (#""progress":"line""#, 12, #"progress must be one of "lines", "jsonlines" (did you mean lines?)"#),
        (#""progress":{"from":"stdout"}"#, 12, #"progress has no "format": "lines" or "jsonlines""#),
        (
            #""progress":1"#, 12,
            #"progress must be "lines", "jsonlines" or {"format": "…", "from": "stderr"}, not a number"#
        ),
        (
            #""progress":{"format":"lines","from":"x"}"#, 37,
            #"progress.from must be one of "stdout", "stderr""#
        ),
        (#""successExitStatus":1"#, 21, "successExitStatus must be an array of exit statuses, not a number"),
        (
            #""successExitStatus":[1,256]"#, 24,
            "successExitStatus must contain whole numbers from 0 to 255"
        ),
        (#""confirm":true"#, 11, "confirm must be a string, not a boolean"),
        (#""overflow":"drop""#, 12, #"overflow must be one of "error", "truncate", "resource""#),
        (
            #""overflow":"resource","result":"json""#, 12,
            #"overflow needs "result": "text": a part of JSON is not JSON"#
        ),
        (
            #""cacheTtl":"5s""#, 12,
            #"cacheTtl needs "annotations": {"readOnlyHint": true}: "#
                + "a call that changes something must run each time"
        ),
        (
            #""cacheTtl":"5s","confirm":"?","annotations":{"readOnlyHint":true}"#, 12,
            "cacheTtl and confirm cannot be combined: leave one out"
        ),
        (#""task":"always""#, 8, #"task must be one of "never", "optional", "required""#),
        (#""limits":{"cpu":"500ms"}"#, 17, "limits.cpu must be at least 1 s"),
        (#""limits":{"memory":"1KiB"}"#, 20, "limits.memory must be from 1 MiB to 1073741824 MiB"),
        (
            #""limits":{"openFiles":2}"#, 23,
            "limits.openFiles must be a whole number from 3 to 1000000"
        ),
    ]

    @Test(arguments: mistakes.indices) func mistakesHaveAPlace(_ index: Int) {
        let (members, column, text) = Self.mistakes[index]
        #expect(findings(members) == ["m:2:\(column): error: tools.t.\(text)"])
    }

    @Test func unknownNames() {
        #expect(
            findings(#""limits":{"disk":"1MiB"}"#)
                == [#"m:2:11: error: unknown key "disk" in tools.t.limits"#])
        #expect(
            findings(#""confirm":"Run {x}?""#)
                == [#"m:2:11: error: tools.t: placeholder {x} is not in "input""#])
    }

    @Test func everythingIsRead() throws {
        let text = #"""
            {"tools":{"t":{"exec":["true"],"progress":{"format":"jsonlines","from":"stderr"},
            "successExitStatus":[1,2],"overflow":"truncate","task":"required","confirm":"Go?",
            "limits":{"cpu":"2m","memory":"64MiB","fileSize":"0","processes":8,"openFiles":32}}}}
            """#
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(name: "m", text: text), directory: "/", Diagnostics())
        #expect(outcome.diagnostics.report == [])
        let tool = try #require(outcome.configuration.tools.first)
        #expect(tool.progress == .init(format: .jsonlines, source: .stderr))
        #expect(tool.successStatuses == [1, 2] && tool.overflow == .truncate && tool.task == .required)
        #expect(tool.confirmation?.literal == "Go?")
        var limits = ResourceLimits()
        (limits.cpu, limits.memory, limits.fileSize) = (120, 64 << 20, 0)
        (limits.processes, limits.openFiles) = (8, 32)
        #expect(tool.limits == limits)
        let schema = try CompiledSchema(try JSONValue(parsing: ConfigurationSchema.text))
        #expect(schema.validate(try JSONValue(parsing: text)).isEmpty)
    }
}
