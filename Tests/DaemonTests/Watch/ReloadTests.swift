import MCPCore
import Synchronization
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

#if os(Linux)
/// Changes of directories and of the configuration, with the real program, over both transports, in both
/// eras.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReloadTests {
    struct Way: Sendable, CustomTestStringConvertible {
        let isStdio: Bool
        let version: ProtocolVersion
        var testDescription: String { "\(isStdio ? "stdio" : "HTTP") \(version)" }
    }

    static let ways = [true, false].flatMap { isStdio in
        [ProtocolVersion.v2026_07_28, .v2025_11_25].map { Way(isStdio: isStdio, version: $0) }
    }

    /// What a client has heard.
    private final class Heard: Sendable {
        private let changes = Mutex<[ServerChange]>([])
        var all: [ServerChange] { changes.withLock { $0 } }
        func clear() { changes.withLock { $0 = [] } }

        func follow(_ subscription: Subscription) -> Task<Void, Never> {
            Task {
                do {
                    for try await change in subscription { changes.withLock { $0.append(change) } }
                } catch { return }
            }
        }

        func has(_ change: ServerChange) async -> Bool { await eventually { self.all.contains(change) } }
    }

    private static let configuration = """
        {
          "tools": { "one": { "exec": ["true"] } },
          "files": { "docs": { "root": "docs", "include": ["**/*.md"], "watch": true } },
          "prompts": { "dir": "prompts", "watch": true }
        }
        """

    private static func with(
        _ way: Way, configuration: String = configuration,
        _ body: (TemporaryDirectory, MCPClient, Heard) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        for name in ["docs", "prompts"] { try directory.makeDirectory(name) }
        try directory.write("docs/a.md", "first")
        try directory.write("prompts/p.md", "Hello")
        try directory.write("mcp.jsonc", configuration)
        var options = ClientOptions()
        options.protocol = .exactly(way.version)
        let file = "\(directory.path)/mcp.jsonc"
        var program: WatchedProgram?
        let target: ClientTarget
        if way.isStdio {
            target = .command(
                try WatchedProgram.path(), ["-c", file, "--stdio"], environment: WatchedProgram.environment)
        } else {
            let socket = "\(directory.path)/s.sock"
            program = try await WatchedProgram(configuration: file, socket: socket)
            target = .unix(path: socket)
        }
        let client = try await MCPClient.connect(target, options: options)
        let heard = Heard()
        var filter = SubscriptionFilter.lists
        // None where nothing shows files yet.
        if configuration.contains("docs") { filter.resourceURIs = ["docs:///a.md", "docs:///b.md"] }
        let subscription = try await client.listen(filter)
        #expect(subscription.accepted == filter)
        let following = heard.follow(subscription)
        // The stream of an older session is opened beside the requests.
        if !way.isStdio, way.version == .v2025_11_25 {
            var attempts = 0
            while heard.all.isEmpty, attempts < 100 {
                attempts += 1
                try directory.write("docs/a.md", "first")
                _ = await eventually(milliseconds: 100) { !heard.all.isEmpty }
            }
        }
        heard.clear()
        do {
            try await body(directory, client, heard)
        } catch {
            Issue.record(error)
        }
        await subscription.cancel()
        following.cancel()
        await client.close()
        await program?.stop()
    }

    private static func uris(_ client: MCPClient) async throws -> [String] {
        try await client.request("resources/list")["resources"]?.elements?.compactMap { $0["uri"]?.string }
            ?? []
    }

    // RES-14, DUAL-24: a file that is changed, added, removed.
    @Test(arguments: ways) func files(_ way: Way) async throws {
        try await Self.with(way) { directory, client, heard in
            try directory.write("docs/a.md", "second")
            #expect(await heard.has(.resourceUpdated("docs:///a.md")))
            let read = try await client.request("resources/read", ["uri": "docs:///a.md"])
            #expect(read["contents"]?[0]?["text"]?.string == "second")
            heard.clear()
            try directory.write("docs/b.md", "new")
            #expect(await heard.has(.resourcesListChanged))
            #expect(await heard.has(.resourceUpdated("docs:///b.md")))
            #expect(try await Self.uris(client) == ["docs:///a.md", "docs:///b.md"])
            heard.clear()
            #expect(unsafe unlink("\(directory.path)/docs/b.md") == 0)
            #expect(await heard.has(.resourcesListChanged))
            #expect(try await Self.uris(client) == ["docs:///a.md"])
            heard.clear()
            // What is not shown is not told; the next change is.
            try directory.write("docs/hidden.txt", "x")
            try directory.write("docs/a.md", "third")
            #expect(await heard.has(.resourceUpdated("docs:///a.md")))
            #expect(!heard.all.contains(.toolsListChanged))
        }
    }

    // A burst of file events is told in few messages.
    @Test(arguments: ways) func bursts(_ way: Way) async throws {
        let lists = Mutex(0)
        try await Self.with(way) { directory, client, heard in
            for number in 0 ..< 1_000 {
                let file = unsafe open(
                    "\(directory.path)/docs/f\(number).md", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
                #expect(file >= 0)
                close(file)
            }
            try directory.write("docs/a.md", "end")
            #expect(await heard.has(.resourceUpdated("docs:///a.md")))
            #expect(await heard.has(.resourcesListChanged))
            lists.withLock { $0 = heard.all.count }
            // How many depends on the time that the burst takes.
            #expect(heard.all.count < 500, "\(heard.all.count)")
            let page = try await client.request("resources/list")
            #expect(page["nextCursor"] != nil)
        }
        #expect(lists.withLock { $0 } > 0)
    }

    // A watched directory that is removed and made again.
    @Test(arguments: ways) func theDirectoryGoesAndComes(_ way: Way) async throws {
        try await Self.with(way) { directory, client, heard in
            #expect(unsafe unlink("\(directory.path)/docs/a.md") == 0)
            #expect(unsafe rmdir("\(directory.path)/docs") == 0)
            #expect(await heard.has(.resourcesListChanged))
            #expect(try await Self.uris(client) == [])
            heard.clear()
            try directory.makeDirectory("docs")
            try directory.write("docs/b.md", "again")
            #expect(await heard.has(.resourcesListChanged))
            // Whoever watches a resource there looks again.
            #expect(await heard.has(.resourceUpdated("docs:///b.md")))
            #expect(try await Self.uris(client) == ["docs:///b.md"])
            heard.clear()
            try directory.write("docs/b.md", "and again")
            #expect(await heard.has(.resourceUpdated("docs:///b.md")))
            let read = try await client.request("resources/read", ["uri": "docs:///b.md"])
            #expect(read["contents"]?[0]?["text"]?.string == "and again")
        }
    }

    // A client hears of the first of a kind, although there was none when it connected.
    @Test(arguments: ways) func theFirstOfAKind(_ way: Way) async throws {
        let empty = #"{"server": {"name": "reloading"}}"#
        try await Self.with(way, configuration: empty) { directory, client, heard in
            #expect(try await client.listTools().isEmpty)
            #expect(try await client.listPrompts().isEmpty)
            #expect(try await Self.uris(client) == [])
            try directory.write("mcp.jsonc", Self.configuration)
            #expect(await heard.has(.toolsListChanged))
            #expect(await heard.has(.promptsListChanged))
            #expect(await heard.has(.resourcesListChanged))
            #expect(try await client.listTools().map(\.name) == ["one"])
            #expect(try await Self.uris(client) == ["docs:///a.md"])
        }
    }

    // The configuration and the prompts themselves.
    @Test(arguments: ways) func configuration(_ way: Way) async throws {
        try await Self.with(way) { directory, client, heard in
            let two = Self.configuration.replacing("\"one\"", with: "\"two\"")
            try directory.write("mcp.jsonc", two)
            #expect(await heard.has(.toolsListChanged))
            let tools = try await client.request("tools/list")["tools"]?.elements ?? []
            #expect(tools.compactMap { $0["name"]?.string } == ["two"])
            heard.clear()
            try directory.write("prompts/q.md", "Another")
            #expect(await heard.has(.promptsListChanged))
            let prompts = try await client.request("prompts/list")["prompts"]?.elements ?? []
            #expect(prompts.compactMap { $0["name"]?.string } == ["p", "q"])
            #expect(!heard.all.contains(.toolsListChanged))
            heard.clear()
            // Other files under the same name.
            try directory.makeDirectory("other")
            try directory.write("other/c.md", "c")
            try directory.write("mcp.jsonc", two.replacing("\"root\": \"docs\"", with: "\"root\": \"other\""))
            #expect(await heard.has(.resourcesListChanged))
            #expect(try await Self.uris(client) == ["docs:///c.md"])
            heard.clear()
            try directory.write("other/b.md", "b")
            #expect(await heard.has(.resourceUpdated("docs:///b.md")))
        }
    }

    /// A change, an addition and a removal of an included file are noticed like those of the main file.
    @Test func includedFiles() async throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/mcp.jsonc"
        try directory.makeDirectory("conf.d")
        try directory.write("mcp.jsonc", #"{"include":["conf.d/*.jsonc"]}"#)
        try directory.write("conf.d/a.jsonc", #"{"tools":{"one":{"exec":["true"]}}}"#)
        let program = try await WatchedProgram(configuration: file, socket: "\(directory.path)/s")
        try directory.write("conf.d/a.jsonc", #"{"tools":{"two":{"exec":["true"]}}}"#)
        #expect(await program.logs("+tool two -tool one"))
        try directory.write("conf.d/b.jsonc", #"{"tools":{"three":{"exec":["true"]}}}"#)
        #expect(await program.logs("+tool three"))
        try directory.write("conf.d/b.jsonc", #"{"tools":{"two":{"exec":["true"]}}}"#)
        #expect(await program.logs("tools.two is defined at"))
        #expect(unsafe unlink("\(directory.path)/conf.d/b.jsonc") == 0)
        #expect(await program.logs("-tool three"))
        // What no pattern names is of no interest.
        try directory.write("conf.d/note.txt", "x")
        try directory.write("conf.d/c.jsonc", #"{"tools":{"four":{"exec":["true"]}}}"#)
        #expect(await program.logs("+tool four"))
        await program.stop()
    }

    /// What was refused for its permissions is read again when they alone are mended.
    @Test func permissions() async throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/mcp.jsonc"
        try directory.write("mcp.jsonc", #"{"tools":{"one":{"exec":["true"]}}}"#)
        let program = try await WatchedProgram(configuration: file, socket: "\(directory.path)/s")
        #expect(unsafe chmod(file, 0o602) == 0)
        #expect(await program.logs("is writable by everyone"))
        #expect(await program.logs(#""event":"not reloaded""#))
        #expect(unsafe chmod(file, 0o600) == 0)
        #expect(await program.logs(#""event":"reloaded""#))
        await program.stop()
    }

    /// What could not be read is read again by itself, and the log says that it can be.
    @Test func aFileThatCanBeReadAgain() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("etc")
        try directory.write("etc/mcp.jsonc", #"{"tools":{"one":{"exec":["true"]}}}"#)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/etc/mcp.jsonc", socket: "\(directory.path)/s")
        // No event of the file tells of its directory.
        #expect(unsafe chmod("\(directory.path)/etc", 0o777) == 0)
        program.signal(SIGHUP)
        #expect(await program.logs(#""event":"not reloaded","reason":"SIGHUP""#))
        #expect(unsafe chmod("\(directory.path)/etc", 0o700) == 0)
        #expect(await program.logs(#""event":"reloaded","reason":"the file can be read again""#))
        await program.stop()
    }

    /// What SIGHUP has read is not read again because the watch reports it a moment later; and messages name
    /// the file as it was given, at the start and after a reload.
    @Test func hangupBeforeTheWatch() async throws {
        let directory = try TemporaryDirectory()
        let good = #"{"tools":{"one":{"exec":["true"]}}}"#
        try directory.write("mcp.jsonc", good)
        let program = try await WatchedProgram(
            ["-c", "mcp.jsonc", "--listen", "unix://\(directory.path)/s"], directory: directory.path)
        let refused = #""event":"not reloaded""#
        for round in 1 ... 3 {
            // Stopped, so that both are there when it goes on.
            program.signal(SIGSTOP)
            try directory.write("mcp.jsonc", #"{"tools":{"one":{"exec":[]}}} "# + "// \(round)")
            program.signal(SIGHUP)
            program.signal(SIGCONT)
            #expect(await program.logs(refused, times: round))
            // Read after everything that the watch had to report: a directory reports in order.
            try directory.write("mcp.jsonc", good)
            #expect(await program.logs(#""event":"reloaded""#, times: round))
        }
        await program.stop()
        #expect(program.output.ranges(of: refused).count == 3)
        #expect(program.output.contains(#""mcp.jsonc:1:"#) && !program.output.contains("/mcp.jsonc:1:"))
    }

    /// Two contents of the same size may have the same time: file systems count in ticks of milliseconds.
    @Test func aChangeWithinATick() async throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/mcp.jsonc"
        func write(_ name: String) throws {
            let text = #"{"tools":{"\#(name)":{"exec":["true"]}}}"#
            let bytes = Array(text.utf8)
            let opened = unsafe open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(opened >= 0)
            defer { close(opened) }
            #expect(unsafe pwrite(opened, bytes, bytes.count, 0) == bytes.count)
            // As in one tick.
            let moment = [
                timespec(tv_sec: 1_700_000_000, tv_nsec: 0), timespec(tv_sec: 1_700_000_000, tv_nsec: 0),
            ]
            #expect(unsafe futimens(opened, moment) == 0)
        }
        try write("one")
        let program = try await WatchedProgram(configuration: file, socket: "\(directory.path)/s")
        for (old, new) in [("one", "two"), ("two", "six")] {
            try write(new)
            #expect(await program.logs("+tool \(new) -tool \(old)"))
        }
        await program.stop()
    }

    /// A server does not read again what it has read at its start, however fresh the file is; and it does not
    /// miss a change before the file is watched.
    @Test func changesAroundTheStart() async throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/mcp.jsonc"
        try directory.makeFIFO("gate")
        let script = "echo > begun; cat gate; exec \(try WatchedProgram.path()) --demo --stdio"
        func configuration(_ name: String) -> String {
            """
            { "tools": { "\(name)": { "exec": ["true"] } },
              "mcpServers": { "other": { "command": "/bin/sh", "args": ["-c", "\(script)"],
                "cwd": "\(directory.path)", "required": true } } }
            """
        }
        try directory.write("mcp.jsonc", configuration("one"))
        let socket = "\(directory.path)/s"
        let starting = Task { try await WatchedProgram(configuration: file, socket: socket) }
        #expect(await eventually { unsafe access("\(directory.path)/begun", F_OK) == 0 })
        try directory.write("mcp.jsonc", configuration("two"))
        let gate = unsafe open("\(directory.path)/gate", O_WRONLY | O_CLOEXEC)
        close(gate)
        let program = try await starting.value
        #expect(await program.logs("+tool two -tool one"))
        try directory.write("mcp.jsonc", configuration("three"))
        #expect(await program.logs("+tool three -tool two"))
        #expect(program.output.ranges(of: #""event":"reloaded""#).count == 2, "\(program.output)")
        #expect(!program.output.contains("restart needed"))
        await program.stop()
    }

    // Fault row 87: SIGHUP reads the configuration again; one with a mistake changes nothing.
    @Test func hangup() async throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/mcp.jsonc"
        try directory.write("mcp.jsonc", #"{ "tools": { "one": { "exec": ["true"] } } }"#)
        let socket = "\(directory.path)/s.sock"
        let program = try await WatchedProgram(configuration: file, socket: socket)
        let client = try await MCPClient.connect(.unix(path: socket))
        // Clients may keep lists for a while.
        var options = CallOptions()
        options.usesCache = false
        let fresh = options
        func tools() async throws -> [String] {
            (try await client.request("tools/list", options: fresh)["tools"]?.elements ?? []).compactMap {
                $0["name"]?.string
            }
        }
        program.signal(SIGHUP)
        #expect(await program.logs("SIGHUP"))
        #expect(await program.logs(#""changes":"none""#))
        try directory.write("mcp.jsonc", #"{ "tools": { "two": { "exec": [] }, "tres": 1 }"#)
        #expect(await program.logs(#""event":"not reloaded""#))
        program.signal(SIGHUP)
        #expect(await program.logs(#""event":"not reloaded""#, times: 2))
        #expect(program.output.contains("mcp.jsonc:1:"))
        #expect(try await tools() == ["one"])
        try directory.write(
            "mcp.jsonc", #"{ "tools": { "two": { "exec": ["true"] } }, "limits": { "perConnection": 3 } }"#)
        #expect(await program.logs("+tool two -tool one"))
        #expect(await program.logs(#""event":"restart needed""#))
        #expect(program.output.contains(#""keys":"limits.perConnection""#))
        #expect(try await tools() == ["two"])
        // The file goes, and comes back.
        #expect(unsafe unlink(file) == 0)
        program.signal(SIGHUP)
        #expect(await program.logs(#""event":"not reloaded""#, times: 3))
        #expect(try await tools() == ["two"])
        await client.close()
        await program.stop()
    }
}
#endif

@Suite struct ConfigurationDifferenceTests {
    private static func load(_ text: String) throws -> Configuration {
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin", "HOME": "/root"]).load(
            SourceText(name: "mcp.jsonc", text: text), directory: "/", Diagnostics())
        try #require(outcome.diagnostics.errorCount == 0, "\(outcome.diagnostics.report)")
        return outcome.configuration
    }

    @Test(arguments: [
        ("{}", "{}", "none", ""),
        (#"{"tools":{"a":{"exec":["true"]}}}"#, "{}", "-tool a", ""),
        (
            #"{"tools":{"a":{"exec":["true"]},"b":{"exec":["true"]}}}"#,
            #"{"tools":{"b":{"exec":["true","x"]},"c":{"exec":["true"]}}}"#, "~tool b(exec) +tool c -tool a",
            ""
        ),
        ("{}", #"{"files":{"t":{"root":"/tmp"}}}"#, "+files t", ""),
        (
            #"{"files":{"t":{"root":"/tmp"}}}"#, #"{"files":{"t":{"root":"/tmp","watch":true}}}"#,
            "~files t(watch)",
            ""
        ),
        (
            #"{"tools":{"a":{"exec":["true"],"timeout":"10s"}}}"#,
            #"{"tools":{"a":{"exec":["true"],"timeout":"5s","description":"d"}},"coerce":"lenient"}"#,
            "~coerce ~tool a(description,timeout)", ""
        ),
        (
            #"{"mcpServers":{"m":{"command":"true","env":{"A":"secret"}}}}"#,
            #"{"mcpServers":{"m":{"command":"true","env":{"A":"other"},"idle":"5m"}}}"#,
            "~mcpServer m(idle,env)", ""
        ),
        (
            #"{"mcpServers":{"m":{"command":"true"}}}"#,
            #"{"mcpServers":{"m":{"url":"http://127.0.0.1:1"}}}"#,
            "~mcpServer m(command,url)", ""
        ),
        (
            #"{"mcpServers":{"m":{"command":"true"}}}"#,
            #"{"mcpServers":{"m":{"command":"true","protocol":"2025-11-25"}}}"#, "~mcpServer m(protocol)", ""
        ),
        (
            #"{"mcpServers":{"a":{"command":"true"},"b":{"command":"true"}}}"#,
            #"{"mcpServers":{"b":{"command":"true"},"a":{"command":"true"}}}"#, "~mcpServers(order)", ""
        ),
        (
            #"{"mcpServers":{"a":{"command":"true"},"b":{"command":"true"}}}"#,
            #"{"mcpServers":{"c":{"command":"true"},"b":{"command":"true"}}}"#,
            "+mcpServer c -mcpServer a", ""
        ),
        ("{}", #"{"tools":{"a":{"exec":["true"],"task":"optional"}}}"#, "+tool a", "tools.*.task"),
        ("{}", #"{"server":{"name":"x"}}"#, "none", "server.name"),
        (#"{"limits":{"connections":5}}"#, "{}", "none", "limits.connections"),
        ("{}", #"{"listen":["127.0.0.1:1"]}"#, "none", "listen"),
    ])
    func inWords(_ old: String, _ new: String, _ text: String, _ restart: String) throws {
        let running = try Self.load(old)
        let difference = ConfigurationDifference(running, try Self.load(new), started: running)
        #expect(difference.text == text)
        #expect(difference.needingRestart.joined(separator: " ") == restart)
    }

    /// What runs counts, not what the file said last.
    @Test func comparesWithWhatRuns() throws {
        let one = try Self.load(#"{"server":{"version":"1"}}"#)
        let two = try Self.load(#"{"server":{"version":"2"}}"#)
        let further = try Self.load(#"{"server":{"version":"2"},"tools":{"a":{"exec":["true"]}}}"#)
        #expect(ConfigurationDifference(one, two, started: one).needingRestart == ["server.version"])
        #expect(ConfigurationDifference(two, further, started: one).needingRestart == ["server.version"])
        #expect(ConfigurationDifference(further, one, started: one).needingRestart == [])
    }
}
