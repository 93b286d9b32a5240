import MCPClientCLI
import MCPCore
import Testing

/// `provide`: where its token comes from, and against a hub in this process.
@Suite(.timeLimit(.minutes(5))) struct ProvideCommandTests {
    private struct Daemon {
        let hub = ClientToolHub { _ in
            let server = MCPServer("hub", version: "1")
            server.addTool("notify", "The server's own") { () in "x" }
            return server
        }
        let running: RunningServer
        let address: String

        init() throws {
            var options = HTTPServerOptions()
            options.loops = 1
            options.drainTimeout = .seconds(1)
            let endpoints = ClientToolEndpoints(
                hub, token: "daemon", channelTokens: ["own": "channel"])
            running = try hub.server().start([
                .http(.tcp(port: 0), servers: endpoints, handler: endpoints, options: options)
            ])
            address = try #require(running.addresses.first?.description)
        }

        /// Waits until clients are registered, for 20 s at most.
        func hasClient(_ count: Int = 1) async -> Bool {
            for _ in 0 ..< 2_000 {
                if await hub.counts.clients == count { return true }
                try? await Task.sleep(for: .milliseconds(10))
            }
            return false
        }
    }

    private static func harness() -> CommandHarness {
        CommandHarness(
            server: MCPServer("none", version: "1"), files: ["channel.token": "channel\n"],
            variables: ["CHANNEL": " channel\n", "DAEMON": "daemon", "EMPTY": " "])
    }

    // C30
    @Test(arguments: [["--token-file", "channel.token"], ["--bearer-env", "CHANNEL"]])
    func theTokenOfAChannel(_ words: [String]) async throws {
        let daemon = try Daemon()
        let command = ["provide", "--channel", "own", "--tool", "greet"] + words + [daemon.address]
        let run = Task { await Self.harness().run(command) }
        #expect(await daemon.hasClient())
        run.cancel()
        #expect(await run.value.stderr.contains("connected to "))
        await daemon.running.stop()
    }

    // What becomes of each tool is said by name: offered, under another name, or refused.
    @Test func eachToolIsNamed() async throws {
        let daemon = try Daemon()
        let other = MCPServer("other", version: "1")
        other.addTool("greet", "Another one") { () in "x" }
        let first = ClientToolProvider(
            server: other, channel: "c", clientID: "other",
            address: try #require(ProviderAddress(daemon.address)),
            token: { "daemon" })
        let running = Task { try await first.run() }
        #expect(await daemon.hasClient())
        let command = [
            "provide", "--once", "--channel", "c", "--client", "mine", "--tool", "greet", "--tool", "notify",
            "--tool",
            "location", "--bearer-env", "DAEMON", daemon.address,
        ]
        async let outcome = Self.harness().run(command)
        #expect(await daemon.hasClient(2))
        await daemon.hub.stop()
        let lines = await outcome.stderr.split(separator: "\n").map(String.init)
        let offered = "offering tools in c of \(daemon.address): "
        let line = try #require(lines.first { $0.hasPrefix(offered) }, "\(lines)")
        #expect(
            line.dropFirst(offered.count).split(separator: ", ").sorted() == ["greet__mine", "location"])
        #expect(
            lines.contains { $0.hasPrefix("renamed: greet is offered as greet__mine: ") && $0.count > 50 },
            "\(lines)")
        #expect(lines.contains("refused: notify: a tool of the server has this name"), "\(lines)")
        running.cancel()
        _ = await running.result
        await daemon.running.stop()
    }

    // C30
    @Test(arguments: [["--bearer-env", "DAEMON"], []])
    func anotherToken(_ words: [String]) async throws {
        let daemon = try Daemon()
        let command = ["provide", "--channel", "own", "--tool", "greet"] + words + [daemon.address]
        let outcome = await Self.harness().run(command)
        #expect(outcome.code.rawValue == 4)
        #expect(outcome.stderr.contains("a channel may have its own"))
        #expect(outcome.stderr.contains("hint: --token-file FILE or --bearer-env VAR sends a token; "))
        await daemon.running.stop()
    }

    @Test func once() async throws {
        let daemon = try Daemon()
        let command = ["provide", "--once", "--tool", "greet", "--bearer-env", "DAEMON", daemon.address]
        async let outcome = Self.harness().run(command)
        #expect(await daemon.hasClient())
        await daemon.hub.stop()
        #expect(await outcome.code == .unreachable)
        #expect(await outcome.stderr.contains("closed the connection"))
        await daemon.running.stop()
        let nobody = await Self.harness().run(command)
        #expect(nobody.code == .unreachable)
        // The port may already be that of a program that does not speak HTTP.
        #expect(nobody.stderr.contains("cannot connect") || nobody.stderr.contains("was lost"))
    }

    @Test func mistakes() async throws {
        for (words, text) in [
            (["--bearer-env", "NOWHERE"], "the environment variable NOWHERE contains no token"),
            (["--bearer-env", "EMPTY"], "the environment variable EMPTY contains no token"),
            (
                ["--bearer-env", "CHANNEL", "--token-file", "channel.token"],
                "--token-file and --bearer-env cannot be combined"
            ),
            (["--channel", "a/b"], "\"a/b\" is not a channel name"),
        ] {
            let outcome = await Self.harness().run(["provide", "--tool", "greet"] + words + ["localhost:1"])
            #expect(outcome.code == .usage)
            #expect(outcome.stderr.contains(text), "\(outcome.stderr)")
        }
    }
}
