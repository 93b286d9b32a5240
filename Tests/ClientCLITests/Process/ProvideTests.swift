import Foundation
import MCPCore
import Testing

/// `mcp-client provide` as a process of its own, against a hub in this one.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ProvideTests {
    private let path = "/tmp/mcp-provide-\(UUID().uuidString.prefix(8)).sock"

    private func daemon(_ token: String = "secret") throws -> RunningServer {
        let hub = ClientToolHub { _ in MCPServer("hub", version: "1") }
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .seconds(1)
        let endpoints = ClientToolEndpoints(hub, token: token)
        return try hub.server().start([
            .http(.unix(path: path), servers: endpoints, handler: endpoints, options: options),
            .http(.tcp(port: 0), servers: endpoints, handler: endpoints, options: options),
        ])
    }

    /// The machine may be busy with other tests.
    private static let patient: ClientOptions = {
        var options = ClientOptions()
        options.connectTimeout = .seconds(60)
        return options
    }()

    // C23, C31
    @Test func toolsOfADeviceRunInTheProvidersProcess() async throws {
        let daemon = try daemon()
        let agent = try await MCPClient.connect(
            .unix(path: path, endpoint: "/mcp/channels/c"), options: Self.patient)
        let changes = try await agent.listen(SubscriptionFilter(toolsListChanged: true))
        let started = AsyncStream.makeStream(of: Int32.self)
        async let outcome = ProgramRunner.client(
            "provide", "--channel", "c", "--client", "dev", "--tool", "clipboard", "--tool", "location",
            "--tool", "notify", "--tool", "greet", path, whileRunning: { started.continuation.yield($0) })
        var pids = started.stream.makeAsyncIterator()
        let pid = try #require(await pids.next())
        var told = changes.makeAsyncIterator()
        #expect(try await told.next() == .toolsListChanged)
        let names = try await agent.listTools().map(\.name)
        #expect(Set(names) == ["clipboard", "location", "notify", "greet"])
        #expect(try await agent.callTool("clipboard", ["text": "kept"]).text == "kept")
        #expect(try await agent.callTool("clipboard").text == "kept")
        let place = try await agent.callTool("location").structuredContent
        #expect(place == ["city": "Berlin", "latitude": 52.52, "longitude": 13.405])
        #expect(try await agent.callTool("notify", ["text": "Tea"]).isError == false)
        #expect(
            try await agent.callTool("greet", ["name": "Ann"]).text
                == "The user was greeted with: Hello, Ann!")
        // What is wrong with arguments is found before the tool runs.
        #expect(try await agent.callTool("notify", ["text": 5]).isError)
        kill(pid, SIGTERM)
        let result = try await outcome
        #expect(result.stdout == "notification: Tea\nHello, Ann!\n")
        #expect(result.stderr.contains("offering tools in c of unix://\(path): "))
        #expect(!result.wasKilled)
        await agent.close()
        await daemon.stop()
    }

    // C24
    @Test func aProgramIsOfferedAsItIs() async throws {
        let daemon = try daemon()
        let started = AsyncStream.makeStream(of: Int32.self)
        async let outcome = ProgramRunner.client(
            "provide", "--channel", "c", path, "--", ProgramRunner.server, "--demo", "--stdio",
            whileRunning: { started.continuation.yield($0) })
        var pids = started.stream.makeAsyncIterator()
        let pid = try #require(await pids.next())
        let agent = try await MCPClient.connect(
            .unix(path: path, endpoint: "/mcp/channels/c"), options: Self.patient)
        for _ in 0 ..< 1_000 {
            if try await agent.listTools().contains(where: { $0.name == "echo" }) { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await agent.callTool("echo", ["text": "through"]).text == "through")
        kill(pid, SIGTERM)
        _ = try await outcome
        await agent.close()
        await daemon.stop()
    }

    @Test func whatCannotBeProvidedIsSaid() async throws {
        let nothing = try await ProgramRunner.client("provide", path)
        #expect(
            nothing.code == 2
                && nothing.stderr
                    == "error: provide needs tools\nhint: --tool NAME, or an MCP server at the end: -- PROGRAM ARGS\n"
        )
        let bare = try await ProgramRunner.client("provide", path, "./server")
        #expect(
            bare.code == 2
                && bare.stderr
                    == "error: unexpected argument \"./server\"\n"
                    + "hint: usage: mcp-client provide [FLAGS] DAEMON -- PROGRAM ARGS…\n",
            "\(bare.stderr)")
        let unknown = try await ProgramRunner.client("provide", "--tool", "rob", path)
        #expect(unknown.code == 2 && unknown.stderr.contains("greet, clipboard, location, notify"))
        let nowhere = try await ProgramRunner.client("provide", "--tool", "greet", "ftp://example.com")
        #expect(nowhere.code == 2)
    }

    /// A program that is no server is not taken for one that has done its work.
    @Test(
        arguments: [
            ("true", "the offered program true exited with status 0 before"),
            ("false", "the offered program false exited with status 1"),
            ("cat", "the program echoes requests; it is not an MCP server"),
        ], [["--once"], []])
    func aProgramThatIsNoServerIsNamed(sample: (program: String, says: String), flags: [String]) async throws
    {
        let (program, says) = sample
        let daemon = try daemon()
        // Without --once it would otherwise be started again and again.
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client, ["provide"] + flags + ["--channel", "c", path, "--", program])
        await daemon.stop()
        #expect(outcome.code == (program == "cat" ? 5 : 3))
        #expect(outcome.stderr.contains("error: \(says)"), "\(outcome.stderr)")
        #expect(outcome.stderr.split(separator: "\n").count { $0.contains("error: ") } == 1)
        #expect(
            outcome.stderr.hasSuffix(
                "hint: is it an MCP server on stdin and stdout? mcp-client doctor -- \(program) shows each step\n"
            ),
            "\(outcome.stderr)")
    }

    /// What the offered program writes to stderr cannot change the terminal; a line without an end is shown too.
    @Test func whatTheProgramSaysIsEscaped() async throws {
        let daemon = try daemon()
        let script = #"printf 'a\033[2J\342\200\256b\n\tlast' >&2; exit 3"#
        let outcome = try await ProgramRunner.client(
            "provide", "--once", "--channel", "c", path, "--", "sh", "-c", script)
        await daemon.stop()
        #expect(outcome.code == 3)
        #expect(!outcome.stderr.contains("\u{1B}") && !outcome.stderr.contains("\u{202E}"))
        let lines = outcome.stderr.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("a") && $0.hasSuffix("b") }, "\(outcome.stderr)")
        #expect(lines.contains("\tlast"), "\(outcome.stderr)")
    }

    /// A program that ends at once is started with the probe of the daemon and without it, and not again to say so; only
    /// once if it has ended before the probe arrived.
    @Test(arguments: [["--once"], []]) func aProgramThatEndsAtOnceIsStartedTwiceAtMost(flags: [String])
        async throws
    {
        let daemon = try daemon()
        let starts = "\(path).starts"
        let script = "echo start >>'\(starts)'; echo no key is set >&2; exit 3"
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client,
            ["provide"] + flags + ["--channel", "c", path, "--", "sh", "-c", script])
        await daemon.stop()
        #expect(outcome.code == 3)
        let count = try String(contentsOfFile: starts, encoding: .utf8).split(separator: "\n").count
        #expect(count == 1 || count == 2, "\(count) starts")
        let said = "the offered program sh exited with status 3"
        let lines = outcome.stderr.split(separator: "\n")
        #expect(lines.count { $0.contains(said) } == 1, "\(outcome.stderr)")
        #expect(lines.contains("error: \(said) before its tools were offered"), "\(outcome.stderr)")
        #expect(lines.count { $0 == "no key is set" } == count, "\(outcome.stderr)")
        try? FileManager.default.removeItem(atPath: starts)
    }

    // C30
    @Test func aWrongTokenEndsIt() async throws {
        let daemon = try daemon()
        let address = try #require(daemon.addresses.last?.description)
        let result = try await ProgramRunner.client("provide", "--tool", "greet", address)
        #expect(result.code == 4)
        await daemon.stop()
    }

    /// The path of a socket is one also without a slash at its start; here nobody answers behind it.
    @Test func aSocketByARelativePath() async throws {
        let listener = try UnixListener(path)
        defer { listener.close() }
        let name = path.split(separator: "/").last ?? ""
        for (word, says) in [("\(name)", "cannot connect"), ("no-\(name)", "is not the address of a daemon")]
        {
            let command =
                "cd /tmp && '\(ProgramRunner.client)' provide --once --channel c --tool greet \(word)"
            let outcome = try await ProgramRunner.run("/bin/sh", ["-c", command])
            #expect(outcome.stderr.contains(says), "\(outcome.stderr)")
            #expect(outcome.code == (word == name ? 3 : 2))
        }
    }

    /// A relative path is one without `./`, too; where there is no socket yet, the message says what to write.
    @Test func aRelativePath() async throws {
        let daemon = try daemon()
        let name = String(path.dropFirst("/tmp/".count))
        for (channel, place) in [("a", name), ("b", "./\(name)")] {
            let agent = try await MCPClient.connect(
                .unix(path: path, endpoint: "/mcp/channels/\(channel)"), options: Self.patient)
            let started = AsyncStream.makeStream(of: Int32.self)
            async let outcome = ProgramRunner.client(
                "provide", "--channel", channel, "--tool", "greet", place, directory: "/tmp",
                whileRunning: { started.continuation.yield($0) })
            var pids = started.stream.makeAsyncIterator()
            let pid = try #require(await pids.next())
            for _ in 0 ..< 1_000 {
                if try await agent.listTools().contains(where: { $0.name == "greet" }) { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await agent.callTool("greet", ["name": "Ann"]).isError == false)
            kill(pid, SIGTERM)
            let result = try await outcome
            #expect(result.stderr.contains("connected to unix://\(path)"), "\(result.stderr)")
            await agent.close()
        }
        await daemon.stop()
        let missing = try await ProgramRunner.client(
            "provide", "--tool", "greet", "run/x.sock", directory: "/tmp")
        #expect(missing.code == 2)
        #expect(
            missing.stderr == """
                error: "run/x.sock" is not the address of a daemon
                  no socket exists at that path
                hint: start the daemon first, or wait for it with the whole path: /tmp/run/x.sock

                """)
    }
}
