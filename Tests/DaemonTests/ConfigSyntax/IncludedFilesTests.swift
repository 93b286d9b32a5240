import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `include`: one configuration in several files.
@Suite struct IncludedFilesTests {
    private func load(
        _ main: String, _ files: [String: String] = [:], overrides: [String] = []
    ) throws -> (outcome: ConfigurationLoader.Outcome, report: [String]) {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("conf.d")
        try directory.makeDirectory("srv")
        for (name, text) in files { try directory.write(name, text) }
        try directory.write("mcp.jsonc", main)
        let loader = ConfigurationLoader(
            overrides: overrides.compactMap(Override.init),
            environment: ["PATH": "/usr/bin:/bin", "D": "conf.d"])
        let outcome = loader.load(file: "\(directory.path)/mcp.jsonc")
        let report = outcome.diagnostics.report.map { $0.replacing(directory.path + "/", with: "") }
        return (outcome, report)
    }

    private static func tool(_ name: String) -> String {
        #"{ "tools": { "\#(name)": { "exec": ["true"] } } }"#
    }

    @Test func filesAddKeysAndEntries() throws {
        let (outcome, report) = try load(
            #"{ "include": ["${D}/*.jsonc", "one.json"], "tools": { "a": { "exec": ["true"] } } }"#,
            [
                "conf.d/20.jsonc": Self.tool("c"),
                "conf.d/10.jsonc": #"// b"# + "\n"
                    + #"{ "$schema": "x", "tools": { "b": { "exec": ["true"] } } }"#,
                "conf.d/.hidden.jsonc": Self.tool("h"), "conf.d/notes.txt": "no JSON",
                "one.json": #"{ "server": { "name": "s" }, "files": { "f": { "root": "srv" } } }"#,
            ], overrides: ["tools.b.timeout=3s"])
        #expect(report.isEmpty, "\(report)")
        #expect(outcome.configuration.tools.map(\.name) == ["a", "b", "c"])
        #expect(outcome.configuration.tools[1].timeout == .seconds(3))
        #expect(outcome.configuration.server.name == "s")
        // Relative to the main file.
        #expect(outcome.configuration.files.first?.root.hasSuffix("/srv") == true)
    }

    @Test func aPatternMayMatchNothingAndAFileCountsOnce() throws {
        let (outcome, report) = try load(
            #"{ "include": ["conf.d/*.json", "conf.d/a.jsonc", "./conf.d/a.jsonc", "conf.d/a*"] }"#,
            ["conf.d/a.jsonc": Self.tool("a")])
        #expect(report.isEmpty, "\(report)")
        #expect(outcome.configuration.tools.map(\.name) == ["a"])
    }

    private static let mistakes: [(main: String, file: String, finding: String)] = [
        (
            #"{ "include": ["f"], "tools": { "a": { "exec": ["true"] } } }"#, tool("a"),
            "f:1:14: error: tools.a is defined at mcp.jsonc:1:32 already"
        ),
        (
            #"{ "include": ["f"], "listen": ["127.0.0.1:1"] }"#, #"{ "listen": ["127.0.0.1:2"] }"#,
            "f:1:3: error: listen is defined at mcp.jsonc:1:21 already"
        ),
        (#"{ "include": ["f"] }"#, #"{ "include": ["g"] }"#, "f:1:3: error: only the main file may have"),
        (#"{ "include": ["f"] }"#, "[]", "f:1:1: error: the file must contain an object, not an array"),
        (#"{ "include": ["f"] }"#, "{ x }", "f:1:3: error: expected a key in double quotes"),
        (#"{ "include": ["f"] }"#, #"{ "tols": {} }"#, #"f:1:3: error: unknown key "tols""#),
        (#"{ "include": ["g"] }"#, "{}", "mcp.jsonc:1:15: error: include: cannot open g: No such file"),
        (
            #"{ "include": ["no/*.json"] }"#, "{}",
            "mcp.jsonc:1:15: warning: include: no does not exist, so *.json adds nothing"
        ),
        (
            #"{ "include": ["f/*.json"] }"#, "{}",
            "mcp.jsonc:1:15: error: include: f cannot be listed"
        ),
        (#"{ "include": ["*/f"] }"#, "{}", "mcp.jsonc:1:15: error: include: only the name of a file may"),
        (#"{ "include": "f" }"#, "{}", "mcp.jsonc:1:14: error: include must be an array of files"),
        (#"{ "include": [1] }"#, "{}", "mcp.jsonc:1:15: error: a file in include must be a string"),
        (#"{ "include": ["${NOT_SET}"] }"#, "{}", "mcp.jsonc:1:15: error: ${NOT_SET} is not set"),
        (#"{ "include": ["srv"] }"#, "{}", "include: srv is not a regular file"),
    ]

    @Test(arguments: mistakes) func everyMistakeIsNamed(
        _ mistake: (main: String, file: String, finding: String)
    ) throws {
        let report = try load(mistake.main, ["f": mistake.file]).report
        #expect(report.contains { $0.contains(mistake.finding) }, "\(report)")
    }

    /// Anyone who can write a file decides what runs.
    @Test func filesThatOthersCanWriteAreRefused() throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", #"{ "include": ["f"] }"#)
        try directory.write("f", Self.tool("a"))
        #expect(unsafe chmod("\(directory.path)/f", 0o666) == 0)
        let outcome = ConfigurationLoader(environment: [:]).load(file: "\(directory.path)/mcp.jsonc")
        #expect(outcome.diagnostics.report.contains { $0.contains("is writable by everyone") })
        #expect(outcome.configuration.tools.isEmpty)
    }
}
