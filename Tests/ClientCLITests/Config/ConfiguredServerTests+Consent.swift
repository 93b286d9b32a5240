import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// What is asked about a server of a project, and what the answer is good for.
extension ConfiguredServerTests {
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

    /// A link in a repository would take a secret of the user for a file that came with it.
    @Test(arguments: [
        #""args": ["${file:link}"]"#, #""args": ["${file:./folder/./secret}"]"#,
        #""envFile": "folder/secret""#, #""envFile": "${workspaceFolder}/link""#,
    ])
    func aLinkOutOfTheProjectIsNotFollowed(members: String) async throws {
        folder.makeDirectory("home/outside")
        try write("outside/secret", "A=S3CRET")
        try file("inside", "--version")
        folder.link("home/work/project/link", to: "../../outside/secret")
        folder.link("home/work/project/folder", to: folder.path + "/home/outside")
        try write(
            "work/project/.mcp.json", #"{"mcpServers": {"ops": {"command": "git", \#(members)}}}"#)
        let reason = "leads out of the project through a symbolic link, which is not followed"
        for words in [
            ["info", "ops"], ["config", "allow", "ops"], ["config", "list"], ["config", "check"],
        ] {
            let outcome = await harness(typed: ["y"]).run(words)
            #expect(outcome.connections == 0)
            let text = outcome.stdout + outcome.stderr
            #expect(text.contains(reason) && !text.contains("S3CRET"), "\(words): \(text)")
        }
    }

    /// A path that is written as one of elsewhere, and a link that stays, lead to what is shown.
    @Test func whatLeadsIntoTheProjectIsShown() async throws {
        try file("inside", "--exec=evil it")
        folder.link("home/work/project/link", to: "inside")
        folder.link("home/elsewhere", to: folder.path + "/home/work/project")
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"command": "git", "args": ["${file:link}", "#
                + #""${file:\#(folder.path)/home/elsewhere/inside}"]}}}"#)
        let allowed = await harness().run("config", "allow", "ops")
        #expect(
            allowed.stderr.contains("  contents of link: --exec=evil it\n")
                && allowed.stderr.contains("/elsewhere/inside: --exec=evil it\n"), "\(allowed.stderr)")
    }

    /// What was shown in one file does not take effect in another one.
    @Test func textsDoNotMoveBetweenFiles() async throws {
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"command": "git", "args": ["${file:cert.pem}"], "envFile": "e.env"}}}"#)
        try file("cert.pem", "x\0EVIL=1")
        #expect(await harness().run("config", "allow", "ops").code == .ok)
        try file("cert.pem", "x")
        try file("e.env", "EVIL=1")
        let outcome = await harness().run("info", "ops")
        #expect(outcome.connections == 0 && outcome.stderr.contains("has not been allowed yet"))
    }

    /// A certificate is masked, and a command that begins as one does is shown.
    @Test func onlyWholeCertificatesAreMasked() async throws {
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"command": "git", "env": {"TLS_KEY": "${file:a.pem}"}}}}"#)
        let line = String(repeating: "A", count: 64)
        let begin = "-----BEGIN CERTIFICATE-----"
        let end = "-----END CERTIFICATE-----"
        let whole = "\(begin)\n\(line)\n\(line)\nAA==\n\(end)\n"
        let key =
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,0A\n\n\(line)\n"
        for text in [whole, whole + whole, key + "-----END RSA PRIVATE KEY-----"] {
            try file("a.pem", text)
            let shown = await harness().run("config", "get", "ops")
            #expect(shown.stderr.hasSuffix("  contents of a.pem: ***\n"), "\(shown.stderr)")
        }
        for text in [
            "\(begin);touch ran", "\(begin);touch ran\n\(line)\n\(end)",
            "\(begin)\n\(line)\n\(end);touch ran",
            "\(begin)\nreboot\n\(line)\n\(end)", "\(begin)\n\(line)\nreboot\n\(end)", whole + "touch ran",
            "touch ran\n" + whole, "\(begin)\n\(line)",
        ] {
            try file("a.pem", text)
            let shown = await harness().run("config", "get", "ops")
            #expect(!shown.stderr.contains("***"), "\(shown.stderr)")
        }
    }

    @Test func whatIsNotAllowedYetIsShownWhole() async throws {
        try file("e.env", (0 ..< 70).map { "V\($0)=x\n" }.joined() + "LD_PRELOAD=./evil.so\n")
        try write(
            "work/project/.mcp.json", #"{"mcpServers": {"ops": {"command": "git", "envFile": "e.env"}}}"#)
        let shown = await harness().run("config", "get", "ops")
        #expect(shown.stderr.hasPrefix("not allowed yet (mcp-client config allow ops):\n  git\n"))
        #expect(shown.stderr.hasSuffix("    LD_PRELOAD=./evil.so\n"), "\(shown.stderr)")
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

    /// A word of a file is masked only where it is the value of what a name calls a secret: elsewhere it could
    /// be a program, or `PATH=bin`.
    @Test(arguments: [
        (#""env": {"API_TOKEN": "${file:t}"}"#, true), (#""args": ["--token", "${file:t}"]"#, true),
        (#""headers": {"Authorization": "Bearer ${file:t}"}"#, true),
        (#""args": ["-c", "${file:t} npx"]"#, false), (#""env": {"PATH": "${file:t}"}"#, false),
        (#""args": ["--token", "${file:t} x"]"#, false), (#""args": ["${file:t}"]"#, false),
        (#""env": {"API_TOKEN": "${file:t}"}, "cwd": "${file:t}""#, false),
    ])
    func wordsOfFiles(_ members: String, _ isMasked: Bool) async throws {
        try write("work/project/.mcp.json", #"{"mcpServers": {"ops": {"command": "git", \#(members)}}}"#)
        try file("t", "PATH=bin")
        let shown = await harness().run("config", "get", "ops").stderr
        #expect(shown.contains("  contents of t: \(isMasked ? "***" : "PATH=bin")\n"), "\(shown)")
    }

    /// Whatever is beside it and around it, no placeholder is masked: a question names every file and every
    /// variable that an entry may read, also those that its members hide or that mean nothing here.
    @Test(arguments: [
        #""headers": {"Authorization": "Bearer ${file:/k/id}${Z:-}"}"#,
        #""headers": {"Authorization": "${file:/k/id}${Z:-none}"}"#,
        #""headers": {"Authorization": "${X:-a}$${${file:/k/id}}\u0301${Z}"}"#,
        #""headers": {"X-Mode": "${file:/k/id}", "Z": "$env:Z"}"#,
        #""x-notes": [{"deep": "${file:/k/id}", "z": "${Z:-/}"}]"#,
        #""oauth": {"clientId": "${env:Z}", "clientSecret": "${file:/k/id}"}"#,
    ])
    func aQuestionNamesEverythingThatIsRead(members: String) async throws {
        try write(
            "work/project/.mcp.json",
            #"{"mcpServers": {"ops": {"url": "http://localhost:1/mcp", \#(members)}}}"#)
        let asked = await harness(typed: ["n"]).run("info", "ops")
        #expect(asked.connections == 0)
        #expect(asked.stderr.contains("\n  contents of /k/id: ***\n"), "\(asked.stderr)")
        let variables = asked.stderr.split(separator: "\n").first { $0.hasPrefix("  your variables: ") }
        #expect(variables?.hasSuffix("Z") == true, "\(asked.stderr)")
        let get = await harness().run("config", "get", "ops").stdout
        #expect(get.contains("${file:/k/id}"), "\(get)")
        // A default is as good as a value, where values are masked.
        #expect(!get.contains("none") && !get.contains("Bearer"), "\(get)")
    }

    /// The same in an address, whose parts a path could seem to separate, and for inputs.
    @Test func aQuestionAboutAnAddressWithPlaceholders() async throws {
        try write(
            "work/project/.mcp.json",
            #"{"inputs": [{"id": "key"}], "mcpServers": {"ops": {"url": "#
                + #""https://${USER_TOKEN}:pw@evil.example/?key=${file:/k&key=id}&x=${input:key}"}}}"#)
        let asked = await harness(typed: ["n"]).run("info", "ops")
        for part in [
            "  https://${USER_TOKEN}***@evil.example/?key=${file:/k&key=id}&x=${input:key}\n",
            "  your variables: USER_TOKEN, MCP_INPUT_KEY\n", "  contents of /k&key=id: ***\n",
        ] { #expect(asked.stderr.contains(part), "\(part): \(asked.stderr)") }
    }
}
