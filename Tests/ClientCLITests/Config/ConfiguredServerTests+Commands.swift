import MCPCore
import TestSupport
import Testing

/// The actions of `config`.
extension ConfiguredServerTests {
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
        var chosen = harness()
        chosen.variables["MCP_CONFIG"] = folder.path + "/other.jsonc"
        let unused = await chosen.run("config", "add", "more", "localhost:2")
        let note = "note: it is not searched while MCP_CONFIG names "
        #expect(unused.stderr.contains(note), "\(unused.stderr)")
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

    #if !canImport(Darwin)
    /// Both programs take the directory of the variable, as `mcp-client` does.
    @Test func theFilesOfApplicationsAreWhereTheySay() async throws {
        for directory in ["settings", "settings/Code", "settings/Code/User"] {
            folder.makeDirectory("home/" + directory)
        }
        try write("settings/Code/User/mcp.json", #"{"servers": {"ops": {"command": "ops"}}}"#)
        #expect(await harness().run("info", "ops").connections == 0)
        let variables = ["XDG_CONFIG_HOME": home + "/settings"]
        #expect(await harness(variables).run("info", "ops").connections == 1)
    }
    #endif

    /// Wherever a secret stands, it is not shown.
    @Test func secretsOutsideTheUsualMembersAreMasked() async throws {
        let entry =
            #"{"url": "http://h/", "oauth": {"clientId": "id", "clientSecret": "CS1"}, "x": [{"apiKey": "AK1", "token": [{"a": "TK2"}], "pin": 4711}]}"#
        try write(".cursor/mcp.json", #"{"mcpServers": {"o": \#(entry)}}"#)
        try write("work/project/.mcp.json", #"{"mcpServers": {"p": \#(entry)}}"#)
        for words in [["config", "get", "o"], ["config", "get", "p"], ["--json", "config", "list"]] {
            let outcome = await harness().run(words)
            let text = outcome.stdout + outcome.stderr
            #expect(text.contains("clientSecret") && text.contains("id"), "\(text)")
            for secret in ["CS1", "AK1", "TK2", "4711"] { #expect(!text.contains(secret), "\(text)") }
        }
    }

    /// A copy in another directory would be another server, and would hide the one that works.
    @Test(arguments: [
        #""command": "ops", "envFile": "my.env""#, #""command": "ops", "cwd": "rel""#,
        #""command": "./srv.sh""#, #""command": "ops", "args": ["${configDir}"]"#,
        #""command": "ops", "args": ["${file:token}"]"#, #""command": "ops", "args": ["${input:key}"]"#,
    ])
    func whatDependsOnItsPlaceIsNotImported(members: String) async throws {
        try write(".cursor/mcp.json", #"{"mcpServers": {"ops": {\#(members)}, "wrong": {"comand": "x"}}}"#)
        let outcome = await harness().run("config", "import")
        #expect(
            outcome.stderr.contains("not imported: ops (~/.cursor/mcp.json:1:17): it depends on the place"),
            "\(outcome.stderr)")
        #expect(outcome.stderr.contains("not imported: wrong ("))
        #expect(outcome.stderr.hasSuffix("nothing to import\n"))
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
            #"{"headers":{"Authorization":"***${T}","X":"${A:-***}","Y":"$env:Z"}}"#
        ),
        (
            #"{"headers": {"A": "S3CRET ${file:/k}${Z:-}S3CRET", "B": "$${A}S3CRET", "C": "${file:/S3CRET"}}"#,
            #"{"headers":{"A":"***${file:/k}${Z:-}***","B":"***","C":"***"}}"#
        ),
        (
            #"{"url": "https://${U}:S3CRET@h/x?a=${file:/a?b&c=d}S3CRET&token=${T:-S3CRET}"}"#,
            #"{"url":"https://${U}***@h/x?a=${file:/a?b&c=d}***&token=${T:-***}"}"#
        ),
        (
            #"{"command": "x", "args": ["--token=${T:-S3CRET}", "token:${file:/a=b c}", "${P:-8080}"]}"#,
            #"{"command":"x","args":["--token=${T:-***}","token:${file:/a=b c}","${P:-8080}"]}"#
        ),
    ])
    func secretsAreMasked(members: String, shown: String) async throws {
        try write(".cursor/mcp.json", #"{"mcpServers": {"a": \#(members)}}"#)
        let outcome = await harness().run("--json", "config", "get", "a")
        #expect(outcome.stdout == shown + "\n")
        #expect(!(await harness().run("config", "list")).stdout.contains("S3CRET"))
    }
}
