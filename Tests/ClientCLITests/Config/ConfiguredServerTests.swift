import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// Servers by name: where their files are searched, which one counts, and what is said when none does.
@Suite struct ConfiguredServerTests {
    let folder = TemporaryDirectory()
    let server: MCPServer
    var home: String { folder.path + "/home" }
    var project: String { folder.path + "/home/work/project" }

    init() throws {
        server = try OpsServer.make()
        for name in ["home", "home/work", "home/work/project", "home/work/project/sub", "home/.cursor"] {
            folder.makeDirectory(name)
        }
    }

    func harness(_ variables: [String: String] = [:], typed: [String]? = nil) -> CommandHarness {
        var harness = CommandHarness(server: server)
        harness.variables = ["HOME": home].merging(variables) { $1 }
        harness.directory = project + "/sub"
        harness.typed = typed
        return harness
    }

    let entry = #"{"mcpServers": {"ops": {"command": "ops", "env": {"TOKEN": "s3cret-value"}}}}"#

    func write(_ name: String, _ text: String) throws { try folder.write("home/" + name, text) }

    @Test(arguments: [
        (".cursor/mcp.json", #"{"mcpServers": {"ops": {"command": "ops"}}}"#),
        (
            ".claude.json",
            #"{"numStartups": 3, "mcpServers": {"ops": {"type": "stdio", "command": "ops", "args": []}}}"#
        ),
        (".claude.json", #"{"projects": {"PROJECT": {"mcpServers": {"ops": {"command": "ops"}}}}}"#),
        (".claude.json", "\u{FEFF}{\"mcpServers\": {\"ops\": {\"command\": \"ops\"}}}"),
    ])
    func filesOfOtherPrograms(name: String, text: String) async throws {
        try write(name, text.replacing("PROJECT", with: project))
        let outcome = await harness().run("info", "ops")
        #expect(outcome.code == .ok && outcome.connections == 1, "\(outcome.stderr)")
    }

    @Test func theOwnFileHasCommentsAndComesFirst() async throws {
        folder.makeDirectory("home/.config")
        folder.makeDirectory("home/.config/mcp")
        try write(
            ".config/mcp/mcp.jsonc", "{ // ours\n \"mcpServers\": {\"ops\": {\"command\": \"own\",},},}")
        try write(".cursor/mcp.json", #"{"mcpServers": {"ops": {"url": "http://other/"}}}"#)
        #expect(await harness().run("info", "ops").code == .ok)
        let list = await harness().run("config", "list")
        #expect(
            list.stdout == """
                ~/.config/mcp/mcp.jsonc
                  ops  own
                ~/.cursor/mcp.json
                  ops  http://other/
                       hidden by the one in ~/.config/mcp/mcp.jsonc

                """)
    }

    // MARK: Projects

    /// What a stranger's repository configures is neither started nor expanded before it was allowed.
    @Test(arguments: ["mcp.jsonc", ".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"])
    func aProjectIsAskedFor(name: String) async throws {
        for directory in [".vscode", ".cursor"] { folder.makeDirectory("home/work/project/" + directory) }
        try write("work/project/" + name, entry)
        let refused = await harness().run("info", "ops")
        #expect(refused.code == .usage && refused.connections == 0)
        #expect(
            refused.stderr == """
                error: the server "ops" of this project has not been allowed yet
                  ~/work/project/\(name):1:17: ops
                  env: TOKEN=***
                  nothing was started or sent
                hint: mcp-client config allow ops allows it until it changes

                """)
        for typed in [["n"], [""], ["yup"], []] {
            #expect(await harness(typed: typed).run("info", "ops").code == .usage)
        }
        let asked = await harness(typed: ["y"]).run("info", "ops")
        #expect(asked.code == .ok && asked.connections == 1)
        #expect(asked.stderr.contains("configures \"ops\":\n  ops\n  env: TOKEN=***\n(without a terminal:"))
        #expect(
            asked.stderr.contains("mcp-client config allow ops)\nuse it, now and until it changes? [y/N] "))
        #expect(await harness().run("info", "ops").code == .ok)
        try write("work/project/" + name, entry.replacing("\"ops\",", with: "\"evil\","))
        #expect(await harness().run("info", "ops").connections == 0)
        let allowed = await harness().run("config", "allow", "ops")
        #expect(allowed.code == .ok && allowed.stderr.contains("env: TOKEN=***"))
        #expect(await harness().run("info", "ops").code == .ok)
    }

    func file(_ name: String, _ text: String) throws {
        let path = "work/project/" + name
        try write(path, text)
        _ = try ProcessRunner.run(ProcessLaunch("chmod", ["600", folder.path + "/home/" + path]))
    }

    // MARK: Names of other forms

    static let forms = [
        "io.github.github/github-mcp-server", ".hidden", "@scope/server", "a:b", "~x", "example.com:80",
    ]

    /// VS Code writes names such as `io.github.github/github-mcp-server`.
    @Test(arguments: forms) func namesOfOtherForms(name: String) async throws {
        try write(".cursor/mcp.json", #"{"mcpServers": {"\#(name)": {"command": "ops"}}}"#)
        let outcome = await harness().run("info", name)
        #expect(outcome.code == .ok && outcome.connections == 1, "\(outcome.stderr)")
        let chosen = await harness(["MCP_TARGET": name]).run("info", ".")
        #expect(chosen.code == .ok, "\(chosen.stderr)")
        #expect(await !harness().run("config", "check").stdout.contains("by this name"))
        #expect(await harness().run("config", "import").code == .ok)
        #expect(await harness().run("config", "remove", name).code == .ok)
        #expect(await harness().run("config", "add", name, "localhost:1").code == .ok)
        #expect(await harness().run("info", name).code == .ok)
        // Any other word is what it was.
        let missing = await harness().run("info", "./nothing")
        #expect(missing.stderr.contains("\"./nothing\" is not a target"), "\(missing.stderr)")
    }

    @Test(arguments: ["http://127.0.0.1:1/mcp", "localhost:1", "server.json", "x.jsonl", "unix:///x"])
    func namesThatStayAddressesAndFiles(name: String) async throws {
        try write(".cursor/mcp.json", #"{"mcpServers": {"\#(name)": {"command": "ops"}}}"#)
        let targets = Mutex<[Target]>([])
        var harness = harness()
        harness.beforeConnecting = { target in targets.withLock { $0.append(target) } }
        _ = await harness.run("info", name)
        #expect(targets.withLock { $0.allSatisfy { $0 != .program(["ops"]) } })
        let check = await harness.run("config", "check")
        #expect(check.stdout.contains("cannot be used by this name"), "\(check.stdout)")
        let imported = await harness.run("config", "import")
        #expect(
            imported.stderr.contains("not imported: ") && imported.stderr.contains("nothing to import"),
            "\(imported.stderr)")
        #expect(await harness.run("config", "add", name, "http://localhost:1/mcp").code == .usage)
    }

    /// A word that a person types to name a file is never the name that a project chose, nor any other.
    @Test func filesAndProjectsDoNotBecomeNames() async throws {
        try write("work/project/.mcp.json", #"{"mcpServers": {"a/b": {"command": "ops"}}}"#)
        let project = await harness().run("info", "a/b")
        #expect(project.stderr.contains("\"a/b\" is not a target"), "\(project.stderr)")
        let check = await harness().run("config", "check")
        #expect(check.stdout.contains("in a project, a name has no / and :"), "\(check.stdout)")
        let path = folder.path + "/home/.cursor/mcp.json"
        try write(".cursor/mcp.json", #"{"mcpServers": {"\#(path)": {"command": "ops"}}}"#)
        let file = await harness().run("info", path)
        #expect(file.code == .usage && file.connections == 0, "\(file.stderr)")
    }

    @Test func theNearestProjectCounts() async throws {
        try write("work/.mcp.json", #"{"mcpServers": {"far": {"command": "x"}}}"#)
        try write("work/project/.mcp.json", #"{"mcpServers": {"near": {"command": "x"}}}"#)
        let names = await harness().run("--select", ".servers", "config", "list")
        #expect(names.code == .usage)
        let list = await harness().run("config", "list")
        #expect(list.stdout.contains("near") && !list.stdout.contains("far"))
    }

    @Test(arguments: ["link", "writable", "fifo"])
    func aProjectFileThatIsNotTakenAtItsWord(kind: String) async throws {
        let path = "home/work/project/.mcp.json"
        switch kind {
        case "link":
            try folder.write("secret.json", entry)
            folder.link(path, to: folder.path + "/secret.json")
        case "writable":
            try folder.write(path, entry)
            _ = try ProcessRunner.run(ProcessLaunch("chmod", ["666", folder.path + "/" + path]))
        default: _ = try ProcessRunner.run(ProcessLaunch("mkfifo", [folder.path + "/" + path]))
        }
        let outcome = await harness(typed: ["y"]).run("info", "ops")
        #expect(outcome.code == .usage && outcome.connections == 0)
        #expect(
            outcome.stderr.hasPrefix("error: ~/work/project/.mcp.json cannot be used\n"), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("no other file has a server named \"ops\""))
    }

    /// The server that was meant may be in the part that cannot be read.
    @Test(arguments: [
        (#"{"mcpServers": {"ops": {"command": "a"}, "ops": {"command": "b"}}}"#, "duplicate key \"ops\""),
        (#"{"mcpServers": {"ops": {"command": "a"} "#, "has no closing }"),
        (#"{"mcpServers": []}"#, "mcpServers must be an object, not an array"),
    ])
    func aDamagedFileIsNotSkipped(text: String, problem: String) async throws {
        try write(".cursor/mcp.json", entry)
        let chosen = folder.path + "/chosen.json"
        try folder.write("chosen.json", text)
        let outcome = await harness(["MCP_CONFIG": chosen]).run("info", "ops")
        #expect(outcome.code == .usage && outcome.connections == 0)
        #expect(
            outcome.stderr.contains("cannot be used") && outcome.stderr.contains(problem), "\(outcome.stderr)"
        )
    }

    /// A server of the same name from another file is used, and that is said.
    @Test func aProjectFileThatIsPassedOverIsNamed() async throws {
        try write(".cursor/mcp.json", entry)
        try write("work/project/.mcp.json", "{ broken")
        let outcome = await harness().run("info", "ops")
        #expect(outcome.code == .ok)
        #expect(outcome.stderr.contains(".mcp.json:1:3: error:"), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("; \"ops\" comes from ~/.cursor/mcp.json\n"), "\(outcome.stderr)")
        try write("work/project/.mcp.json", "{}")
        #expect(await !harness().run("info", "ops").stderr.contains("comes from"))
    }

    /// What is wrong with a project's file comes first, with its place, and before anything is allowed.
    @Test func aBrokenProjectFileIsNamedFirst() async throws {
        try write("work/project/.mcp.json", "{ \"mcpServers\": {\n \"ops\": { \"command\": \"x\" ")
        for words in [["info", "ops"], ["info", "."], ["find", "*"]] {
            let outcome = await harness().run(words)
            #expect(outcome.code == .usage)
            #expect(
                outcome.stderr.hasPrefix(
                    "error: ~/work/project/.mcp.json cannot be used\n"
                        + "  ~/work/project/.mcp.json:2:9: error: this { has no closing }\n"),
                "\(outcome.stderr)")
        }
    }

    /// VS Code's `envFile`; the variables of `env` win.
    @Test func aFileOfVariables() async throws {
        folder.makeDirectory("home/env")
        try write(
            "env/a.env",
            "# settings\r\nexport TOKEN='s3cret-value' \nLEVEL=2 # more\n\nNAME=\"a \\\"b\\\"\\n\"\nX=1\n")
        try write(
            ".cursor/mcp.json",
            #"{"mcpServers": {"ops": {"command": "ops", "envFile": "${userHome}/env/a.env", "env": {"X": "2"}}}}"#
        )
        let outcome = await harness().run("info", "ops")
        #expect(outcome.code == .ok && outcome.connections == 1, "\(outcome.stderr)")
        try write("env/a.env", "A=1\nno variable s3cret-value\n")
        let broken = await harness().run("info", "ops")
        #expect(broken.code == .usage && broken.connections == 0)
        #expect(broken.stderr.contains("a.env:2: expected NAME=value"), "\(broken.stderr)")
        #expect(!broken.stderr.contains("s3cret-value"))
    }

    @Test func aConfiguredServerUnderAnotherName() async throws {
        try write(".cursor/mcp.json", entry)
        try write("s.jsonl", #"{"text": "done"}"#)
        let harness = harness()
        let words = ["agent", "hello", "--server", "mine=ops", "--model", "script:\(home)/s.jsonl"]
        let outcome = await harness.run(words + ["--trust", "mine"])
        #expect(outcome.code == .ok && outcome.connections == 1, "\(outcome.stderr)")
        let other = await harness.run(words + ["--trust", "server1"])
        #expect(other.code == .usage && other.connections == 0)
        #expect(
            other.stderr.contains("\n  servers: mine\nhint: NAME is a configured name"), "\(other.stderr)")
        let twice = await harness.run(words + ["--server", "mine=localhost:1"])
        #expect(twice.code == .usage && twice.stderr.contains("two servers are named \"mine\""))
    }

    @Test func aChosenFileThatDoesNotExist() async throws {
        try write(".cursor/mcp.json", entry)
        let variables = ["MCP_CONFIG": folder.path + "/none.json"]
        let outcome = await harness(variables).run("info", "ops")
        #expect(outcome.code == .usage && outcome.connections == 0)
        #expect(outcome.stderr.hasPrefix("error: MCP_CONFIG names \(folder.path)/none.json, which does not"))
        #expect(await harness(variables).run("config", "list").stderr.contains("note: MCP_CONFIG names"))
    }

    // MARK: Checks

    // MARK: Variables

    /// A bare number is milliseconds, as other programs read it; the flag wins.
    @Test func theTimeoutOfAllCommands() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            case "tools/list":
                .result(
                    heard,
                    #"{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#)
            default: HTTPPeer.Answer(pieces: [], then: .hang)
            }
        }
        defer { peer.stop() }
        for (variable, flags, limit) in [
            ("300", [], "300 ms"), ("2s", [], "2 s"), ("10m", ["--timeout", "400ms"], "400 ms"),
        ] as [(String, [String], String)] {
            var harness = harness(["MCP_TIMEOUT": variable])
            harness.connectsToTargets = true
            let outcome = await harness.run(flags + ["call", peer.endpoint, "t"])
            #expect(outcome.code == .timeout)
            #expect(
                outcome.stderr.hasPrefix("error: no response to tools/call within \(limit);"),
                "\(outcome.stderr)")
        }
        let wrong = await harness(["MCP_TIMEOUT": "soon"]).run("tools", "localhost:1")
        #expect(wrong.code == .usage && wrong.connections == 0)
        #expect(wrong.stderr.hasPrefix("error: MCP_TIMEOUT \"soon\" is not a time\n"))
    }

    // MARK: Words

    @Test func aNameThatIsUnknown() async throws {
        try write(".cursor/mcp.json", entry)
        let outcome = await harness(["PATH": "/bin"]).run("tools", "opx")
        #expect(outcome.code == .usage)
        #expect(
            outcome.stderr.hasPrefix(
                "error: no server named \"opx\" is configured\n  did you mean ops?\n  searched: ~/.cursor/mcp.json\n  not found: ~/.config/mcp/mcp.jsonc, ~/.claude.json,"
            ))
        let program = await harness(["PATH": "/bin"]).run("tools", "sh")
        #expect(program.stderr.contains("hint: a program comes last, after --:  mcp-client tools … -- sh\n"))
    }

    /// An address behind the other words is meant as TARGET.
    @Test func anAddressInTheWrongPlace() async throws {
        let outcome = await harness().run("call", "add", "a=1", "localhost:28811")
        #expect(outcome.code == .usage && outcome.connections == 0)
        #expect(
            outcome.stderr.hasSuffix("hint: TARGET comes first: mcp-client call localhost:28811 add a=1\n"),
            "\(outcome.stderr)")
    }

    @Test func theDotIsTheOnlyServerOrTheChosenOne() async throws {
        #expect(await harness().run("info", ".").stderr.contains("no server is configured"))
        try write(".cursor/mcp.json", entry)
        #expect(await harness().run("info", ".").code == .ok)
        try write(
            ".claude.json",
            #"{"mcpServers": {"docs": {"url": "http://h/"}, "off": {"command": "x", "disabled": true}}}"#)
        let two = await harness().run("info", ".")
        #expect(two.code == .usage && two.stderr.contains("there are 2\n  servers: docs, ops\n"))
        #expect(await harness(["MCP_TARGET": "docs"]).run("info", ".").code == .ok)
        #expect(await harness(["MCP_TARGET": "localhost:1/x"]).run("info", ".").code == .ok)
        #expect(
            await harness(["MCP_TARGET": "ftp://x"]).run("info", ".").stderr.contains("MCP_TARGET: ftp://"))
        #expect(await harness().run("info", "off").stderr.contains("the server \"off\" is disabled"))
    }

    /// What is unset is said, by its place in the file; secrets are not.
    @Test func placeholders() async throws {
        try write(
            ".cursor/mcp.json",
            #"{"inputs": [{"id": "org", "description": "Name\u001b[2J", "default": "acme"}, {"id": "key", "password": true}], "#
                + #""mcpServers": {"a": {"command": "x", "env": {"K": "${NOT_SET}", "L": "${ALSO:-d}"}}, "#
                + #""b": {"command": "x", "args": ["${input:org}"]}, "c": {"command": "x", "args": ["${input:key}"]}, "#
                + #""d": {"command": "${userHome}/x", "cwd": "${workspaceFolder}"}}}"#)
        let unset = await harness().run("info", "a")
        #expect(unset.code == .usage && unset.stderr.contains("${NOT_SET} is not set (used by env.K)"))
        #expect(await harness(["NOT_SET": "x"]).run("info", "a").code == .ok)
        let asked = await harness(typed: [""]).run("info", "b")
        #expect(asked.code == .ok && asked.stderr.contains("b: Name\\e[2J [acme]: "), "\(asked.stderr)")
        let missing = await harness().run("info", "b")
        #expect(missing.stderr.contains("${input:org}: set the variable MCP_INPUT_ORG"))
        let password = await harness(typed: ["visible"]).run("info", "c")
        #expect(password.stderr.contains("${input:key}: set the variable MCP_INPUT_KEY"))
        #expect(await harness(["MCP_INPUT_KEY": "k"]).run("info", "c").code == .ok)
        #expect(await harness().run("info", "d").code == .ok)
    }

    // MARK: The own file

    // MARK: Secrets
}
