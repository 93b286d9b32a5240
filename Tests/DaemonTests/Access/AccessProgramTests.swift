import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `mcp-server` with `auth`, as a process of its own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AccessProgramTests {
    /// A directory with a configuration, and the program that serves it.
    private final class Place {
        let directory: TemporaryDirectory
        var file: String { "\(directory.path)/mcp.jsonc" }
        var tokens: String { "\(directory.path)/tokens.json" }

        /// - Parameter more: further members of the configuration.
        init(_ auth: String = #""tokens": "tokens.json""#, more: String = "") throws {
            directory = try TemporaryDirectory()
            try write(#", "auth": { \#(auth) }\#(more.isEmpty ? "" : ", ")\#(more)"#)
        }

        /// A server without authorization.
        init(auth: Never?) throws {
            directory = try TemporaryDirectory()
            try write("")
        }

        private func write(_ auth: String) throws {
            let tools = #""env": { "exec": ["env"] }, "git_log": { "exec": ["echo", "log"] }"#
            try directory.write("mcp.jsonc", #"{ "tools": { \#(tools) }\#(auth) }"#)
        }

        func run(_ arguments: String...) async throws -> (status: ProcessExit, output: String, errors: String)
        {
            let launch = ProcessLaunch(
                try WatchedProgram.path(), arguments + ["-c", file], environment: WatchedProgram.environment)
            let result = try await Offload.run { try ProcessRunner.run(launch, input: []) }
            return (
                result.status, String(decoding: result.output, as: UTF8.self),
                String(decoding: result.errors, as: UTF8.self)
            )
        }

        func make(_ name: String, _ arguments: String...) async throws -> String {
            try await Self.make(name, for: file, arguments)
        }

        static func make(
            _ name: String, for file: String, _ arguments: [String] = ["--allow", "*"]
        ) async throws -> String {
            let launch = ProcessLaunch(
                try WatchedProgram.path(), ["token", "new", name, "-c", file] + arguments,
                environment: WatchedProgram.environment)
            let result = try await Offload.run { try ProcessRunner.run(launch, input: []) }
            try #require(
                result.status == .exited(0), "\(String(decoding: result.errors, as: UTF8.self))")
            return String(String(decoding: result.output, as: UTF8.self).filter { !$0.isNewline })
        }

        func start(_ more: String...) async throws -> (program: WatchedProgram, port: UInt16) {
            let program = try await WatchedProgram(["-c", file, "--listen", "127.0.0.1:0"] + more)
            let line = try #require(
                program.output.split(separator: "\n").first { $0.contains("http://127.0.0.1:") })
            let digits = try #require(line.split(separator: "127.0.0.1:").last).prefix { $0.isNumber }
            return (program, try #require(UInt16(digits)))
        }
    }

    private struct Reply {
        var status: Int
        var challenge: String?
        var json: JSONValue?
    }

    private static func ask(
        _ port: UInt16, _ method: String, _ members: String = "", name: String? = nil, token: String?
    ) async throws -> Reply {
        let meta =
            #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}"#
        let body =
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(members)\#(members.isEmpty ? "" : ",")\#(meta)}}"#
        var headers = [
            ("Host", "127.0.0.1"),
            ("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method),
        ]
        if let name { headers.append(("Mcp-Name", name)) }
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        let fields = headers
        let response = try await Offload.run {
            let connection = try PlainConnection(port: port)
            try connection.send("POST", "/mcp", headers: fields, body: body)
            return try connection.response()
        }
        return Reply(
            status: response.status, challenge: response.headers["www-authenticate"],
            json: try? JSONValue(parsing: response.text))
    }

    private static func call(_ port: UInt16, _ tool: String, token: String?) async throws -> Reply {
        try await ask(port, "tools/call", #""name":"\#(tool)","arguments":{}"#, name: tool, token: token)
    }

    // Shown once, kept as a digest, and refused once it is revoked, without a restart.
    @Test func tokensOfTheServer() async throws {
        let place = try Place()
        let (program, port) = try await place.start("--log-level", "debug")
        #expect(try await Self.call(port, "git_log", token: nil).status == 401)
        let token = try await place.make("ci", "--allow", "git_*", "--expires", "90d")
        #expect(token.hasPrefix("mcps_"))
        let kept = String(decoding: try Files.read(place.tokens, maxBytes: 10_000), as: UTF8.self)
        #expect(kept.contains(#""ci""#) && !kept.contains(token.dropFirst(5)))
        #expect(try Files.info(place.tokens).permissions == 0o600)
        let list = try await place.run("token", "list")
        #expect(list.output.hasPrefix("ci  20") && list.output.contains("git_*"))
        let again = try await place.run("token", "new", "ci", "--allow", "*")
        #expect(again.status == .exited(2) && again.output.isEmpty)
        #expect(again.errors.contains("a token with the name ci exists"))
        // The running server takes it up.
        #expect(await program.logs(#""event":"tokens reloaded""#))
        let good = try await Self.call(port, "git_log", token: token)
        #expect(good.status == 200 && good.json?["result"]?["content"]?[0]?["text"] == "log\n", "\(good)")
        // A token sees what it may use, and nothing else exists.
        let tools = try await Self.ask(port, "tools/list", token: token)
        #expect(tools.json?["result"]?["tools"]?.arrayValue?.map { $0["name"] } == ["git_log"])
        let hidden = try await Self.call(port, "env", token: token)
        #expect(hidden.json?["error"]?["message"] == "Unknown tool: env")
        #expect(try await place.run("token", "revoke", "ci").status == .exited(0))
        #expect(await program.logs(#""event":"tokens reloaded""#, times: 2))
        #expect(try await Self.call(port, "git_log", token: token).status == 401)
        // A line for each call would cost more than the call: only those for debugging have it.
        #expect(program.output.contains(#""level":"debug","event":"access allowed","principal":"token:ci""#))
        #expect(try await place.run("token", "revoke", "ci").status == .exited(2))
        #expect(try await place.run("token", "list").output == "no tokens in \(place.tokens)\n")
        // AUTH-43: lines for what was allowed and denied, and the token in none of them.
        #expect(program.output.contains("access allowed") && program.output.contains("access denied"))
        #expect(program.output.contains("token:ci"))
        #expect(!program.output.contains(token.dropFirst(5).prefix(20)))
        await program.stop()
    }

    // The directory is made with the file; if root made it, no other user finds the file.
    @Test func aDirectoryThatIsMissing() async throws {
        let place = try Place(#""tokens": "lib/tokens.json""#)
        let made = try await place.run("token", "new", "ci", "--allow", "*")
        #expect(made.status == .exited(0) && made.output.hasPrefix("mcps_"))
        let directory = "\(place.directory.path)/lib"
        #expect(try Files.info(directory).permissions == 0o700)
        let isForRoot = made.errors.hasSuffix("if another user runs the server: chown -R USER \(directory)\n")
        #expect(isForRoot == (geteuid() == 0), "\(made.errors)")
    }

    // Of several, another user needs all.
    @Test func directoriesThatAreMissing() async throws {
        let place = try Place(#""tokens": "a/b/tokens.json""#)
        let outer = "\(place.directory.path)/a"
        let made = try await place.run("token", "new", "ci", "--allow", "*")
        #expect(made.status == .exited(0))
        let hint = "hint: only root can enter \(outer), \(outer)/b; if another user runs the server: "
        #expect(
            made.errors.hasSuffix(hint + "chown -R USER \(outer)\n") == (geteuid() == 0), "\(made.errors)")
    }

    #if os(Linux)
    /// A token that is revoked while its file cannot be read is refused as soon as it can, whatever else happens.
    @Test func aFileThatCouldNotBeRead() async throws {
        let place = try Place()
        let token = try await place.make("ci", "--allow", "*")
        let (program, port) = try await place.start()
        #expect(try await Self.call(port, "git_log", token: token).status == 200)
        let revoked = place.tokens + ".other"
        try Files.replace(revoked, with: Array(#"{"version":1,"tokens":[]}"#.utf8))
        // A lease, which its holder is told to give back by SIGIO; whoever opens the file without waiting fails.
        signal(SIGIO, SIG_IGN)
        let lease = unsafe open(revoked, O_RDONLY | O_CLOEXEC)
        // It is refused while the file is open elsewhere: in a child, between fork and exec of another test.
        try #require(await eventually { fcntl(lease, 1_024, F_WRLCK) == 0 })
        #expect(unsafe rename(revoked, place.tokens) == 0)
        #expect(await program.logs(#""event":"tokens not reloaded""#))
        close(lease)
        #expect(await program.logs(#""event":"tokens reloaded""#))
        #expect(try await Self.call(port, "git_log", token: token).status == 401)
        await program.stop()
    }

    /// A file that cannot be used for a while and comes back as it was: operators see that the error is over.
    @Test func aFileThatComesBackAsItWas() async throws {
        let place = try Place()
        _ = try await place.make("ci", "--allow", "*")
        let socket = "\(place.directory.path)/admin.sock"
        let (program, _) = try await place.start("--set", "admin.listen=unix://\(socket)")
        let admin = AdminClient(address: try ConfiguredAddress(unixPath: socket))
        func status() async throws -> JSONValue {
            try JSONValue(parsing: try await admin.send("GET", "/status").body)
        }
        #expect(try await status()["tokens"] == ["count": 1])
        #expect(unsafe chmod(place.tokens, 0o644) == 0)
        #expect(await program.logs(#""event":"tokens not reloaded""#))
        let failing = try await status()
        #expect(failing["tokens"]?["count"] == 1)
        #expect(failing["tokens"]?["failure"]?.stringValue?.contains("tokens.json") == true, "\(failing)")
        #expect(ControlCommand.lines(failing).contains { $0.hasPrefix("tokens not reloaded: ") })
        #expect(unsafe chmod(place.tokens, 0o600) == 0)
        #expect(await program.logs(#""event":"tokens reloaded","tokens":1"#))
        #expect(try await status()["tokens"] == ["count": 1])
        await program.stop()
    }
    #endif

    // What a command of a tool gets, and what the log says at the lowest level.
    // AUTH-42
    @Test func noCommandSeesTheToken() async throws {
        let place = try Place()
        let token = try await place.make("all", "--allow", "*")
        let (program, port) = try await place.start()
        let environment = try await Self.call(port, "env", token: token)
        let text = try #require(environment.json?["result"]?["content"]?[0]?["text"]?.stringValue)
        #expect(text.contains("PATH=") && !text.contains("mcps_"))
        // It knows who calls.
        #expect(text.split(separator: "\n").contains("MCP_CALLER=all"), "\(text)")
        for bad in [token + "x", "mcps_planted-secret", "a.b.planted-secret"] {
            let refused = try await Self.call(port, "env", token: bad)
            #expect(refused.status == 401)
            #expect(refused.challenge?.contains("planted") == false)
        }
        #expect(!program.output.contains("planted-secret") && !program.output.contains(token.dropFirst(5)))
        await program.stop()
    }

    // AUTH-43: wherever a caller puts a secret, no log and no audit line has it.
    @Test func plantedSecretsAreNowhere() async throws {
        let place = try Place(
            more:
                #""observe": { "log": { "calls": "all" }, "audit": { "file": "${configDir}/audit.jsonl" } }"#)
        let token = try await place.make("all", "--allow", "*")
        let (program, port) = try await place.start()
        let planted = [token, "mcps_planted-in-a-text-4711", "planted-password-4711"]
        let arguments = #"{"note":"see \#(planted[1])","password":"\#(planted[2])","list":["\#(token)"]}"#
        for presented in [token, token + "x", planted[1]] {
            _ = try await Self.ask(
                port, "tools/call", #""name":"env","arguments":\#(arguments)"#, name: "env", token: presented)
            for name in planted.prefix(2) {
                _ = try await Self.ask(
                    port, "tools/call", #""name":"\#(name)","arguments":{}"#, name: name, token: presented)
                _ = try await Self.ask(
                    port, "resources/read", #""uri":"x:\#(name)""#, name: "x:\(name)", token: presented)
            }
        }
        #expect(await program.logs("[redacted]"))
        await program.stop()
        let audit = String(
            decoding: try Files.read("\(place.directory.path)/audit.jsonl", maxBytes: 1 << 20), as: UTF8.self)
        #expect(audit.split(separator: "\n").count == 15, "\(audit)")
        #expect(audit.contains(#""password":"[redacted]""#) && audit.contains(#""name":"[redacted]""#))
        for secret in planted {
            #expect(!audit.contains(secret.dropFirst(5)), "\(audit)")
            #expect(!program.output.contains(secret.dropFirst(5)), "\(program.output)")
        }
    }

    // Who asks for what its token does not have learns nothing, and the operator what it was.
    @Test func whatATokenDoesNotHave() async throws {
        let place = try Place(
            more:
                #""observe": { "log": { "calls": "failed" }, "audit": { "file": "${configDir}/audit.jsonl" } }"#
        )
        let token = try await place.make("ci", "--allow", "git_*")
        let (program, port) = try await place.start()
        let calls = ["env", "git_log", "git_nothing"]
        for tool in calls { _ = try await Self.call(port, tool, token: token) }
        for uri in ["x:1", "git_2"] {
            _ = try await Self.ask(port, "resources/read", #""uri":"\#(uri)""#, name: uri, token: token)
        }
        #expect(await program.logs(#""name":"env","outcome":"denied""#))
        await program.stop()
        let lines = try Files.read("\(place.directory.path)/audit.jsonl", maxBytes: 1 << 20)
            .split(separator: 0x0A).map { try JSONValue(parsing: Array($0)) }
        #expect(lines.map { $0["name"] } == ["env", "git_log", "git_nothing", "x:1", "git_2"])
        #expect(lines.map { $0["outcome"] } == ["denied", "ok", "error", "denied", "error"], "\(lines)")
        #expect(lines[0]["code"] == -32602)
    }

    // A stream that is open when its token is revoked ends at once.
    @Test func aRevokedTokenEndsItsStream() async throws {
        let place = try Place()
        let token = try await place.make("ci", "--allow", "*")
        let (program, port) = try await place.start()
        let meta =
            #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}"#
        let body =
            #"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","#
            + #""params":{"notifications":{"toolsListChanged":true},\#(meta)}}"#
        let stream = try WireStream(
            port: port,
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                + "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                + "Mcp-Method: subscriptions/listen\r\nAuthorization: Bearer \(token)\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(await stream.until { !$0.messages.isEmpty })
        #expect(try await place.run("token", "revoke", "ci").status == .exited(0))
        #expect(await stream.until(\.isComplete))
        #expect(await program.logs("the token is not known"))
        await program.stop()
    }

    // A link stays a link, and is watched where its file is.
    @Test func aLinkedFileOfTokens() async throws {
        let place = try Place()
        try place.directory.makeDirectory("real")
        try place.directory.write("real/t.json", Array(#"{"version":1,"tokens":[]}"#.utf8), mode: 0o600)
        #expect(unsafe symlink("real/t.json", place.tokens) == 0)
        let (program, port) = try await place.start()
        let token = try await place.make("ci", "--allow", "*")
        #expect(try Files.info(place.tokens).kind == .symlink)
        #expect(await program.logs(#""event":"tokens reloaded""#))
        #expect(try await Self.call(port, "git_log", token: token).status == 200)
        await program.stop()
        #expect(unsafe unlink("\(place.directory.path)/real/t.json") == 0)
        let dangling = try await place.run("token", "new", "x", "--allow", "*")
        #expect(dangling.status == .exited(1) && dangling.output.isEmpty)
        #expect(dangling.errors.contains("is a symbolic link to a file that cannot be found"), "\(dangling)")
        #expect(try Files.info(place.tokens).kind == .symlink)
    }

    @Test func tokensMadeAtTheSameTime() async throws {
        let place = try Place()
        let names = (0 ..< 12).map { "t\($0)" }
        let file = place.file
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for name in names { group.addTask { try await Place.make(name, for: file) } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == names.count)
        let list = try await place.run("token", "list").output.split(separator: "\n")
        #expect(Set(list.map { String($0.prefix { $0 != " " }) }) == Set(names))
    }

    // What makes a token useless is said when it is made, and by `check`.
    @Test func doubtfulTokens() async throws {
        let place = try Place(
            #""tokens": "tokens.json", "required": ["mcp:use"], "scopes": { "git": { "allow": ["*"] } }"#)
        let made = try await place.run(
            "token", "new", "ci", "--allow", "gti_*", "--scope", "gti", "--rate", "60/min")
        #expect(made.status == .exited(0) && made.output.hasPrefix("mcps_"))
        #expect(made.errors.contains("warning: every request requires the scopes mcp:use"), "\(made.errors)")
        #expect(made.errors.contains("warning: auth.scopes has no gti"))
        #expect(made.errors.contains(#"warning: "gti_*" matches no tool and no prompt"#))
        #expect(try await place.run("token", "list").output.contains("gti_*, scopes gti, 60/min"))
        let checked = try await place.run("check")
        #expect(checked.status == .exited(0))
        #expect(checked.output.contains("warning: auth.tokens: every request requires the scopes mcp:use"))
        let good = try await place.run("token", "new", "ok", "--allow", "git_*", "--scope", "mcp:use")
        #expect(!good.errors.contains("warning"))
        // Nothing that a terminal would obey is printed.
        let odd = try await place.run("token", "new", "a\u{1B}[31m", "--allow", "*")
        #expect(odd.status == .exited(2) && !odd.errors.contains("\u{1B}") && odd.errors.contains("a?[31m"))
        let long = try await place.run("token", "new", "long", "--allow", "*", "--expires", "2000000d")
        #expect(long.status == .exited(2) && long.errors.contains("too far in the future"), "\(long)")
        let gone = try await place.run("token", "revoke", "\u{1B}c")
        #expect(gone.status == .exited(2) && !gone.errors.contains("\u{1B}"))
    }

    #if os(Linux)
    // Users of this machine: the own one without `auth`, and by rules with it.
    @Test func usersOfThisMachine() async throws {
        let plain = try Place(auth: nil)
        let (open, openPort) = try await plain.start()
        #expect(try await Self.call(openPort, "git_log", token: nil).status == 200)
        let ruled = try Place(#""peers": [{ "uid": \#(geteuid()), "allow": ["git_*"], "rate": "3/h" }]"#)
        let (strict, strictPort) = try await ruled.start()
        #expect(try await Self.call(strictPort, "git_log", token: nil).status == 200)
        let hidden = try await Self.call(strictPort, "env", token: nil)
        #expect(hidden.json?["error"]?["message"] == "Unknown tool: env")
        #expect(await strict.logs("\"principal\":\"peer:"))
        if geteuid() == 0, let other = try await Self.otherUser(openPort),
            let ruledOther = try await Self.otherUser(strictPort)
        {
            #expect(other == "403" && ruledOther == "401")
            #expect(await strict.logs("no token, and no rule for the user id 65534"))
            // Also where nothing is observed.
            #expect(await open.logs("\"reason\":\"user\""))
            #expect(await open.logs("user id 65534"))
        } else {
            print("not tested: a process of another user, which only root can start with python3")
        }
        _ = try await Self.call(strictPort, "git_log", token: nil)
        #expect(try await Self.call(strictPort, "git_log", token: nil).status == 429)
        await open.stop()
        await strict.stop()
    }

    /// Returns the status of a request that a process of another user sends; `nil` without Python.
    private static func otherUser(_ port: UInt16) async throws -> String? {
        let script = """
            import os, urllib.request, urllib.error
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
            request = urllib.request.Request("http://127.0.0.1:\(port)/mcp", b"{}", {
                "Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
            try: print(urllib.request.urlopen(request).status)
            except urllib.error.HTTPError as error: print(error.code)
            """
        let launch = ProcessLaunch("python3", ["-c", script], environment: WatchedProgram.environment)
        let result = try? await Offload.run { try ProcessRunner.run(launch, input: []) }
        return result.map { String(decoding: $0.output, as: UTF8.self).filter { !$0.isNewline } }
    }
    #endif

    @Test func anExpiredToken() async throws {
        let place = try Place()
        let token = try await place.make("old", "--allow", "*", "--expires", "1s")
        let (program, port) = try await place.start()
        // Until its second is over.
        var reply = try await Self.call(port, "git_log", token: token)
        for _ in 0 ..< 500 where reply.status != 401 {
            try await Task.sleep(for: .milliseconds(20))
            reply = try await Self.call(port, "git_log", token: token)
        }
        #expect(reply.challenge?.contains("the token has expired") == true, "\(reply)")
        #expect(try await place.run("token", "list").output.contains("expired"))
        await program.stop()
    }

    #if !canImport(Darwin)
    // JWTs of an issuer whose keys come from its metadata, and the scopes of a configuration.
    @Test func tokensOfAnIssuer() async throws {
        let key = try OpenSSLSignatures.system.makeP256Key()
        let issuer = try IssuerStub(key)
        let url = try await issuer.start()
        let place = try Place(
            """
            "resource": "http://127.0.0.1/mcp", "authorizationServers": ["\(url)"],
            "scopes": { "git:read": { "allow": ["git_*"] }, "all": { "allow": ["*"], "implies": ["git:read"] } }
            """)
        let checked = try await place.run("check", "--online")
        #expect(checked.output.contains("\(url): ok (1 key)"), "\(checked)")
        let (program, port) = try await place.start()
        let metadata = try await Offload.run {
            let connection = try PlainConnection(port: port)
            try connection.send(
                "GET", "/.well-known/oauth-protected-resource/mcp",
                headers: [("Host", "127.0.0.1")])
            return try connection.response()
        }
        #expect(metadata.status == 200)
        let document = try JSONValue(parsing: metadata.text)
        #expect(document["authorization_servers"]?[0]?.stringValue == url)
        #expect(document["scopes_supported"] == ["git:read", "all"])
        let reader = try issuer.token(scope: "git:read")
        #expect(try await Self.call(port, "git_log", token: reader).status == 200)
        let more = try await Self.call(port, "env", token: reader)
        #expect(more.status == 403)
        #expect(more.challenge?.contains(#"scope="all""#) == true)
        let all = try issuer.token(scope: "all")
        #expect(try await Self.call(port, "git_log", token: all).status == 200)
        #expect(try await Self.call(port, "env", token: all).status == 200)
        let tools = try await Self.ask(port, "tools/list", token: reader)
        #expect(tools.json?["result"]?["tools"]?.arrayValue?.count == 2)
        let foreign = try issuer.token(scope: "all", audience: "https://other.example/mcp")
        #expect(try await Self.call(port, "env", token: foreign).status == 401)
        #expect(issuer.keyFetches == 2)
        // A token that was not seen before is still verified while the issuer is away.
        await issuer.stop()
        let late = try issuer.token(scope: "all")
        #expect(try await Self.call(port, "env", token: late).status == 200)
        #expect(program.output.contains("jti"))
        await program.stop()
        let unreachable = try await place.run("check", "--online")
        #expect(unreachable.status == .exited(8) && unreachable.output.contains("\(url): error: "))
    }

    // Nothing of OpenSSL is loaded without authorization, and with tokens of the server only.
    @Test(arguments: [false, true]) func nothingIsLoadedWithoutJWTs(_ isAuthorized: Bool) async throws {
        let place = try isAuthorized ? Place() : Place(auth: nil)
        let (program, port) = try await place.start()
        let token = isAuthorized ? try await place.make("ci", "--allow", "*") : nil
        if isAuthorized { #expect(await program.logs(#""event":"tokens reloaded""#)) }
        #expect(try await Self.call(port, "git_log", token: token).status == 200)
        let maps = try Files.read("/proc/\(program.pid)/maps", maxBytes: 1 << 20)
        #expect(!String(decoding: maps, as: UTF8.self).contains("libcrypto"))
        #expect(!String(decoding: maps, as: UTF8.self).contains("libssl"))
        await program.stop()
    }
    #endif

    // HTTP-05
    @Test func anAddressOfTheNetworkNeedsAuthorization() async throws {
        let launch = ProcessLaunch(
            try WatchedProgram.path(), ["--demo", "--listen", "0.0.0.0:1"],
            environment: WatchedProgram.environment)
        let result = try await Offload.run { try ProcessRunner.run(launch, input: []) }
        let errors = String(decoding: result.errors, as: UTF8.self)
        #expect(result.status == .exited(2))
        #expect(errors.contains("--listen 0.0.0.0:1 can be reached from the network"))
        #expect(errors.contains("require tokens with \"auth\""))
    }
}
