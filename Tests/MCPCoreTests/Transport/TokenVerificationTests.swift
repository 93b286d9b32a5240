import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The cache of verified tokens, and verifications that take long.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TokenVerificationTests {
    private static let start = WallTime(secondsSinceEpoch: 1_800_000_000)

    private struct Setup {
        let clock = ManualClock(wallTime: TokenVerificationTests.start)
        let verifier: TestVerifier
        let access: AccessGuard
        let endpoint: StreamableEndpoint
        let server: MCPServer
        /// The connection of all requests; nil if each has its own.
        let connection: Connection?

        /// The memory of a connection. SAFETY: the tests that keep it send one request at a time.
        final class Connection: @unchecked Sendable { var memory: ConnectionMemory? }

        init(_ verifier: TestVerifier, onOneConnection: Bool = false) throws {
            self.verifier = verifier
            connection = onOneConnection ? Connection() : nil
            server = try TestServer(clock: clock).server
            endpoint = StreamableEndpoint(
                server: server, authorization: try Protected.authorization(verifier))
            access = try #require(endpoint.access)
        }

        /// The outcome for a token, as a request would have it.
        func subject(of token: String) async throws -> String {
            let bytes = ByteSlice(Protected.post("server/discover", token: token))
            var parser = RequestParser(limits: HTTPLimits())
            guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else {
                throw NothingThere()
            }
            do throws(EarlyResponse) {
                let connection = connection ?? Connection()
                switch try access.admit(head, in: bytes, &connection.memory) {
                case .known(let caller): return caller.identity.principal.subject
                case .caller(let caller): return caller.identity.principal.subject
                case .unverified(let token):
                    let outcome = await withCheckedContinuation { continuation in
                        access.verifications.verify(token) { continuation.resume(returning: $0) }
                    }
                    return try access.caller(try outcome.get(), with: token).identity.principal.subject
                }
            } catch {
                return "\(error.status)"
            }
        }
    }

    // AUTH-40: for 5 min, or until the token expires, whichever is earlier.
    @Test(arguments: [false, true]) func goodTokens(_ isOne: Bool) async throws {
        let setup = try Setup(
            TestVerifier([
                "long": TestVerifier.user("long"),
                "short": TestVerifier.user(
                    "short", expiresAt: TokenVerificationTests.start.secondsSinceEpoch + 60),
            ]), onOneConnection: isOne)
        func verified() -> Int { setup.verifier.verified.count }
        for _ in 0 ..< 3 { #expect(try await setup.subject(of: "long") == "long") }
        #expect(verified() == 1)
        setup.clock.advance(by: .seconds(299))
        #expect(try await setup.subject(of: "long") == "long")
        #expect(verified() == 1)
        setup.clock.advance(by: .seconds(1))
        #expect(try await setup.subject(of: "long") == "long")
        #expect(verified() == 2)
        setup.clock.setWallTime(Self.start)
        #expect(try await setup.subject(of: "short") == "short")
        setup.clock.advance(by: .seconds(59))
        #expect(try await setup.subject(of: "short") == "short")
        #expect(verified() == 3)
        // The verifier may allow for the difference between clocks, but not for more.
        setup.clock.advance(by: .seconds(30))
        #expect(try await setup.subject(of: "short") == "short")
        #expect(try await setup.subject(of: "short") == "short")
        #expect(verified() == 5)
        setup.clock.advance(by: .seconds(1))
        #expect(try await setup.subject(of: "short") == "401")
    }

    @Test(arguments: [false, true]) func refusedTokens(_ isOne: Bool) async throws {
        let setup = try Setup(
            TestVerifier(["down": .failure(.unavailable)]), onOneConnection: isOne)
        for _ in 0 ..< 3 { #expect(try await setup.subject(of: "x") == "401") }
        #expect(setup.verifier.verified == ["x"])
        setup.verifier.set("x", TestVerifier.user("x"))
        setup.clock.advance(by: .milliseconds(9_999))
        #expect(try await setup.subject(of: "x") == "401")
        setup.clock.advance(by: .milliseconds(1))
        #expect(try await setup.subject(of: "x") == "x")
        // What says nothing about the token is not remembered.
        for _ in 0 ..< 2 { #expect(try await setup.subject(of: "down") == "503") }
        #expect(setup.verifier.verified == ["x", "x", "down", "down"])
    }

    @Test(arguments: [false, true]) func revocation(_ isOne: Bool) async throws {
        let setup = try Setup(TestVerifier(["x": TestVerifier.user("x")]), onOneConnection: isOne)
        for _ in 0 ..< 3 { #expect(try await setup.subject(of: "x") == "x") }
        setup.verifier.set("x", .failure(.invalid(.unknown)))
        #expect(try await setup.subject(of: "x") == "x")
        setup.verifier.changeGeneration()
        #expect(try await setup.subject(of: "x") == "401")
    }

    // The caller of a connection is whoever its request names, and only the last one is kept.
    @Test func severalTokensOnOneConnection() async throws {
        let names = ["a", "b", "ab", "A", String(repeating: "a", count: KnownCaller.maxFieldBytes)]
        let people = Dictionary(uniqueKeysWithValues: names.map { ($0, TestVerifier.user($0)) })
        let setup = try Setup(TestVerifier(people), onOneConnection: true)
        for _ in 0 ..< 3 {
            for name in names {
                for _ in 0 ..< 3 { #expect(try await setup.subject(of: name) == name) }
                let isKept = name.utf8.count < 100
                #expect((setup.connection?.memory != nil) == isKept, "\(name.utf8.count)")
            }
        }
        #expect(setup.verifier.verified == names)
        // Whoever presents none after that is nobody.
        let bytes = ByteSlice(Protected.post("server/discover", token: nil))
        var parser = RequestParser(limits: HTTPLimits())
        guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else {
            throw NothingThere()
        }
        _ = try await setup.subject(of: "a")
        let connection = try #require(setup.connection)
        #expect(connection.memory != nil)
        #expect(throws: EarlyResponse.self) { try setup.access.admit(head, in: bytes, &connection.memory) }
    }

    // The date counts even when it is set to another one.
    @Test func aClockThatIsSet() async throws {
        let expiry = Self.start.secondsSinceEpoch + 60
        let setup = try Setup(
            TestVerifier(["x": TestVerifier.user("x", expiresAt: expiry)]), onOneConnection: true)
        for _ in 0 ..< 3 { #expect(try await setup.subject(of: "x") == "x") }
        setup.clock.setWallTime(WallTime(secondsSinceEpoch: expiry + 31))
        setup.clock.advance(by: .seconds(1))
        #expect(try await setup.subject(of: "x") == "401")
    }

    // A connection uses the caller of a request again, unless that is still needed: what an operation lacked
    // is a matter of one request.
    @Test func callersOfAConnection() async throws {
        let setup = try Setup(TestVerifier(["x": TestVerifier.user("x")]), onOneConnection: true)
        for _ in 0 ..< 2 { #expect(try await setup.subject(of: "x") == "x") }
        let known = try #require(setup.connection?.memory as? KnownCaller)
        let first = ObjectIdentifier(known.request(at: setup.endpoint))
        #expect(ObjectIdentifier(known.request(at: setup.endpoint)) == first)
        let other = StreamableEndpoint(server: setup.server, path: "/other")
        #expect(known.request(at: other).endpoint === other)
        let kept = known.request(at: setup.endpoint).caller
        let next = known.request(at: setup.endpoint)
        #expect(next.caller !== kept && next.caller.identity === kept.identity)
        kept.lacks(["files:write"])
        #expect(next.caller.requiredScopes.isEmpty)
        #expect(ObjectIdentifier(known.request(at: setup.endpoint)) == ObjectIdentifier(next))
    }

    // O46: a weak reference to an object makes each retain of it slower, for good, and each request retains
    // the guard.
    @Test func nothingRefersWeaklyToTheGuard() async throws {
        let setup = try Setup(TestVerifier(["x": TestVerifier.user("x")]), onOneConnection: true)
        for _ in 0 ..< 3 { #expect(try await setup.subject(of: "x") == "x") }
        #expect(try await setup.subject(of: "unknown") == "401")
        let caller = Caller(Caller.Identity(try TestVerifier.user("x").get(), grantedScopes: []))
        let credential = AccessGuard.Credential.token(PresentedToken("x", resource: ""))
        let entry = setup.access.streams.watch(caller, credential) { _ in }
        setup.verifier.changeGeneration()
        #expect(!Self.isReferredToWeakly(setup.access) && !Self.isReferredToWeakly(setup.endpoint))
        // What the guard keeps out of the way of requests.
        #expect(Self.isReferredToWeakly(setup.access.verifications))
        withExtendedLifetime(entry) {}
    }

    /// Whether a weak reference to an object was ever made: its counts are then in a side table, to which the
    /// two upper bits of its second word refer.
    private static func isReferredToWeakly(_ object: AnyObject) -> Bool {
        let start = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        let counts = unsafe start.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
        return counts >> (UInt.bitWidth - 2) == 3
    }

    // A revocation during a verification: its outcome is for the requests that wait, and not remembered.
    @Test func revocationMeanwhile() async throws {
        let gate = Gate()
        let setup = try Setup(TestVerifier(["x": TestVerifier.user("x")], gate: gate))
        async let first = setup.subject(of: "x")
        #expect(await comesTrue { setup.verifier.verified.count == 1 })
        setup.verifier.changeGeneration()
        gate.open()
        #expect(try await first == "x")
        #expect(setup.access.verifications.cachedTokens == (0, 0))
    }

    @Test func numberOfTokens() throws {
        var cache = TokenCache<Int>()
        let moment = TokenCache<Int>.Moment(ManualClock())
        func digest(_ number: Int) -> SHA256.Digest { SHA256.hash(Array("\(number)".utf8)) }
        for number in 0 ... TokenCache<Int>.maxGood {
            cache.insert(number, expiresAt: nil, for: digest(number), at: moment, generation: 0)
        }
        #expect(cache.counts == (10_000, 0))
        #expect(cache.entry(digest(0), at: moment, generation: 0) == nil)
        for number in 0 ... TokenCache<Int>.maxRefused {
            cache.insert(.unknown, for: digest(20_000 + number), at: moment, generation: 0)
        }
        #expect(cache.counts == (10_000, 1_000))
        #expect(cache.entry(digest(20_000), at: moment, generation: 0) == nil)
        #expect(cache.entry(digest(20_001), at: moment, generation: 0) != nil)
        #expect(!cache.wasGood(digest(1)))
        #expect(cache.entry(digest(1), at: moment, generation: 1) == nil)
        #expect(cache.counts == (0, 0))
        // Only that it was good is remembered, until it is verified again.
        #expect(cache.wasGood(digest(1)) && !cache.wasGood(digest(20_001)))
        cache.insert(.unknown, for: digest(1), at: moment, generation: 1)
        cache.insert(2, expiresAt: nil, for: digest(2), at: moment, generation: 1)
        #expect(!cache.wasGood(digest(1)) && !cache.wasGood(digest(2)) && cache.wasGood(digest(3)))
    }

    // MARK: Slow verifiers

    // 64 at a time; others are told to come back, and other work goes on.
    @Test func manySlowVerifications() async throws {
        let gate = Gate()
        let names = (0 ..< TokenVerifications.maxOpen).map { "t\($0)" }
        let people = Dictionary(uniqueKeysWithValues: names.map { ($0, TestVerifier.user($0)) })
        let verifier = TestVerifier(people, gate: gate)
        let authorization = try Protected.authorization(verifier)
        let handler = TestHandler()
        try await Protected.serve(try TestServer().server, authorization, handler: handler) { port in
            let request = { @Sendable (token: String) in Protected.post("server/discover", token: token) }
            let waiting = names.map { name in
                Task { try await Protected.answer(port, request(name)).status }
            }
            #expect(await comesTrue { verifier.verified.count == names.count })
            let refused = try await Protected.answer(port, request("one-more"))
            #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
            // The loop serves others meanwhile, and requests with the same token share a verification.
            let door = try await Protected.answer(port, RequestHandlerTests.request("GET /door/x"))
            #expect(door.status == 200)
            let again = Task { try await Protected.answer(port, request("t0")).status }
            gate.open()
            for task in waiting + [again] { #expect(try await task.value == 200) }
            #expect(verifier.verified.count == names.count)
            #expect(try await Protected.answer(port, request("one-more")).status == 401)
        }
    }

    // A verifier that does not return, even when it is cancelled.
    @Test func aVerifierThatNeverReturns() async throws {
        let never = Gate()
        let setup = try Setup(TestVerifier(["x": TestVerifier.user("x")], gate: Gate()))
        let stuck = StuckVerifier(never)
        let endpoint = StreamableEndpoint(
            server: setup.server, authorization: try Protected.authorization(stuck))
        let access = try #require(endpoint.access)
        let http = MCPEndpoint(endpoint, .loopback, HTTPLimits())
        let request = try Protected.request(Protected.post("server/discover"))
        async let first = http.respond(to: request)
        #expect(await stuck.begun.wait())
        async let second = http.respond(to: request)
        setup.clock.advance(by: .milliseconds(4_999))
        #expect(access.verifications.openCount == 1)
        setup.clock.advance(by: .milliseconds(1))
        let response = await first
        #expect(response.status == 503 && response.headers["Retry-After"] == "1")
        #expect(await second.status == 503)
        #expect(await stuck.cancelled.wait())
        // It keeps its place, and requests with its token do not wait again.
        #expect(access.verifications.openCount == 1)
        #expect(await http.respond(to: request).status == 503)
        never.open()
        #expect(await comesTrue { access.verifications.openCount == 0 })
        #expect(await http.respond(to: request).status == 200)
    }

    private final class StuckVerifier: TokenVerifier {
        let begun = Gate()
        let cancelled = Gate()
        private let end: Gate

        init(_ end: Gate) { self.end = end }

        func verify(_ token: PresentedToken) async throws(TokenRefusal) -> Principal {
            begun.open()
            let work = Task { [end] in await end.wait() }
            await withTaskCancellationHandler {
                _ = await work.value
            } onCancel: { [cancelled] in
                cancelled.open()
            }
            return Principal(kind: .oauth, subject: "late", scopes: ["mcp:use"])
        }
    }

    // The client leaves, the server stops: nothing waits for the verification.
    @Test func endsMeanwhile() async throws {
        let gate = Gate()
        let verifier = TestVerifier(["a": TestVerifier.user("a"), "b": TestVerifier.user("b")], gate: gate)
        try await Protected.serve(try TestServer().server, try Protected.authorization(verifier)) { port in
            let socket = try WireSocket(port: port, isRecorded: false)
            socket.send(Protected.post("server/discover", token: "a"))
            #expect(await comesTrue { verifier.verified == ["a"] })
            socket.breakOff()
            socket.shutdown()
            // A client that only stops writing still gets its answer; so do pipelined requests, in order.
            let half = try WireSocket(port: port, isRecorded: false)
            half.send(
                Protected.post("server/discover", token: "b") + Protected.post("server/discover", token: "b"))
            half.finishWriting()
            #expect(await comesTrue { verifier.verified == ["a", "b"] })
            gate.open()
            let statuses = await onThread {
                var reader = WireReader(half)
                return [reader.response()?.status, reader.response()?.status]
            }
            #expect(statuses == [200, 200])
        }
    }

    // MARK: Streams

    // A stream ends 30 s after its token, the client comes back with a newer one; a call goes on.
    @Test func streamsEndWithTheirToken() async throws {
        let clock = ManualClock(wallTime: Self.start)
        let expiry = Self.start.secondsSinceEpoch + 600
        let verifier = TestVerifier([
            "alice": TestVerifier.user("alice", expiresAt: expiry),
            "alice-new": TestVerifier.user("alice", expiresAt: expiry + 600),
        ])
        var options = ServerOptions()
        options.limits.requestDeadline = .seconds(3600)
        let test = try TestServer(options, clock: clock)
        try await Protected.serve(test.server, try Protected.authorization(verifier)) { port in
            let listen = { (token: String) in
                try WireStream(
                    port: port,
                    Protected.post(
                        "subscriptions/listen", #""notifications":{"toolsListChanged":true}"#, token: token))
            }
            let modern = try listen("alice")
            let later = try listen("alice-new")
            let session = try await WireSession(
                port: port, version: "2025-11-25", more: ["Authorization: Bearer alice"])
            let legacy = try session.get()
            for stream in [modern, later, legacy] { #expect(await stream.opened()) }
            #expect(await modern.until { !$0.messages.isEmpty })
            let call = Task { try await Protected.answer(port, Protected.call("wait", #"{"name":"c"}"#)) }
            #expect(await test.begun("c").wait())
            clock.advance(by: .milliseconds(629_999))
            #expect(!modern.isComplete && !legacy.isComplete)
            clock.advance(by: .milliseconds(1))
            for stream in [modern, legacy] { #expect(await stream.until(\.isComplete)) }
            #expect(modern.messages.last?.json?["result"] != nil)
            #expect(!later.isComplete)
            // The session goes on with the new token.
            let renewed = try await WireSession(
                port: port, version: "2025-11-25", id: session.id,
                more: ["Authorization: Bearer alice-new"])
            let next = try renewed.get(after: legacy.lastID)
            #expect(await next.opened())
            test.release.open()
            #expect(try await call.value.body.contains("released c"))
            for stream in [later, next] { stream.close() }
        }
    }

    // MARK: Secrets

    // AUTH-43
    @Test func secretsStayOut() async throws {
        let lines = Mutex<[String]>([])
        var options = ServerOptions()
        options.log = { line in lines.withLock { $0.append(line) } }
        let secret = StaticToken.make(name: "ci", scopes: ["mcp:use"])
        let tokens = try StaticTokens([secret.record])
        let server = try TestServer(options).server
        try server.register(Tool("leak", inputSchema: ["type": "object"])) { _, context in
            throw ToolError("\(context) \(String(describing: context.principal))")
        }
        var bodies: [String] = []
        try await Protected.serve(server, try Protected.authorization(tokens)) { port in
            for request in [
                Protected.call("leak", token: secret.token), Protected.call("nothing", token: secret.token),
                Protected.post("x", token: secret.token), Protected.call("leak", token: secret.token + "x"),
                Protected.post("server/discover", token: secret.token, more: Protected.bearer(secret.token)),
            ] { bodies.append("\(try await Protected.answer(port, request))") }
        }
        let presented = PresentedToken(secret.token, resource: "r")
        let texts =
            bodies + lines.withLock { $0 } + ["\(presented)", "\(secret)", String(reflecting: [presented])]
        for text in texts { #expect(!text.contains(secret.token.dropFirst(5))) }
        #expect(bodies.count == 5)
    }
}
