import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite struct ConfigurationTests {
    private func load(_ text: String, environment: [String: String] = ["PATH": "/usr/bin:/bin"])
        -> ConfigurationLoader.Outcome
    {
        ConfigurationLoader(environment: environment).load(
            SourceText(name: "mcp.jsonc", text: text), directory: "/tmp", Diagnostics())
    }

    @Test func anEmptyConfigurationIsTheDefaults() {
        let outcome = load("{}")
        #expect(outcome.diagnostics.report == [])
        #expect(outcome.configuration.server == ServerSettings())
        #expect(outcome.configuration.listen == nil)
        #expect(outcome.configuration.tools.isEmpty)
    }

    @Test func findingsDoNotShowTheContentsOfFiles() throws {
        let directory = try TemporaryDirectory()
        try directory.write("secret", Array("S3CRET".utf8), mode: 0o600)
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(
                name: "mcp.jsonc",
                text: #"{"limits": {"drain": "${file:secret}"}, "prompts": {"dir": "x${file:secret}"}}"#),
            directory: directory.path, Diagnostics())
        let report = outcome.diagnostics.report
        #expect(report.contains { $0.contains(#"not "${file:secret}""#) }, "\(report)")
        #expect(report.contains { $0.contains("x${file:secret} does not exist") }, "\(report)")
        #expect(!report.contains { $0.contains("S3CRET") }, "\(report)")
    }

    @Test func readsClientTools() {
        #expect(load("{}").configuration.clientTools == nil)
        #expect(load(#"{"clientTools": {}}"#).configuration.clientTools == ClientToolSettings())
        let all = load(
            #"{"clientTools": {"auth": "none", "channel": "c", "providersSocket": "p.sock", "tokenFile": "/t"}}"#
        )
        #expect(all.diagnostics.report == [])
        #expect(
            all.configuration.clientTools
                == ClientToolSettings(
                    auth: .none, channel: "c", providersSocket: "/tmp/p.sock", tokenFile: "/t"))
        let wrong = load(#"{"clientTools": {"auth": "toke", "chanel": "c"}}"#).diagnostics.sorted.map(
            \.rendered)
        #expect(
            wrong == [
                #"mcp.jsonc:1:26: error: clientTools.auth must be one of "token", "none" (did you mean token?)"#,
                #"mcp.jsonc:1:34: error: unknown key "chanel" in clientTools (did you mean channel?)"#,
            ])
    }

    // C30
    @Test func readsTokensOfChannels() {
        let good = load(#"{"clientTools": {"channelTokenFiles": {"a": "a.token", "b": "/b"}}}"#)
        #expect(good.diagnostics.report == [])
        #expect(
            good.configuration.clientTools?.channelTokenFiles == ["a": "/tmp/a.token", "b": "/b"])
        let wrong = load(
            #"{"clientTools": {"channelTokenFiles": {"messaging:a": "no-x.token", "a/b": "no-y.token", "c": 1}}}"#
        )
        let report = wrong.diagnostics.sorted.map(\.rendered)
        #expect(report.count == 3)
        for text in [
            #"mcp.jsonc:1:40: error: "messaging:a" is not a channel name"#,
            #"mcp.jsonc:1:69: error: "a/b" is not a channel name"#,
            "mcp.jsonc:1:95: error: clientTools.channelTokenFiles.c must be a string, not a number",
        ] {
            #expect(report.contains { $0.hasPrefix(text) }, "\(text)\n\(report)")
        }
    }

    @Test func readsThePagesAndTheBackendOfClientTools() {
        let good = load(
            #"{"clientTools": {"origins": ["https://app.example"], "#
                + #""backend": {"url": "https://b.example/hook", "token": "t", "timeout": "5s"}}}"#)
        #expect(good.diagnostics.report == [])
        let settings = good.configuration.clientTools
        #expect(settings?.origins == ["https://app.example"])
        #expect(
            settings?.backend?.url == "https://b.example/hook" && settings?.backend?.timeout == .seconds(5))
        #expect(settings?.backend?.token?.value == "t")
        #expect("\(String(describing: settings?.backend?.token))".contains("\"t\"") == false)
        #expect(load(#"{"clientTools": {}}"#).configuration.clientTools?.origins == [])
        for (text, error) in [
            (
                #""origins": ["https://app.example/x"]"#,
                "clientTools.origins: \"https://app.example/x\" is not"
            ),
            (#""origins": ["*"]"#, "clientTools.origins: \"*\" is not the origin of a web page"),
            (#""backend": {}"#, "clientTools.backend needs \"url\""),
            (#""backend": {"url": "http://b.example/"}"#, "without encryption"),
            (#""backend": {"url": "ftp://b.example/"}"#, "only http:// and https:// are supported"),
            (#""backend": {"url": "https://b.example/", "timeout": "1m"}"#, "30s at most"),
        ] {
            let report = load(#"{"clientTools": {\#(text)}}"#).diagnostics.sorted.map(\.rendered)
            #expect(report.count == 1 && report[0].contains(error), "\(report)")
        }
    }

    // What a start would refuse is found by `check`, with its place.
    @Test func findsWhatAStartWouldRefuse() throws {
        let directory = try TemporaryDirectory()
        try directory.write("short.token", "secret")
        try directory.write("good.token", "0123456789abcdef")
        try directory.makeDirectory("directory.token")
        #expect(unsafe chmod("\(directory.path)/short.token", 0o600) == 0)
        #expect(unsafe chmod("\(directory.path)/good.token", 0o600) == 0)
        func found(_ members: String, servedChannel: String? = nil) -> [String] {
            var loader = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"])
            loader.servedChannel = servedChannel
            let source = SourceText(name: "mcp.jsonc", text: #"{"clientTools": {\#(members)}}"#)
            return loader.load(source, directory: directory.path, Diagnostics()).diagnostics.report.dropLast()
                .map { $0.replacing(directory.path, with: "") }
        }
        let served =
            "is served at /mcp, where no token is required: "
            + "remove its token, or serve another channel there with clientTools.channel"
        #expect(
            found(#""channelTokenFiles": {"default": "good.token"}"#)
                == [#"mcp.jsonc:1:40: error: the channel "default" \#(served)"#])
        #expect(
            found(#""channel": "a", "channelTokenFiles": {"a": "t", "default": "good.token"}"#)
                == [#"mcp.jsonc:1:56: error: the channel "a" \#(served)"#])
        #expect(found(#""channelTokenFiles": {"default": "t"}"#, servedChannel: "a") == [])
        let rule =
            "is not a channel name; a channel name has 1 to 128 bytes, no colon, slash, control or invisible "
            + "character, and no space at either end"
        #expect(found(#""channel": "x/y""#) == [#"mcp.jsonc:1:29: error: "x/y" \#(rule)"#])
        #expect(found(#""channel": """#) == [#"mcp.jsonc:1:29: error: "" \#(rule)"#])
        #expect(
            found(#""tokenFile": "short.token""#) == [
                "mcp.jsonc:1:31: error: clientTools.tokenFile: /short.token does not contain a token; "
                    + "remove it to get a new one"
            ])
        let unreadable = found(#""channelTokenFiles": {"a": "directory.token"}"#)
        #expect(unreadable.count == 1)
        #expect(unreadable[0].hasPrefix("mcp.jsonc:1:45: error: clientTools.channelTokenFiles.a: "))
        let long = String(repeating: "s", count: 200)
        let socket = found(#""providersSocket": "/\#(long)""#)
        #expect(socket.count == 1)
        #expect(
            socket[0].hasPrefix("mcp.jsonc:1:37: error: clientTools.providersSocket has a path of 201 bytes"))
    }

    // An address that the start would refuse is found by `check`, with its place.
    @Test func addressesThatCannotBeListenedOn() throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("run")
        try directory.write("file", "x")
        try directory.link("link", to: "run")
        let base = directory.path
        func found(_ text: String) -> [String] {
            let source = SourceText(name: "m", text: text)
            return ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"])
                .load(source, directory: base, Diagnostics()).diagnostics.report.dropLast()
                .map { $0.replacing(base, with: "") }
        }
        func listen(_ addresses: String...) -> [String] {
            found(#"{"listen": [\#(addresses.map { "\"\($0)\"" }.joined(separator: ","))]}"#)
        }
        #expect(listen("127.0.0.1:1", "127.0.0.1:2", "[::1]:1", "unix://\(base)/run/s") == [])
        #expect(
            listen("127.0.0.1:1", "localhost:1") == ["m:1:27: error: localhost:1 appears twice in listen"])
        for other in ["\(base)/run/s?mode=0660", "\(base)/run/./s", "\(base)/link/s"] {
            let errors = listen("unix://\(base)/run/s", "unix://\(other)")
            #expect(errors.count == 1 && errors[0].hasSuffix(" appears twice in listen"), "\(errors)")
        }
        let rest = "and is left alone; choose another path or remove it yourself"
        for (name, what) in [
            ("run", "a directory"), ("file", "a regular file"), ("link", "a symbolic link"),
        ] {
            #expect(
                listen("unix://\(base)/\(name)")
                    == ["m:1:13: error: cannot listen on unix:///\(name): it is \(what) \(rest)"])
            #expect(
                found(#"{"clientTools": {"providersSocket": "\#(name)"}}"#)
                    == ["m:1:37: error: clientTools.providersSocket: it is \(what) \(rest)"])
        }
        let both = found(
            #"{"clientTools": {"providersSocket": "link/s"}, "listen": ["unix:\#(base)/run/s"]}"#)
        #expect(
            both == [
                "m:1:37: error: clientTools.providersSocket is also in listen; "
                    + "providers need a socket of their own"
            ])
    }

    // A socket that everyone may connect to is one without protection, unless callers show tokens.
    @Test(
        arguments: [
            (
                #"{"listen": ["unix:///tmp/s?mode=0666"]}"#,
                "unix:///tmp/s?mode=0666 lets every user of this machine use"
            ),
            (#"{"listen": ["unix:///tmp/s?mode=0660"]}"#, nil),
            (#"{"listen": ["unix:///tmp/s?mode=0666"], "auth": {"tokens": "t"}}"#, nil),
            (
                #"{"admin": {"listen": "unix:///tmp/a?mode=0662"}}"#,
                "admin.listen: unix:///tmp/a?mode=0662 lets every user"
            ),
            (#"{"admin": {"listen": "unix:///tmp/a?mode=0660"}}"#, nil),
        ] as [(String, String?)])
    func socketsOfEveryone(_ text: String, _ warning: String?) {
        let report = load(text).diagnostics.report
        guard let warning else {
            #expect(!report.contains { $0.contains("lets every user") }, "\(report)")
            return
        }
        // What is at the path on this machine may be a further finding.
        #expect(report.contains { $0.contains(": warning: \(warning)") }, "\(report)")
    }

    // A channel's token is its own: one file for two would open both.
    @Test func tokensThatShareAFile() throws {
        let directory = try TemporaryDirectory()
        try directory.write("there", "0123456789abcdef")
        try directory.link("linked", to: "there")
        let base = directory.path
        func found(_ members: String) -> [String] {
            let source = SourceText(name: "m", text: #"{"clientTools": {\#(members)}}"#)
            return ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin", "XDG_STATE_HOME": base])
                .load(source, directory: base, Diagnostics()).diagnostics.report.dropLast()
                .map { $0.replacing(base, with: "") }
        }
        let rule = "each channel needs a token of its own"
        #expect(found(#""tokenFile": "a", "channelTokenFiles": {"b": "b", "c": "there"}"#) == [])
        #expect(
            found(#""tokenFile": "a", "channelTokenFiles": {"b": "./a"}"#)
                == [
                    "m:1:63: error: clientTools.channelTokenFiles.b: /a is also the token of the daemon; \(rule)"
                ])
        for (first, second) in [("x", "x"), ("there", "linked")] {
            let errors = found(#""channelTokenFiles": {"b": "\#(first)", "c": "\#(second)"}"#)
            #expect(errors.count == 1)
            #expect(
                errors.first?.hasSuffix(
                    #"channelTokenFiles.c: /\#(second) is also the token of the channel "b"; \#(rule)"#)
                    == true,
                "\(errors)")
        }
        let errors = found(#""channelTokenFiles": {"b": "mcpcore/providers.token"}"#)
        #expect(errors.count == 1 && errors.first?.contains("of the daemon") == true, "\(errors)")
    }

    // Fault row 94: all findings at once, each with its place.
    @Test func reportsEverythingAtOnce() throws {
        let missing = try TemporaryDirectory().path + "/none"
        let outcome = load(
            """
            {
              "sever": {},
              "listen": ["0.0.0.0:80", "127.0.0.1:0", 5],
              "limits": { "body": "4XiB", "drain": "soon", "connections": 0 },
              "server": { "name": 7, "instructions": { "file": "\(missing)" } },
              "tools": {
                "a": { "exec": ["true", "{nam}"], "input": { "name": { "type": "string" } }, "timout": "1s" }
              },
              "files": { "docs": { "root": "\(missing)", "uri": "docs" } }
            }
            """)
        let expected = [
            "mcp.jsonc:2:3: error: unknown key \"sever\" (did you mean server?)",
            "mcp.jsonc:3:14: error: 0.0.0.0:80 can be reached from the network, and this server",
            "mcp.jsonc:3:28: error: 127.0.0.1:0 has no usable port: clients could not know which one it is; ",
            "mcp.jsonc:3:43: error: an address must be a string, not a number",
            "mcp.jsonc:4:23: error: limits.body must be a size like \"256KiB\" or \"4MiB\", not \"4XiB\"",
            "mcp.jsonc:4:40: error: limits.drain must be a duration like \"30s\", \"500ms\" or \"10m\", not",
            "mcp.jsonc:4:63: error: limits.connections must be a whole number from 1 to 1000000",
            "mcp.jsonc:5:23: error: server.name must be a string, not a number",
            "mcp.jsonc:5:52: error: server.instructions: cannot open \(missing): No such file or directory",
            "mcp.jsonc:7:48: warning: tools.a: parameter name is not used",
            "mcp.jsonc:7:29: error: tools.a: placeholder {nam} is not in \"input\" (did you mean {name}?)",
            "mcp.jsonc:7:82: error: unknown key \"timout\" in tools.a (did you mean timeout?)",
            "mcp.jsonc:9:32: error: files.docs.root: \(missing) does not exist",
            "mcp.jsonc:9:\(43 + missing.utf8.count): error: files.docs.uri: docs must contain {+path} once",
        ]
        let report = outcome.diagnostics.sorted.map(\.rendered)
        for text in expected {
            #expect(
                report.contains { $0.hasPrefix(text) }, "missing: \(text)\n\(report.joined(separator: "\n"))")
        }
        #expect(outcome.diagnostics.errorCount == 13, "\(report.joined(separator: "\n"))")
        #expect(outcome.diagnostics.summary == "13 errors, 1 warning")
    }

    @Test func readsLongTexts() {
        let outcome = load(#"{ "server": { "instructions": ["one", "two"], "title": "T" } }"#)
        #expect(outcome.diagnostics.report == [])
        #expect(outcome.configuration.server.instructions == "one\ntwo")
    }

    @Test func namesAnUnreadableFile() throws {
        let file = try TemporaryDirectory().path + "/none/c"
        let outcome = ConfigurationLoader(environment: [:]).load(file: file)
        #expect(
            outcome.diagnostics.report.first
                == "\(file): error: cannot open \(file): No such file or directory"
        )
    }

    @Test func refusesADirectoryAsFile() {
        let outcome = ConfigurationLoader(environment: [:]).load(file: "/tmp")
        #expect(outcome.diagnostics.report.first == "/tmp: error: /tmp is not a regular file")
    }

    @Test func warnsOfProgramsThatAreNotThere() {
        let outcome = load(#"{ "tools": { "a": { "exec": ["no-such-program-x"] } } }"#)
        #expect(outcome.diagnostics.summary == "1 warning")
        #expect(
            outcome.diagnostics.sorted.first?.text.contains("no-such-program-x was not found in PATH") == true
        )
        #expect(outcome.configuration.tools.count == 1)
    }

    /// Anybody decides what a program does that everybody may write to, or replace.
    @Test(arguments: ["bin/program", "bin"]) func warnsOfProgramsThatAnybodyCanReplace(_ place: String) throws
    {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("bin")
        try directory.write("bin/program", Array("#!/bin/sh\n".utf8), mode: 0o755)
        let program = "\(directory.path)/bin/program"
        func warnings() -> [String] {
            load(
                """
                { "tools": { "a": { "exec": ["\(program)"] } },
                  "mcpServers": { "b": { "command": "\(program)" } } }
                """
            ).diagnostics.sorted.map(\.text).filter { $0.contains("can be replaced by anyone") }
        }
        #expect(warnings().isEmpty)
        #expect(unsafe chmod("\(directory.path)/\(place)", 0o777) == 0)
        #expect(warnings().count == 2, "\(warnings())")
        #expect(warnings().allSatisfy { $0.hasSuffix("chmod o-w \(directory.path)/\(place)") })
        // Files of others cannot be replaced in such a directory.
        if place == "bin" {
            #expect(unsafe chmod("\(directory.path)/\(place)", 0o1777) == 0)
            #expect(warnings().isEmpty)
        }
    }

    /// What is shown of many findings is bounded, and the time does not grow with their square.
    @Test(.timeLimit(.minutes(1))) func manyFindings() {
        let keys = (0 ..< 20_000).map { "\"unknown\($0)\": 1" }.joined(separator: ",\n")
        let diagnostics = load("{ \(keys) }").diagnostics
        #expect(diagnostics.errorCount == 20_000)
        #expect(diagnostics.report.count == Diagnostics.maxShown + 2)
        #expect(diagnostics.report.suffix(2) == ["… and 19900 more", "20000 errors"])
        // Errors are not hidden behind warnings.
        let mixed = Diagnostics()
        for line in 1 ... 200 { mixed.warning("w", at: SourcePosition(file: "f", line: line, column: 1)) }
        mixed.error("e", at: SourcePosition(file: "f", line: 201, column: 1))
        #expect(mixed.shown.first?.severity == .error && mixed.shown.count == Diagnostics.maxShown)
    }

    @Test func warnsOfInterpretersThatAreNotThere() throws {
        let directory = try TemporaryDirectory()
        try directory.write("interpreter", "")
        let cases: [(String, String?)] = [
            ("/no-such-interpreter", "/no-such-interpreter was not found"),
            ("\(directory.path)/interpreter", "interpreter exists but cannot be executed"),
            // A script that names itself: the system refuses it, and nothing searches for ever.
            ("\(directory.path)/script", nil),
        ]
        for (interpreter, problem) in cases {
            let script = "\(directory.path)/script"
            try directory.write("script", "#!\(interpreter) -x\n")
            #expect(unsafe chmod(script, 0o755) == 0)
            let text = load(#"{ "tools": { "a": { "exec": ["\#(script)"] } } }"#).diagnostics.sorted.first?
                .text
            guard let problem else {
                #expect(text == nil)
                continue
            }
            #expect(text?.contains("\(script) needs \(interpreter): ") == true, "\(text ?? "")")
            #expect(text?.contains(problem) == true, "\(text ?? "")")
        }
    }

    @Test func readsAToolCompletely() throws {
        let outcome = load(
            """
            { "tools": { "git_log": {
              "title": "Log", "description": ["Commits,", "newest first."],
              "input": {
                "repo": { "type": "string", "format": "path", "x-root": "/tmp" },
                "limit?": { "type": "integer", "minimum": 1, "default": 20 },
                "all?": { "type": "boolean" },
                "paths?": { "type": "array", "items": { "type": "string" } }
              },
              "exec": ["/bin/echo", "-C", "{repo}", "-n", "{limit}", {"when": "all", "args": ["--all"]}, "--",
                       "{paths...}"],
              "timeout": "10s", "maxOutput": "1KiB", "result": "jsonlines", "env": { "A": "b" },
              "concurrency": 2,
              "output": { "type": "object" }, "annotations": { "readOnlyHint": true }
            } } }
            """)
        #expect(outcome.diagnostics.report == [])
        let tool = try #require(outcome.configuration.tools.first)
        #expect(tool.description == "Commits,\nnewest first.")
        #expect(tool.timeout == .seconds(10))
        #expect(tool.maxOutput == 1_024)
        #expect(tool.result == .jsonlines)
        #expect(tool.concurrency == 2)
        #expect(tool.environment == ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "A": "b"])
        #expect(tool.workingDirectory.literal == "/tmp")
        let schema = tool.tool.inputSchema
        #expect(schema["additionalProperties"] == false)
        #expect(schema["required"] == ["repo"])
        #expect(schema["properties"]?["repo"] == ["type": "string", "format": "path"])
        #expect(schema["properties"]?["limit"]?["default"] == 20)
    }
}
