import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// Servers by name: where their files are searched, which one counts, and what is said when none does.
@Suite struct ConfiguredServerTests {
    private let folder = TemporaryDirectory()
    private let server: MCPServer
    private var home: String { folder.path + "/home" }
    private var project: String { folder.path + "/home/work/project" }

    init() throws {
        server = try OpsServer.make()
        for name in ["home", "home/work", "home/work/project", "home/work/project/sub", "home/.cursor"] {
            folder.makeDirectory(name)
        }
    }

    private func harness(_ variables: [String: String] = [:], typed: [String]? = nil) -> CommandHarness {
        var harness = CommandHarness(server: server)
        harness.variables = ["HOME": home].merging(variables) { $1 }
        harness.directory = project + "/sub"
        harness.typed = typed
        return harness
    }

    private let entry = #"{"mcpServers": {"ops": {"command": "ops", "env": {"TOKEN": "s3cret-value"}}}}"#

    private func write(_ name: String, _ text: String) throws { try folder.write("home/" + name, text) }

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

    /// The texts of its files decide, too, which program an entry starts, and with what.
    @Test func anEntryWithOtherFilesIsAnotherOne() async throws {
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"command": "git", "args": ["${file:arg}"], "envFile": "e.env"}}}"#)
        func file(_ name: String, _ text: String) throws {
            let path = "work/project/" + name
            try write(path, text)
            _ = try ProcessRunner.run(ProcessLaunch("chmod", ["600", folder.path + "/home/" + path]))
        }
        try file("arg", "--version")
        try file("e.env", "A=1")
        #expect(await harness().run("info", "ops").connections == 0)
        let allowed = await harness().run("config", "allow", "ops")
        #expect(
            allowed.code == .ok
                && allowed.stderr.hasSuffix("  envFile: e.env\n    A=1\n  contents of arg: --version\n"),
            "\(allowed.stderr)")
        #expect(await harness().run("info", "ops").connections == 1)
        for (name, text, before) in [("e.env", "PATH=/evil", "A=1"), ("arg", "--exec=evil", "--version")] {
            try file(name, text)
            #expect(await harness().run("info", "ops").connections == 0, "\(name)")
            try file(name, before)
            #expect(await harness().run("info", "ops").connections == 1, "\(name)")
        }
    }

    /// A file that changes while the question is open changes nothing of what was asked about.
    @Test func whatWasShownIsWhatIsUsed() async throws {
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"command": "git", "args": ["${file:arg}"], "envFile": "e.env"}}}"#)
        try file("arg", "--version")
        try file("e.env", "A=1")
        let targets = Mutex<[Target]>([])
        let variables = Mutex<[String]>([])
        var harness = harness(typed: ["y"])
        harness.beforeConnecting = { target in targets.withLock { $0.append(target) } }
        harness.seeOptions = { options in
            variables.withLock { $0 += options.environment.map { "\($0.name)=\($0.value)" } }
        }
        harness.whileAsked = {
            try? file("arg", "--exec=evil")
            try? file("e.env", "PATH=/evil")
        }
        let asked = await harness.run("info", "ops")
        #expect(asked.code == .ok, "\(asked.stderr)")
        #expect(targets.withLock { $0 } == [.program(["git", "--version"])])
        #expect(variables.withLock { $0 } == ["A=1"])
        // What is there now is something else.
        #expect(await self.harness().run("info", "ops").connections == 0)
        try file("arg", "--version")
        try file("e.env", "A=1")
        #expect(await self.harness().run("info", "ops").connections == 1)
    }

    /// The question shows the file that its path leads to without an answer.
    @Test func aPathOfVariablesThatDependsOnAnInput() async throws {
        try write(
            "work/project/.mcp.json",
            #"{"inputs": [{"id": "f", "default": "evil.env"}], "#
                + #""mcpServers": {"ops": {"command": "git", "envFile": "${input:f}"}}}"#)
        try file("evil.env", "PATH=/evil")
        let outcome = await harness(typed: ["y", ""]).run("info", "ops")
        #expect(outcome.code == .usage && outcome.connections == 0)
        #expect(
            outcome.stderr.contains(
                "envFile: in a project, its path cannot depend on an input or on a file of yours"),
            "\(outcome.stderr)")
    }

    private func file(_ name: String, _ text: String) throws {
        let path = "work/project/" + name
        try write(path, text)
        _ = try ProcessRunner.run(ProcessLaunch("chmod", ["600", folder.path + "/home/" + path]))
    }

    // MARK: Names of other forms

    private static let forms = [
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

    @Test func wrongTypesAreNamedBeforeAServerIsAllowed() async throws {
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"command": ["x"], "args": "--y", "env": {"A": "${NONE}"}}}}"#)
        for words in [["info", "ops"], ["config", "allow", "ops"]] {
            let outcome = await harness(typed: ["y"]).run(words)
            #expect(outcome.code == .usage && outcome.connections == 0)
            #expect(
                outcome.stderr.contains("has a command that must be a string, not an array\n"),
                "\(outcome.stderr)")
            #expect(!outcome.stderr.contains("allowed yet") && !outcome.stderr.contains("[y/N]"))
        }
        let list = await harness().run("config", "list")
        #expect(list.stdout.contains("cannot be used: ") && list.stdout.contains(":1:36: error:"))
        // What a placeholder stands for is not known yet.
        try write("work/project/.mcp.json", #"{"mcpServers": {"ops": {"url": "${U}", "type": "${T}"}}}"#)
        #expect(await harness().run("info", "ops").stderr.contains("has not been allowed yet"))
    }

    /// What decides what runs is shown in full, wherever a project's server is shown: long command lines, what
    /// long blanks would move out of sight, literal variables, the directory.
    @Test func aQuestionHidesNothing() async throws {
        let path = String(repeating: "a/", count: 200)
        let code = "echo hello" + String(repeating: " ", count: 500) + "; touch \(path)x\nexit"
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"command": "sh", "args": ["-c", "#
                + JSONValue.string(code).serialized()
                + #", "ghp_evil1.sh", "--key", "S3CRET1"], "cwd": "evil dir", "env": {"#
                + #""NODE_OPTIONS": "--require ./evil.js", "GIT_CONFIG_KEY_0": "core.sshCommand", "#
                + #""API_TOKEN": "S3CRET2", "HOME_KEY": "${HOME}"}}}}"#)
        let shown = [
            "sh -c 'echo hello⟨500 blanks⟩; touch \(path)x⏎exit' ghp_evil1.sh --key '***'\n",
            "  cwd: evil dir\n", "  env: NODE_OPTIONS=--require ./evil.js\n",
            "  env: GIT_CONFIG_KEY_0=core.sshCommand\n", "  env: API_TOKEN=***\n",
            "  env: HOME_KEY=${HOME}\n",
        ]
        let asked = await harness(typed: ["n"]).run("info", "ops")
        let refused = await harness().run("info", "ops")
        let get = await harness().run("config", "get", "ops")
        let allowed = await harness().run("config", "allow", "ops")
        #expect(asked.connections == 0 && refused.connections == 0)
        for text in [asked.stderr, refused.stderr, allowed.stderr] {
            // The last line of a note ends it.
            for part in shown { #expect((text + "\n").contains(part), "\(part): \(text)") }
            #expect(!text.contains("S3CRET"), "\(text)")
        }
        for part in ["--require ./evil.js", "touch \(path)x", "ghp_evil1.sh", "core.sshCommand", "evil dir"] {
            #expect(get.stdout.contains(part), "\(get.stdout)")
        }
        #expect(!get.stdout.contains("S3CRET"))
    }

    /// The address is shown in full, without the user; header fields that are secret are masked.
    @Test func aQuestionAboutAnAddress() async throws {
        let path = String(repeating: "a", count: 300)
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"url": "https://good.example@evil.example/\#(path)?key=S3CRET&x=a.b", "#
                + #""headers": {"Authorization": "Bearer S3CRET", "X-Mode": "all"}, "#
                + #""oauth": {"clientId": "me", "issuer": "https://evil.example"}}}}"#)
        let asked = await harness(typed: ["n"]).run("info", "ops")
        for part in [
            "  https://***@evil.example/\(path)?key=***&x=a.b\n", "  headers: Authorization=***\n",
            "  headers: X-Mode=all\n", "  oauth: issuer=https://evil.example\n",
        ] { #expect(asked.stderr.contains(part), "\(part): \(asked.stderr)") }
        #expect(asked.connections == 0 && !asked.stderr.contains("S3CRET"))
    }

    /// A question whose beginning would scroll away is not asked.
    @Test func aQuestionThatIsTooLong() async throws {
        let words = (0 ..< 3_000).map { "\"w\($0)\"" }.joined(separator: ",")
        try write(
            "work/project/.mcp.json", #"{"mcpServers": {"ops": {"command": "ops", "args": [\#(words)]}}}"#)
        let asked = await harness(typed: ["y"]).run("info", "ops")
        #expect(asked.code == .usage && asked.connections == 0 && !asked.stderr.contains("[y/N]"))
        #expect(asked.stderr.contains("is too long for a question\n"), "\(asked.stderr)")
        #expect(asked.stderr.contains("hint: mcp-client config get ops shows all of it, config allow "))
        let refused = await harness().run("info", "ops")
        #expect(
            refused.stderr.contains(" characters; mcp-client config get ops shows them\n")
                && refused.stderr.utf8.count < 1_000)
        #expect(await harness().run("config", "allow", "ops").stderr.contains(" w2999"))
        #expect(await harness().run("info", "ops").code == .ok)
    }

    /// What Enter stands for at a question of a project's file is not cut.
    @Test func theDefaultOfAnInputIsShown() async throws {
        let value = String(repeating: "a ", count: 150) + "the end"
        try write(
            "work/project/.mcp.json",
            #"{"inputs": [{"id": "k", "default": "\#(value)"}], "#
                + #""mcpServers": {"ops": {"command": "ops", "args": ["${input:k}"]}}}"#)
        let asked = await harness(typed: ["y", ""]).run("info", "ops")
        #expect(asked.code == .ok && asked.stderr.contains("ops: k [\(value)]: "), "\(asked.stderr)")
    }

    /// The variables of a project's file decide what runs, too; the file is the one that its placeholders name.
    @Test func theVariablesOfAProjectsFileAreShown() async throws {
        let file = "work/project/a.env"
        try write(file, "NODE_OPTIONS=--require ./evil.js\nTOKEN=S3CRET\n")
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"command": "ops", "envFile": "${workspaceFolder}/a.env"}}}"#)
        let asked = await harness(typed: ["y"]).run("info", "ops")
        #expect(asked.code == .ok && !asked.stderr.contains("S3CRET"), "\(asked.stderr)")
        #expect(
            asked.stderr.contains(
                "  envFile: ${workspaceFolder}/a.env\n    NODE_OPTIONS=--require ./evil.js\n    TOKEN=***\n"),
            "\(asked.stderr)")
        #expect(await harness().run("info", "ops").code == .ok)
        try write(file, "NODE_OPTIONS=--require ./other.js\n")
        #expect(await harness().run("info", "ops").stderr.contains("has not been allowed yet"))
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

    /// What would stop a server from starting is found without starting it.
    @Test func checkFindsMistakes() async throws {
        try write(
            ".cursor/mcp.json",
            #"{"mcpServers": {"good": {"command": "/bin/sh", "env": {"TOKEN": "s3cret-value"}},"# + "\n"
                + #""odd": {"command": "sh", "autoApprove": ["x"]},"# + "\n"
                + #""unset": {"url": "https://${NOT_SET}/"},"# + "\n"
                + #""gone": {"command": "no-such-program-here"},"# + "\n"
                + #""bad": {"command": "sh", "arsg": []}}}"#)
        let outcome = await harness(["PATH": "/usr/bin:/bin"]).run("config", "check")
        #expect(outcome.code == .checkFailed && outcome.connections == 0)
        let lines = outcome.stdout.split(separator: "\n")
        #expect(lines.count == 4, "\(outcome.stdout)")
        for part in [
            "2:26: warning: the server \"odd\" has a member \"autoApprove\", which is ignored",
            "error: ${NOT_SET} is not set", "4:1: error: the server \"gone\" cannot be started: ",
            "5:26: error: the server \"bad\" has an unknown member \"arsg\"; did you mean args?",
        ] {
            #expect(
                lines.contains { $0.hasPrefix("~/.cursor/mcp.json:") && $0.contains(part) },
                "\(part)\n\(outcome.stdout)")
        }
        #expect(outcome.stderr == "5 servers · 3 errors · 1 warning\n", "\(outcome.stderr)")
        #expect(!outcome.stdout.contains("s3cret"))
        let good = await harness(["PATH": "/usr/bin:/bin"]).run("config", "check", "good")
        #expect(good.code == .ok && good.stdout.isEmpty)
        #expect(good.stderr == "1 server · 0 errors · 0 warnings\n")
        let json = await harness(["PATH": "/usr/bin:/bin"]).run("--json", "config", "check")
        let found = try JSONValue(parsing: json.stdout)
        #expect(
            json.code == .checkFailed && found["ok"] == false && found["findings"]?.arrayValue?.count == 4)
    }

    /// Nothing of a stranger's project is looked up before it is allowed.
    @Test func checkExpandsNothingOfAProject() async throws {
        try write("work/project/.mcp.json", #"{"mcpServers": {"ops": {"command": "${NOT_SET}"}}}"#)
        let outcome = await harness().run("config", "check")
        #expect(outcome.code == .ok && outcome.stdout.isEmpty, "\(outcome.stdout)")
        #expect(
            outcome.stderr == "1 server · 0 errors · 0 warnings · "
                + "checked in form only, until mcp-client config allow allows them: 1\n")
        try write("work/project/.mcp.json", "{")
        #expect(await harness().run("config", "check").code == .checkFailed)
    }

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

    @Test func addingAndRemoving() async throws {
        let own = home + "/.config/mcp/mcp.jsonc"
        for words in [
            ["add", "docs", "localhost:3000"],
            ["add", "-e", "K=v", "files", "--", "./server", "--root", "/"],
        ] {
            let outcome = await harness().run(["config"] + words)
            #expect(outcome.code == .ok, "\(outcome.stderr)")
        }
        #expect(try Files.info(own).permissions & 0o777 == 0o600)
        func text() throws -> String {
            String(decoding: try Files.read(own, maxBytes: 1 << 16), as: UTF8.self)
        }
        #expect(
            try text() == """
                {
                  "mcpServers": {
                    "docs": {"url":"http://localhost:3000/mcp"},
                    "files": {"command":"\(project)/sub/server","args":["--root","/"],"env":{"K":"v"}}
                  }
                }

                """)
        #expect(
            await harness().run("config", "add", "docs", "localhost:1").stderr.contains(
                "already has a server"))
        try folder.write(
            "home/.config/mcp/mcp.jsonc", try text().replacing("{\n  \"mcp", with: "{ // mine, }\n  \"mcp"))
        #expect(await harness().run("config", "remove", "files").code == .ok)
        #expect(
            try text() == """
                { // mine, }
                  "mcpServers": {
                    "docs": {"url":"http://localhost:3000/mcp"}
                  }
                }

                """)
        #expect(await harness().run("config", "remove", "docs").code == .ok)
        #expect(await harness().run("config", "add", "again", "localhost:2").code == .ok)
        #expect(await harness().run("info", "again").code == .ok)
        let gone = await harness().run("config", "remove", "agian")
        #expect(
            gone.stderr.contains("has no server \"agian\"\n  did you mean again?\nhint: mcp-client config "),
            "\(gone.stderr)")
        #expect(await harness().run("config", "rm", "x").stderr.contains("did you mean config remove?"))
        let unknown = await harness().run("config", "get", "nope")
        #expect(unknown.stderr.hasSuffix("\nhint: mcp-client config list shows the servers\n"))
        let host = await harness().run("tools", "127.0.0.1")
        #expect(host.stderr.hasSuffix("\nhint: an address has a port: 127.0.0.1:PORT\n"), "\(host.stderr)")
        try folder.write("home/.config/mcp/mcp.jsonc", "{ broken")
        let broken = await harness().run("config", "add", "x", "localhost:3")
        #expect(broken.code == .usage)
        #expect(try text() == "{ broken")
    }

    /// A new server comes last, and comments stay with the members that they are about.
    @Test(arguments: [
        ("{\"a\": {\"url\": \"http://a/\"}}", "{\"a\": {\"url\": \"http://a/\"},\n    NEW}"),
        (
            "{\n    \"a\": {\"url\": \"http://a/\"} // mine\n  }",
            "{\n    \"a\": {\"url\": \"http://a/\"}, // mine\n    NEW\n  }"
        ),
        (
            "{\n    \"a\": {\"url\": \"http://a/\"}, // mine\n  }",
            "{\n    \"a\": {\"url\": \"http://a/\"}, // mine\n    NEW,\n  }"
        ),
        (
            "{\"a\": {\"url\": \"http://a/\"} /* one */ , /* two */ }",
            "{\"a\": {\"url\": \"http://a/\"} /* one */ ,\n    NEW, /* two */ }"
        ),
        ("{}", "{\n    NEW}"), ("{ // none\n}", "{\n    NEW // none\n}"),
    ])
    func aNewServerComesLast(before: String, after: String) async throws {
        for directory in [".config", ".config/mcp"] { folder.makeDirectory("home/" + directory) }
        try write(".config/mcp/mcp.jsonc", "{\"mcpServers\": \(before)}\n")
        #expect(await harness().run("config", "add", "new", "localhost:2").code == .ok)
        let text = String(
            decoding: try Files.read(home + "/.config/mcp/mcp.jsonc", maxBytes: 1 << 16), as: UTF8.self)
        let new = "\"new\": {\"url\":\"http://localhost:2/mcp\"}"
        #expect(text == "{\"mcpServers\": \(after.replacing("NEW", with: new))}\n")
        #expect(await harness().run("info", "new").code == .ok)
    }

    @Test func whatOthersConfiguredIsImported() async throws {
        try write(".cursor/mcp.json", entry)
        #expect(
            await harness().run("config", "import").stderr == "imported ops into ~/.config/mcp/mcp.jsonc\n")
        #expect(
            await harness().run("config", "import", "ops").stderr
                == "not imported: ops (~/.cursor/mcp.json:1:17): ~/.config/mcp/mcp.jsonc has one of this name\n"
                + "nothing to import\n")
        #expect(await harness().run("config", "remove", "ops").code == .ok)
        #expect(await harness().run("config", "import", "nope").code == .usage)
        let get = await harness().run("--json", "config", "get", "ops")
        #expect(get.stdout == #"{"command":"ops","env":{"TOKEN":"***"}}"# + "\n")
    }

    @Test(arguments: [
        ["config", "add"], ["config", "add", "x"], ["config", "add", "server.json", "localhost:1"],
        ["config", "add", ".", "localhost:1"], ["config", "add", "x", "localhost:1", "y"],
        ["config", "list", "x"], ["config", "get"], ["config", "lst"], ["config", "get", "nope"],
        ["config", "add", "-H", "A: b", "x", "--", "prog"],
    ])
    func whatMeansNothing(words: [String]) async {
        #expect(await harness().run(words).code == .usage)
    }

    // MARK: Secrets

    @Test(arguments: [
        (#"{"url": "unix:///run/a.sock#/mcp"}"#, #"{"url":"unix:///run/a.sock#/mcp"}"#),
        (
            #"{"url": "https://u:p@h/x?api_key=S3CRET&v=${V}#f"}"#,
            #"{"url":"https://***@h/x?api_key=***&v=${V}***"}"#
        ),
        (
            #"{"command": "x", "args": ["--token", "S3CRET", "--api-key=S3CRET", "-v", "y"]}"#,
            #"{"command":"x","args":["--token","***","--api-key=***","-v","y"]}"#
        ),
        (
            #"{"command": "x", "args": ["ghp_S3CRET", "-k", "sk-S3CRETabc", "sk-learn", "-p", "8080"]}"#,
            #"{"command":"x","args":["***","-k","***","sk-learn","-p","8080"]}"#
        ),
        (
            #"{"command": "sh", "args": ["-c", "exec env TOKEN='S3CRET x' srv --pin S3CRET -n 2; echo glpat-S3CRET"]}"#,
            #"{"command":"sh","args":["-c","exec env \"TOKEN=***\" srv --pin *** -n 2; echo ***"]}"#
        ),
        (
            #"{"command": "curl", "args": ["-H", "Authorization: Bearer S3CRET", "https://h/eyJS3CRET1234567"]}"#,
            #"{"command":"curl","args":["-H","Authorization:***","https://h/***"]}"#
        ),
        (
            #"{"headers": {"Authorization": "Bearer ${T}", "X": "${A:-S3CRET}", "Y": "$env:Z"}}"#,
            #"{"headers":{"Authorization":"***${T}","X":"***","Y":"$env:Z"}}"#
        ),
    ])
    func secretsAreMasked(members: String, shown: String) async throws {
        try write(".cursor/mcp.json", #"{"mcpServers": {"a": \#(members)}}"#)
        let outcome = await harness().run("--json", "config", "get", "a")
        #expect(outcome.stdout == shown + "\n")
        #expect(!(await harness().run("config", "list")).stdout.contains("S3CRET"))
    }
}
