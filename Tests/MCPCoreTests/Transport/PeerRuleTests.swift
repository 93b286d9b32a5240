import Synchronization
import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Processes of this machine that need no token, and the rate of a caller's requests.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PeerRuleTests {
    private static func authorization(
        _ peers: [PeerRule], rate: RateLimit? = nil, tokens: [StaticToken] = [],
        onAccess: (@Sendable (AccessEvent) -> Void)? = nil
    ) throws -> ServerAuthorization {
        try ServerAuthorization(
            resource: Protected.resource, verifier: try StaticTokens(tokens), requiredScopes: ["mcp:use"],
            peers: peers, rate: rate, onAccess: onAccess)
    }

    private static func server() throws -> MCPServer {
        let server = try TestServer().server
        try server.register(Tool("who", inputSchema: ["type": "object"])) { _, context in
            .text("\(context.principal?.kind.rawValue ?? "-"):\(context.principal?.subject ?? "-")")
        }
        return server
    }

    private static func call(_ port: UInt16, _ tool: String, token: String? = nil) async throws
        -> WireResponse
    {
        while true {
            let answer = try await Protected.answer(port, Protected.call(tool, token: token))
            // The system may need longer than 5 s to tell who it is, on a busy machine.
            if answer.status != 503 { return answer }
        }
    }

    #if os(Linux)
    // The user of a TCP connection, a group and everyone; the first rule counts. A wrong token is not helped
    // by it.
    @Test func processesOfThisMachine() async throws {
        let own = PeerUser(user: geteuid(), group: nil)
        let name = own.name ?? "\(own.user)"
        let group = own.groups.first ?? getegid()
        let rules: [(PeerRule, Int)] = [
            (PeerRule(.user(own.user)), 200), (PeerRule(.user(own.user &+ 1)), 401),
            (PeerRule(.group(group)), 200), (PeerRule(.group(3_999_999_999)), 401),
            (PeerRule(.everyone), 200),
        ]
        for (rule, status) in rules {
            let authorization = try Self.authorization([rule])
            try await Protected.serve(try Self.server(), authorization) { port in
                for _ in 0 ..< 2 {
                    let answer = try await Self.call(port, "who")
                    #expect(answer.status == status, "\(rule)")
                    #expect(answer.body.contains("peer:\(name)") == (status == 200))
                }
                #expect(try await Self.call(port, "who", token: "mcps_wrong").status == 401)
            }
        }
        let first = [PeerRule(.user(own.user), allow: ["add"]), PeerRule(.everyone)]
        try await Protected.serve(try Self.server(), try Self.authorization(first)) { port in
            let answer = try await Self.call(port, "who")
            #expect(answer.body.contains("Unknown tool: who"))
        }
    }

    // The kernel says that root has a socket that was closed: nobody has it.
    @Test func aClosedConnectionHasNoUser() throws {
        let listener = try ListenSocket.tcp(try #require(SocketAddress(numeric: "127.0.0.1", port: 0)))
        let address = try #require(try Syscalls.localAddress(listener.descriptor.rawValue))
        let client = try Syscalls.streamSocket(address.domain)
        _ = try Syscalls.connect(client.rawValue, to: address)
        var accepted: FileDescriptor?
        for _ in 0 ..< 1_000 {
            if let found = try Syscalls.accept(listener.descriptor.rawValue) {
                accepted = consume found
                break
            }
            usleep(1_000)
        }
        guard let connection = accepted.take() else {
            Issue.record("no connection")
            return
        }
        let user = PeerUser.of(connection.rawValue)
        #expect(user?.isOwn == true)
        // Half closed, it is still a process's.
        try Syscalls.shutdownWriting(client.rawValue)
        #expect(PeerUser.of(connection.rawValue) == user)
        _ = consume client
        #expect(PeerUser.of(connection.rawValue) == nil)
        // Another machine's address is nobody's.
        let (one, other) = try Syscalls.socketPair()
        defer { for end in [one, other] { close(end) } }
        #expect(PeerUser.of(one)?.user == geteuid())
    }

    @Test func onlyTheOwnUser() async throws {
        var options = HTTPServerOptions()
        options.users = .own
        try await Self.server().withPort(options) { port in
            let answer = try await Self.call(port, "who")
            #expect(answer.status == 200)
        }
        // Where the system does not tell the user, as for `MCPEndpoint`, nobody is served.
        let endpoint = StreamableEndpoint(server: try Self.server())
        let bytes = ByteSlice(Protected.post("server/discover", token: nil))
        var parser = RequestParser(limits: HTTPLimits())
        guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else { return }
        for (peer, isServed) in [
            (nil, false), (PeerUser(user: geteuid() &+ 1, group: nil), false),
            (PeerUser(user: geteuid(), group: nil), true),
        ] as [(PeerUser?, Bool)] {
            var memory: ConnectionMemory?
            let decision = endpoint.check(
                head, in: bytes,
                context: ConnectionContext(handler: endpoint, policy: .loopback, users: .own),
                isFromOwnUser: { false }, peer: { peer }, memory: &memory)
            switch decision {
            case .serve: #expect(isServed)
            case .refuse(let response): #expect(!isServed && response.status == 403)
            }
        }
    }
    #endif

    // 429 with Retry-After, for all tokens of a principal together, and one line a second.
    @Test func theRateOfACaller() async throws {
        let reasons = Mutex<[String]>([])
        let token = StaticToken.make(name: "ci", scopes: ["mcp:use"], rate: RateLimit("2/h"))
        let free = StaticToken.make(name: "free", scopes: ["mcp:use"])
        let authorization = try Self.authorization(
            [], rate: RateLimit("100/s"), tokens: [token.record, free.record]
        ) {
            event in
            if let reason = event.reason { reasons.withLock { $0.append(reason) } }
        }
        try await Protected.serve(try Self.server(), authorization) { port in
            for _ in 0 ..< 2 { #expect(try await Self.call(port, "who", token: token.token).status == 200) }
            let refused = try await Self.call(port, "who", token: token.token)
            #expect(refused.status == 429)
            let seconds = Int(refused.headers["retry-after"] ?? "") ?? 0
            #expect((1 ... 1_800).contains(seconds))
            #expect(try await Self.call(port, "who", token: free.token).status == 200)
        }
        #expect(reasons.withLock { $0 }.first == "beyond its rate of 2/h")
    }

    // Callers without a token share the rate of their address.
    @Test func theRateOfCallersWithoutAToken() async throws {
        let reasons = Mutex<[String]>([])
        let token = StaticToken.make(name: "ci", allow: ["who"])
        let authorization = try ServerAuthorization(
            resource: Protected.resource, verifier: try StaticTokens([token.record]),
            rules: AccessRules([], anonymous: ["who"]), rate: RateLimit("3/h")
        ) { event in
            if let reason = event.reason { reasons.withLock { $0.append(reason) } }
        }
        try await Protected.serve(try Self.server(), authorization) { port in
            for _ in 0 ..< 3 {
                let answer = try await Self.call(port, "who")
                #expect(answer.status == 200 && answer.body.contains("anonymous:anonymous"))
            }
            let refused = try await Self.call(port, "who")
            #expect(refused.status == 429)
            #expect((1 ... 1_200).contains(Int(refused.headers["retry-after"] ?? "") ?? 0))
            #expect(try await Self.call(port, "who", token: token.token).status == 200)
        }
        #expect(reasons.withLock { $0 } == ["beyond its rate of 3/h"])
        // By another program's HTTP stack, which tells no address.
        let endpoint = try Self.server().makeEndpoint(authorization: authorization)
        let request = try Protected.request(Protected.call("who", token: nil))
        for number in 0 ..< 4 {
            #expect(await endpoint.respond(to: request).status == (number < 3 ? 200 : 429))
        }
    }

    private final class Watcher: ServerMiddleware {
        let served = Counter()
        let refused = Mutex<[RefusedRequest.Reason]>([])

        func willServe(_ request: IncomingRequest) throws { served.increment() }
        func didRefuse(_ refusal: RefusedRequest) { refused.withLock { $0.append(refusal.reason) } }
    }

    // Each message of a batch counts, of callers with and without a token; notifications, too.
    @Test(arguments: [true, false]) func theRateOfABatch(_ hasToken: Bool) async throws {
        let reasons = Mutex<[String]>([])
        let watcher = Watcher()
        var options = ServerOptions()
        options.middleware = [watcher]
        let runs = Counter()
        let server = MCPServer("counted", version: "1", options: options)
        server.addTool("run", "", schema: #"{"type":"object"}"#) { _, _, out in
            runs.increment()
            out.text("done")
        }
        let token = StaticToken.make(name: "ci", allow: ["run"], rate: RateLimit("10/h"))
        let authorization = try ServerAuthorization(
            resource: Protected.resource, verifier: try StaticTokens([token.record]),
            rules: AccessRules([], anonymous: ["run"]), rate: RateLimit("10/h")
        ) { event in
            if let reason = event.reason { reasons.withLock { $0.append(reason) } }
        }
        try await Protected.serve(server, authorization) { port in
            let field = hasToken ? ["Authorization: Bearer \(token.token)"] : []
            // Its request is the first of ten.
            let session = try await WireSession(port: port, version: "2025-03-26", more: field)
            let note = #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#
            let calls = (1 ... 30).map {
                #"{"jsonrpc":"2.0","id":\#($0),"method":"tools/call","params":{"name":"run","arguments":{}}}"#
            }
            let batch = try await session.post("[\(([note] + calls + [note]).joined(separator: ","))]")
            #expect(batch?.status == 200)
            let answers = try #require(batch?.json?.value.arrayValue)
            #expect(answers.count == 30)
            #expect(answers.count { $0["result"] != nil } == 8 && runs.value == 8)
            let errors = answers.compactMap { $0["error"] }
            #expect(errors.count == 22 && errors.allSatisfy { $0["code"] == 429 })
            #expect(
                errors.first?["message"]?.stringValue?.hasPrefix(
                    "More than the 10/h requests that this caller may send; try again in ") == true)
            #expect(try await session.request("ping")?.status == 429)
        }
        #expect(reasons.withLock { $0 }.first == "beyond its rate of 10/h")
        #expect(reasons.withLock { $0 }.count < 23)
        // What is observed is each message, as well.
        #expect(watcher.served.value == 9)
        #expect(watcher.refused.withLock { $0.count { $0 == .rateLimited } } >= 23)
    }

    @Test func ratesInTime() throws {
        let clock = ManualClock()
        let meter = RateMeter(try #require(RateLimit("60/min")), at: clock.now)
        for _ in 0 ..< 60 { #expect(meter.take(at: clock.now) == nil) }
        let excess = try #require(meter.take(at: clock.now))
        #expect(excess.retryAfter == 1 && excess.reported == 1)
        #expect(meter.take(at: clock.now)?.reported == 0)
        clock.advance(by: .milliseconds(999))
        #expect(meter.take(at: clock.now) != nil)
        clock.advance(by: .milliseconds(1))
        #expect(meter.take(at: clock.now) == nil)
        #expect(meter.take(at: clock.now)?.reported == 3)
        // What is saved up is not more than the limit.
        clock.advance(by: .seconds(86_400))
        for _ in 0 ..< 60 { #expect(meter.take(at: clock.now) == nil) }
        #expect(meter.take(at: clock.now) != nil)
    }

    @Test(arguments: [
        ("60/min", true), ("1/s", true), ("1000000/h", true), ("0/s", false), ("1000001/h", false),
        ("60", false),
        ("60/", false), ("/min", false), ("60/day", false), ("-1/s", false), ("+1/s", false),
        ("1/s/s", false),
        ("", false), ("99999999999999999999/s", false),
    ]) func formsOfRates(_ text: String, _ isGood: Bool) throws {
        let rate = RateLimit(text)
        #expect((rate != nil) == isGood)
        if let rate { #expect(rate.description == text) }
    }

    @Test static func numberOfMeters() async throws {
        let clock = ManualClock()
        let authorization = try authorization([], rate: RateLimit("1/h"))
        let access = AccessGuard(authorization, clock: clock)
        func meter(_ number: Int) -> RateMeter? {
            access.verifications.meter(of: Principal(kind: .oauth, subject: "\(number)"), at: clock.now)
        }
        let first = meter(0)
        #expect(meter(0) === first)
        for number in 1 ..< TokenVerifications.maxMeters { _ = meter(number) }
        #expect(meter(0) === first)
        _ = meter(TokenVerifications.maxMeters)
        _ = meter(TokenVerifications.maxMeters + 1)
        #expect(meter(0) === first)
        let second = meter(1)
        #expect(second != nil && second !== first)
    }
}
