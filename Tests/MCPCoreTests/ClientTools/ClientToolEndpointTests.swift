import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The endpoints of a daemon over real sockets.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClientToolEndpointTests {
    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        func add(_ line: String) { state.withLock { $0.append(line) } }
        var all: [String] { state.withLock { $0 } }
    }

    /// A daemon in this process: a hub behind a TCP port and a unix socket.
    final class Daemon: Sendable {
        let hub: ClientToolHub
        let running: RunningServer
        let port: UInt16
        let streams: ProviderStreams
        private let lines = Lines()

        /// What was logged.
        var log: [String] { lines.all }

        init(
            token: String? = nil, socket: String? = nil, needsToken: Bool = true,
            channelTokens: [String: String] = [:], origins: [String] = [],
            clock: any TimeSource = SystemClock(), _ change: (inout ClientToolOptions) -> Void = { _ in }
        ) throws {
            var hubOptions = ClientToolOptions()
            hubOptions.log = { [lines] in lines.add($0) }
            change(&hubOptions)
            hub = ClientToolHub(options: hubOptions, clock: clock) { channel in
                let server = MCPServer("hub", version: "1")
                server.addTool("builtin", "Of the server") { () in channel }
                return server
            }
            var options = HTTPServerOptions()
            options.loops = 1
            options.drainTimeout = .seconds(1)
            let endpoints = ClientToolEndpoints(
                hub, token: token, registrationNeedsToken: needsToken, channelTokens: channelTokens,
                origins: origins)
            streams = endpoints.streams
            func transport(_ address: ListenAddress) -> ServerTransport {
                .http(address, servers: endpoints, handler: endpoints, options: options)
            }
            var transports = [transport(.tcp(port: 0))]
            if let socket { transports.append(transport(.unix(path: socket))) }
            running = try hub.server().start(transports)
            let port = try running.port()
            self.port = port
        }

        func agent(_ channel: String, _ era: ClientOptions.ProtocolChoice = .auto) async throws -> MCPClient {
            var options = ClientOptions()
            options.protocol = era
            return try await .connect(
                .http("http://127.0.0.1:\(port)/mcp/channels/\(channel)"), options: options)
        }

        func stop() async {
            await hub.stop()
            await running.stop()
        }

        /// Waits until the agents of a channel see this tool, for 20 s at most.
        func until(_ tool: String, in channel: String) async throws {
            for _ in 0 ..< 2_000 {
                if await hub.clientTools(of: channel).contains(where: { $0.name == tool }) { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            throw NothingThere()
        }
    }

    private func post(
        _ daemon: Daemon, _ path: String, _ body: String, _ fields: [String] = []
    ) async throws -> WireResponse {
        let request = RequestHandlerTests.request(
            "POST \(path)", ["Content-Type: application/json"] + fields, body: body)
        return try #require(try await RequestHandlerTests.answers(daemon.port, [request]).first ?? nil)
    }

    private static let greet = #"{"channel_id":"general","tools":[{"name":"greet","description":"Greets"}]}"#

    // C13, C21, C30
    @Test func registrationOverHTTP() async throws {
        let daemon = try Daemon(token: "secret")
        let auth = "Authorization: Bearer secret"
        #expect(try await post(daemon, "/register-tools", Self.greet).status == 401)
        #expect(
            try await post(daemon, "/register-tools", Self.greet, ["Authorization: Bearer x"]).status == 401)
        let foreign = try await post(
            daemon, "/register-tools", Self.greet, [auth, "Origin: https://evil.example"])
        #expect(foreign.status == 403)
        let missing = try await post(daemon, "/register-tools", "{}", [auth])
        #expect(missing.status == 400 && missing.body == #"{"error":"Missing or invalid channel_id"}"#)
        let good = try await post(daemon, "/register-tools", Self.greet, [auth])
        #expect(good.status == 200)
        #expect(good.body == #"{"message":"Client tools registered","channel_id":"general","count":1}"#)
        let taken = try await post(
            daemon, "/register-tools",
            #"{"channel_id":"x","tools":[{"name":"builtin","description":"d"},{"name":"a","description":"d"}]}"#,
            [auth])
        #expect(taken.json?["invalid_tools"]?.value == ["builtin"])
        // Only what is offered is counted.
        let line = "client tools: registered channel=x client= tools=1 invalid="
        #expect(daemon.log.contains { $0.hasPrefix(line) && $0.contains("builtin") })
        #expect(
            taken.json?["refused"]?.value == [
                ["name": "builtin", "reason": "a tool of the server has this name"]
            ])
        let unknown = try await post(
            daemon, "/client-tools/result", #"{"invocation_id":"x","result":{"content":[]}}"#, [auth])
        #expect(unknown.status == 404 && unknown.body == #"{"error":"Unknown invocation"}"#)
        await daemon.stop()
    }

    // C30
    @Test func providersAreCheckedBeforeTheyAreLetIn() async throws {
        let daemon = try Daemon(token: "secret")
        let upgrade = ["Connection: Upgrade", "Upgrade: mcp"]
        let auth = ["Authorization: Bearer secret"]
        func status(_ target: String, _ fields: [String]) async throws -> Int {
            let request = RequestHandlerTests.request("POST \(target)", fields + ["Content-Length: 0"])
            return try await RequestHandlerTests.answers(daemon.port, [request]).first??.status ?? 0
        }
        #expect(try await status("/providers?channel=a", auth) == 426)
        #expect(try await status("/providers?channel=a", upgrade) == 401)
        #expect(try await status("/providers", auth + upgrade) == 400)
        #expect(try await status("/providers?channel=a%2Fb", auth + upgrade) == 400)
        #expect(
            try await status("/providers?channel=a", auth + upgrade + ["Origin: https://evil.example"]) == 403
        )
        await daemon.stop()
    }

    // C22
    @Test @MainActor func anAppRegistersItsTools() async throws {
        let daemon = try Daemon(token: "secret")
        let url = "http://127.0.0.1:\(daemon.port)"
        let registry = ClientToolRegistry()
        let good = ClientToolRegistration(url: url, token: "secret")
        try await good.registerTools(channelId: "messaging:app", tools: registry.registrationPayloads())
        #expect(await daemon.hub.counts.clients == 0)
        registry.register(tool: GreetClientTool())
        try await good.registerTools(channelId: "messaging:app", tools: registry.registrationPayloads())
        #expect(await daemon.hub.clientTools(of: "app").map(\.name) == ["greetUser"])
        let bad = ClientToolRegistration(url: url)
        await #expect(throws: ClientError.self) {
            try await bad.registerTools(channelId: "app", tools: registry.registrationPayloads())
        }
        await daemon.stop()
        // The request itself; and none for nothing.
        let peer = try HTTPPeer { _ in .json("{}") }
        defer { peer.stop() }
        let plain = ClientToolRegistration(url: "http://\(peer.endpoint)", token: "secret")
        try await plain.registerTools(channelId: "messaging:app", tools: [])
        #expect(peer.heard.isEmpty)
        try await plain.registerTools(channelId: "messaging:app", tools: registry.registrationPayloads())
        let heard = try #require(peer.heard.first)
        #expect(peer.heard.count == 1 && heard.method == "POST")
        #expect(heard.head.hasPrefix("POST /register-tools HTTP/1.1"))
        #expect(heard.header("content-type") == "application/json")
        let sent = try JSONValue(encoding: registry.registrationPayloads())
        #expect(heard.body?.value == ["channel_id": "messaging:app", "tools": sent])
    }

    // C25, C29
    @Test(arguments: ClientToolHubTests.eras)
    func aFacadeClientAnswersOverHTTP(_ era: ClientOptions.ProtocolChoice) async throws {
        let daemon = try Daemon()
        #expect(try await post(daemon, "/register-tools", Self.greet).status == 200)
        let event = Mutex<RawJSON?>(nil)
        let heard = Gate()
        let port = daemon.port
        let socket = try WireSocket(port: port, isRecorded: false)
        TestThread.run {
            socket.send(
                RequestHandlerTests.request("GET /client-tools/events?channel_id=general&results=1"))
            var reader = WireReader(socket)
            _ = reader.response { text in
                let json = try? RawJSON(validating: text)
                guard json?["invocation_id"] != nil else { return }
                event.withLock { $0 = json }
                heard.open()
            }
        }
        for _ in 0 ..< 2_000 {
            if await daemon.hub.counts.listeners == 1 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        let agent = try await daemon.agent("general", era)
        async let answer = agent.said("greet")
        #expect(await heard.wait())
        let id = try #require(event.withLock { $0?["invocation_id"]?.string })
        let body = #"{"invocation_id":"\#(id)","result":{"content":[{"type":"text","text":"Hello"}]}}"#
        #expect(try await post(daemon, "/client-tools/result", body).status == 200)
        #expect(try await answer == .text("Hello"))
        #expect(try await post(daemon, "/client-tools/result", body).status == 404)
        socket.shutdown()
        await agent.close()
        await daemon.stop()
    }

    // C25, C23
    @Test(arguments: ClientToolHubTests.eras) @MainActor
    func anAppOffersItsToolsOverASocket(_ era: ClientOptions.ProtocolChoice) async throws {
        let folder = TemporaryDirectory()
        let path = folder.path + "/p.sock"
        let daemon = try Daemon(token: "secret", socket: path)
        let registry = ClientToolRegistry()
        registry.register(tool: GreetClientTool())
        // The unix socket knows its user, the port wants the token.
        let addresses: [(ProviderAddress, String?)] = [
            (.unix(path: path), nil), (.tcp(port: daemon.port), "secret"),
        ]
        for (number, (address, token)) in addresses.enumerated() {
            let provider = ClientToolProvider(
                registry: registry, channel: "c\(number)", clientID: "app", address: address, token: token)
            let run = Task { try await provider.run() }
            try await daemon.until("greetUser", in: "c\(number)")
            let agent = try await daemon.agent("c\(number)", era)
            #expect(try await agent.said("greetUser") == .text("greetUser: done"))
            let other = AnyClientTool(Tool(name: "later", description: "x"))
            registry.register(tool: other)
            try await daemon.until("later", in: "c\(number)")
            registry.unregister(name: "later")
            await agent.close()
            run.cancel()
            try await run.value
        }
        await daemon.stop()
    }

    // C23: one that begins with nothing is followed when it has something.
    @Test func aProviderThatBeginsWithoutTools() async throws {
        let daemon = try Daemon()
        let server = MCPServer("late", version: "1")
        let provider = ClientToolProvider(
            server: server, channel: "a", clientID: "p", address: .tcp(port: daemon.port))
        let run = Task { try await provider.run() }
        for _ in 0 ..< 2_000 where await daemon.hub.counts.clients == 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(await daemon.hub.clientTools(of: "a").isEmpty)
        try server.register(HubFixture.tool("t")) { _, _ in .text("t") }
        try await daemon.until("t", in: "a")
        run.cancel()
        try await run.value
        await daemon.stop()
    }

    // C30
    @Test func aProviderWithoutTheTokenIsTold() async throws {
        let daemon = try Daemon(token: "secret")
        let provider = ClientToolProvider(
            server: MCPServer("p", version: "1"), channel: "a", clientID: "p",
            address: .tcp(port: daemon.port), token: { "wrong" })
        let error = await #expect(throws: ClientError.self) { try await provider.run() }
        #expect(error?.kind == .authentication && error?.httpStatus == 401)
        await daemon.stop()
    }

    // C12
    @Test func aProviderComesBackAfterARestart() async throws {
        // A path of its own: a port could be somebody else's by the time of the restart.
        let folder = TemporaryDirectory()
        let path = folder.path + "/p.sock"
        let first = try Daemon(socket: path)
        let server = try HubFixture.provider([HubFixture.tool("t")])
        let connected = Counter()
        let provider = ClientToolProvider(
            .server(server), channel: "a", clientID: "p", address: .unix(path: path), token: { nil },
            firstPause: .milliseconds(20)
        ) { event in if case .connected = event { connected.increment() } }
        let run = Task { try await provider.run() }
        try await first.until("t", in: "a")
        await first.stop()
        let second = try Daemon(socket: path)
        try await second.until("t", in: "a")
        let agent = try await second.agent("a")
        #expect(try await agent.said("t") == .text("t"))
        #expect(connected.value == 2)
        await agent.close()
        run.cancel()
        try await run.value
        await second.stop()
    }

    // Two programs with one name take turns: each learns why its connection ends.
    @Test func aProviderThatIsReplacedIsTold() async throws {
        let daemon = try Daemon()
        func provider(_ tool: String) throws -> ClientToolProvider {
            ClientToolProvider(
                server: try HubFixture.provider([HubFixture.tool(tool)]), channel: "a", clientID: "p",
                address: .tcp(port: daemon.port))
        }
        let (first, second) = (try provider("one"), try provider("two"))
        let replaced = Task { try await first.runOnce() }
        try await daemon.until("one", in: "a")
        let run = Task { try await second.run() }
        let error = await #expect(throws: ClientError.self) { try await replaced.value }
        let reason = "another program has registered as p, each needs a name of its own"
        #expect(error?.message.hasSuffix(reason) == true)
        try await daemon.until("two", in: "a")
        run.cancel()
        try await run.value
        await daemon.stop()
    }

    // A daemon that is busy, or that a proxy does not reach, is no refusal, even as its first answer.
    @Test(arguments: [429, 502, 503, 504]) func aBusyDaemonIsAskedAgain(_ status: Int) async throws {
        let peer = try HTTPPeer { _ in .status(status) }
        defer { peer.stop() }
        let port = try #require(peer.endpoint.split(separator: ":").last.flatMap { UInt16($0) })
        let again = Counter()
        let provider = ClientToolProvider(
            .server(try HubFixture.provider([HubFixture.tool("t")])), channel: "a", clientID: "p",
            address: .tcp(port: port), token: { nil }, firstPause: .milliseconds(1)
        ) { event in if case .disconnected = event { again.increment() } }
        let run = Task { try await provider.run() }
        await waitUntil { again.value >= 3 }
        #expect(again.value >= 3)
        run.cancel()
        try await run.value
    }

    // A proxy that passes no upgrade on.
    @Test func aDaemonThatSeesNoUpgrade() async throws {
        let peer = try HTTPPeer { _ in .status(426) }
        defer { peer.stop() }
        let port = try #require(peer.endpoint.split(separator: ":").last.flatMap { UInt16($0) })
        let provider = ClientToolProvider(
            .server(try HubFixture.provider([HubFixture.tool("t")])), channel: "a", clientID: "p",
            address: .tcp(port: port), token: { nil }, firstPause: .milliseconds(1)
        ) { _ in }
        let error = await #expect(throws: ClientError.self) { try await provider.run() }
        #expect(error?.httpStatus == 426 && error?.hint?.hasSuffix("use https://") == true)
    }

    // C28
    @Test func aHundredCallsThroughOneSocket() async throws {
        let daemon = try Daemon()
        let server = try HubFixture.provider([HubFixture.tool("t")]) { call, _ in
            .text(call.arguments["n"]?.int.map(String.init) ?? "")
        }
        let provider = ClientToolProvider(
            server: server, channel: "a", clientID: "p", address: .tcp(port: daemon.port))
        let run = Task { try await provider.run() }
        try await daemon.until("t", in: "a")
        let agent = try await daemon.agent("a")
        let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for n in 0 ..< 100 {
                group.addTask { (n, try await agent.said("t", ["n": JSONValue(n)]).text) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(answers == Dictionary(uniqueKeysWithValues: (0 ..< 100).map { ($0, String($0)) }))
        await agent.close()
        run.cancel()
        try await run.value
        await daemon.stop()
    }

    @Test(arguments: [
        ("/run/p.sock", "unix:///run/p.sock"), ("unix:///run/p.sock", "unix:///run/p.sock"),
        ("http://127.0.0.1:3001/mcp", "127.0.0.1:3001"), ("localhost:80", "localhost:80"),
        ("http://[::1]:9", "[::1]:9"), ("https://x:1", "https://x:1"), ("https://x/path", "https://x:443"),
        ("https://u@x", nil),
        ("https://", nil), ("ftp://x:1", nil), ("x", nil), ("x:0", nil), ("", nil),
        ("a@b:1", nil),
    ])
    func addressesAreRead(_ text: String, _ address: String?) {
        #expect(ProviderAddress(text)?.description == address)
    }

    // MARK: Names

    private static func definition(_ name: String, _ description: String) throws -> ClientToolDefinition {
        try ClientToolDefinition(
            Tool(name, description: description), instructions: nil, parameters: nil,
            showsExternalSources: false)
    }

    /// The reason names whose tool is in the way.
    @Test(arguments: [
        ("p", "another tool of the client has this name"), ("q", "a tool of another client has this name"),
    ])
    func twoToolsOfOneName(_ second: String, _ reason: String) throws {
        let first = ClientRegistration(
            client: "p", order: 0, serial: 1, tools: [try Self.definition("t", "one")])
        let other = try Self.definition("t", "two")
        var registrations = [first]
        if second == "p" {
            registrations[0].tools.append(other)
        } else {
            registrations.append(ClientRegistration(client: second, order: 1, serial: 2, tools: [other]))
        }
        let catalog = ClientToolCatalog(registrations, serverTools: [])
        #expect(catalog.items.map(\.name) == ["t", "t__\(second)"])
        #expect(catalog.renamed[second]?.map(\.reason) == [reason])
    }
}
