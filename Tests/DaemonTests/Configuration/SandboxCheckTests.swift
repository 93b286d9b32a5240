import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// What programs in sandboxes may change of the server is reported.
@Suite struct SandboxCheckTests {
    private let directory: TemporaryDirectory
    private let real: String

    init() throws {
        directory = try TemporaryDirectory()
        real = try #require(Paths.resolved(directory.path))
        for name in ["conf", "data", "data/prompts", "data/rec", "work"] { try directory.makeDirectory(name) }
        try directory.write("data/state.key", Array(repeating: UInt8(ascii: "k"), count: 40), mode: 0o600)
        try directory.write("data/prompts/p.md", "Say hello.")
        try directory.write("data/x.jsonc", #"{"tools":{"t":{"exec":["date"],"sandbox":"none"}}}"#)
    }

    /// Returns what `check` says about a configuration, with a tool that may write to a place.
    private func warnings(_ write: String, _ members: String) throws -> Set<String> {
        let sandbox = #"{"fs":{"write":["\#(real)/\#(write)"]},"onUnsupported":"warn"}"#
        let text = #"{"tools":{"w":{"exec":["true"],"sandbox":\#(sandbox)}},\#(members)}"#
        try directory.write("conf/mcp.jsonc", text.replacing("DIR", with: real))
        let loader = ConfigurationLoader(
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/root"], purpose: .checking)
        let outcome = loader.load(file: "\(real)/conf/mcp.jsonc")
        let lines = outcome.diagnostics.sorted.map(\.text)
        #expect(!outcome.diagnostics.hasErrors, "\(lines)")
        return Set(lines.filter { $0.contains("may change") }.map { $0.replacing(real, with: "DIR") })
    }

    private static let everything = #"""
        "include": ["DIR/data/*.jsonc"], "state": {"key": "${file:DIR/data/state.key}"},
        "auth": {"tokens": "DIR/data/tokens.json"}, "prompts": {"dir": "DIR/data/prompts"},
        "observe": {"log": {"file": "DIR/data/log"}, "audit": {"file": "DIR/data/audit.jsonl"},
                    "recorder": {"dir": "DIR/data/rec"}},
        "admin": {"listen": "unix://DIR/data/adm.sock"},
        "listen": ["127.0.0.1:8808", "unix://DIR/data/s.sock"],
        "clientTools": {"providersSocket": "DIR/data/p.sock", "tokenFile": "DIR/data/provider.token"}
        """#

    @Test func whatTheServerReliesOn() throws {
        let found = try warnings("data", Self.everything)
        let expected = [
            ("include", "*.jsonc"), ("auth.tokens", "tokens.json"), ("prompts.dir", "prompts"),
            ("observe.log.file", "log"), ("observe.audit.file", "audit.jsonl"),
            ("observe.recorder.dir", "rec"), ("admin.listen", "adm.sock"), ("listen", "s.sock"),
            ("clientTools.providersSocket", "p.sock"), ("clientTools.tokenFile", "provider.token"),
        ].map { "\($0.0): tool w may change DIR/data/\($0.1)" }
        let secret = "this configuration: tool w may change a file that it reads: DIR/data/state.key"
        #expect(found == Set(expected + [secret]))
        #expect(try warnings("work", Self.everything).isEmpty)
    }

    @Test func scripts() throws {
        for name in ["run", "server.py", "notes.txt"] { try directory.write("data/\(name)", "x") }
        let members = #"""
            "mcpServers": {
              "a": {"command": "sh", "args": ["-e", "DIR/data/run", "DIR/data/notes.txt"]},
              "b": {"command": "cat", "args": ["-u", "server.py"], "cwd": "DIR/data"},
              "c": {"command": "sh", "args": ["-c", "cat \"$1\"", "sh", "DIR/data/notes.txt"]},
              "d": {"command": "cat", "args": ["DIR/data/notes.txt", "DIR/data/none.py"]}
            }
            """#
        #expect(
            try warnings("data", members) == [
                "mcpServer a: tool w may change its script DIR/data/run",
                "mcpServer b: tool w may change its script DIR/data/server.py",
            ])
        #expect(try warnings("work", members).isEmpty)
    }

    @Test func socketsOfOthers() throws {
        let members = #"""
            "state": {"key": "${file:DIR/data/state.key}", "store": "unix://DIR/work/redis.sock?db=1"},
            "mcpServers": {"u": {"url": "unix://DIR/work/up.sock#/mcp"}}
            """#
        #expect(
            try warnings("work", members) == [
                "state.store: tool w may change DIR/work/redis.sock",
                "mcpServers.u.url: tool w may change DIR/work/up.sock",
            ])
    }

    /// A link leads there, or can be replaced by another one.
    @Test func links() throws {
        try directory.link("conf/tokens.json", to: "\(real)/data/tokens.json")
        try directory.write("data/tokens.json", Array(#"{"version":1,"tokens":[]}"#.utf8), mode: 0o600)
        try directory.link("work/prompts", to: "\(real)/data/prompts")
        let members = #""auth": {"tokens": "tokens.json"}, "prompts": {"dir": "DIR/work/prompts"}"#
        #expect(
            try warnings("data/tokens.json", members)
                == ["auth.tokens: tool w may change DIR/conf/tokens.json"])
        #expect(try warnings("work", members) == ["prompts.dir: tool w may change DIR/work/prompts"])
    }

    @Test func theMainFile() throws {
        try directory.write("conf/mcp.jsonc", "{}")
        #expect(
            try warnings("conf/mcp.jsonc", #""server": {}"#)
                == ["this configuration: tool w may change DIR/conf/mcp.jsonc"])
        // Where the directory is writable, one line is enough.
        try directory.write("conf/y.jsonc", "{}")
        let line = "tools.w.sandbox.fs.write: programs that may change DIR/conf may change this configuration"
        #expect(try warnings("conf", #""include": ["*.jsonc.d", "y.jsonc"]"#) == [line])
    }
}
