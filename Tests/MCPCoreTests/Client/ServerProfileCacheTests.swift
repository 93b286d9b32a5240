import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What earlier connections have shown: DUAL-19, DUAL-20.
@Suite struct ServerProfileCacheTests {
    private static func options(
        _ cache: ServerProfileCache, headers: [(String, String)] = [], _ version: ProtocolVersion? = nil
    ) -> ClientOptions {
        var options = ClientOptions()
        options.profiles = cache
        options.headers = headers
        if let version { options.protocol = .exactly(version) }
        return options
    }

    private static func methods(_ peer: HTTPPeer, from start: Int = 0) -> [String] {
        peer.heard.dropFirst(start).map { $0.method == "POST" ? $0.rpcMethod : $0.method }
    }

    /// Connects, calls once and closes; what the peer heard of it.
    private static func visit(_ peer: HTTPPeer, _ options: ClientOptions) async throws -> [String] {
        let start = peer.heard.count
        let client = try await MCPClient.connect(peer.target, options: options)
        _ = try await client.request("tools/list")
        await client.close()
        return methods(peer, from: start)
    }

    @Test func modernServerIsNotProbedAgain() async throws {
        let peer = try HTTPClientTransportTests.modern { .result($0, "{}") }
        defer { peer.stop() }
        let cache = ServerProfileCache()
        #expect(try await Self.visit(peer, Self.options(cache)) == ["server/discover", "tools/list"])
        #expect(try await Self.visit(peer, Self.options(cache)) == ["tools/list"])
        #expect(try await Self.visit(peer, Self.options(cache, .newest)) == ["tools/list"])
        let client = try await MCPClient.connect(peer.target, options: Self.options(cache))
        #expect(client.serverInfo?.name == "s")
        #expect(client.supportedVersions == ["2026-07-28"])
        #expect(client.serverCapabilities.json["tools"] != nil)
        await client.close()
        cache.removeAll()
        #expect(try await Self.visit(peer, Self.options(cache)).first == "server/discover")
        #expect(try await Self.visit(peer, ClientOptions()).first == "server/discover")
    }

    @Test func legacyServerIsNotProbedAgainForADay() async throws {
        let peer = try HTTPClientTransportTests.legacy { .result($0, "{}") }
        defer { peer.stop() }
        let clock = ManualClock(wallTime: WallTime(secondsSinceEpoch: 1_700_000_000))
        let cache = ServerProfileCache(clock: clock)
        let opening = ["initialize", "notifications/initialized", "tools/list"]
        #expect(try await Self.visit(peer, Self.options(cache)) == ["server/discover"] + opening)
        for _ in 0 ..< 3 {
            clock.advance(by: .seconds(7 * 3_600))
            #expect(try await Self.visit(peer, Self.options(cache)) == opening)
        }
        clock.advance(by: .seconds(7 * 3_600))
        #expect(try await Self.visit(peer, Self.options(cache)) == ["server/discover"] + opening)
        #expect(try await Self.visit(peer, Self.options(cache)) == opening)
        // The clock was set back: nobody knows how old the verdict is.
        clock.setWallTime(WallTime(secondsSinceEpoch: 1_600_000_000))
        #expect(try await Self.visit(peer, Self.options(cache)) == ["server/discover"] + opening)
    }

    /// The server became a legacy one: the call finds out, and is made again in the other era.
    @Test(arguments: ["400", "404", "405", "session", "-32022"])
    func modernVerdictThatFails(_ refusal: String) async throws {
        let isOld = Mutex(false)
        let peer = try HTTPPeer { heard in
            guard isOld.withLock({ $0 }) else {
                return heard.rpcMethod == "server/discover"
                    ? .result(heard, Script.discovered) : .result(heard, "{}")
            }
            switch heard.rpcMethod {
            case "initialize":
                return .result(heard, Script.initialized(), headers: "Mcp-Session-Id: s\r\n")
            case _ where heard.header("mcp-session-id") == "s":
                return heard.body?["id"] == nil ? .status(202) : .result(heard, #"{"old":true}"#)
            default:
                let error = { (code: Int, data: String) in
                    #"{"jsonrpc":"2.0","id":null,"error":{"code":\#(code),"message":"no","data":\#(data)}}"#
                }
                return switch refusal {
                case "session": .json(error(-32600, "null"), status: 400)
                case "-32022": .json(error(-32022, #"{"supported":["2025-11-25"]}"#), status: 400)
                default: .status(Int(refusal) ?? 400)
                }
            }
        }
        defer { peer.stop() }
        let cache = ServerProfileCache()
        _ = try await Self.visit(peer, Self.options(cache))
        isOld.withLock { $0 = true }
        let client = try await MCPClient.connect(peer.target, options: Self.options(cache))
        let start = peer.heard.count
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0 ..< 5 {
                group.addTask { try await client.request("tools/list")["old"]?.bool == true }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(client.protocolVersion == .v2025_11_25)
        #expect(Self.methods(peer, from: start).count { $0 == "server/discover" } == 1)
        #expect(Self.methods(peer, from: start).count { $0 == "initialize" } == 1)
        await client.close()
        #expect(
            try await Self.visit(peer, Self.options(cache)).prefix(2) == [
                "initialize", "notifications/initialized",
            ])
    }

    /// Errors that modern servers answer with are no reason for doubt; others are looked into once, and the
    /// call is not repeated where the server is modern after all.
    @Test(arguments: [
        (400, -32602, 1), (404, -32601, 1), (200, -32603, 1), (400, -32020, 1), (400, -32000, 2),
    ])
    func errorsOfAModernServer(_ status: Int, _ code: Int, _ requests: Int) async throws {
        let peer = try HTTPClientTransportTests.modern { heard in
            .json(
                #"{"jsonrpc":"2.0","id":\#(heard.id),"error":{"code":\#(code),"message":"no"}}"#,
                status: status)
        }
        defer { peer.stop() }
        let cache = ServerProfileCache()
        _ = try? await Self.visit(peer, Self.options(cache))
        let client = try await MCPClient.connect(peer.target, options: Self.options(cache))
        let start = peer.heard.count
        await #expect(throws: MCPError.self) { _ = try await client.request("tools/list") }
        #expect(peer.heard.count - start == requests)
        await #expect(throws: MCPError.self) { _ = try await client.request("tools/list") }
        #expect(peer.heard.count - start == requests + 1)
        await client.close()
    }

    @Test func legacyVerdictThatFails() async throws {
        let isNew = Mutex(false)
        let peer = try HTTPPeer { heard in
            let isNew = isNew.withLock { $0 }
            return switch heard.rpcMethod {
            case "server/discover": isNew ? .result(heard, Script.discovered) : .status(400)
            case "initialize" where isNew:
                .json(#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#, status: 404)
            case "initialize": .result(heard, Script.initialized())
            case "notifications/initialized": .status(202)
            default: .result(heard, "{}")
            }
        }
        defer { peer.stop() }
        let cache = ServerProfileCache()
        _ = try await Self.visit(peer, Self.options(cache))
        isNew.withLock { $0 = true }
        #expect(
            try await Self.visit(peer, Self.options(cache)) == [
                "initialize", "server/discover", "tools/list",
            ])
        #expect(try await Self.visit(peer, Self.options(cache)) == ["tools/list"])
    }

    /// A server that is down says nothing about its era (DUAL-18).
    @Test func networksSayNothing() async throws {
        let cache = ServerProfileCache()
        let peer = try HTTPClientTransportTests.legacy { .result($0, "{}") }
        _ = try await Self.visit(peer, Self.options(cache))
        peer.stop()
        for _ in 0 ..< 3 {
            let error = await clientError { _ = try await Self.visit(peer, Self.options(cache)) }
            #expect(error?.kind == .cannotConnect || error?.kind == .connectionClosed)
        }
        #expect(cache.count == 1)
    }

    /// What a server says to one user is not told to another.
    @Test(arguments: ["private", "public"]) func principals(_ scope: String) async throws {
        let discovered = Script.discovered.replacing("private", with: scope)
        let peer = try HTTPPeer { heard in
            heard.rpcMethod == "server/discover" ? .result(heard, discovered) : .result(heard, "{}")
        }
        defer { peer.stop() }
        let cache = ServerProfileCache()
        let ann = Self.options(cache, headers: [("Authorization", "Bearer ann-secret")])
        let bob = Self.options(cache, headers: [("Authorization", "Bearer bob-secret")])
        #expect(try await Self.visit(peer, ann).count == 2)
        #expect(try await Self.visit(peer, ann).count == 1)
        #expect(try await Self.visit(peer, bob).count == (scope == "public" ? 1 : 2))
        let text = "\(try JSONValue(encoding: cache))"
        #expect(text.contains(peer.endpoint))
        #expect(!text.contains("secret"))
    }

    // MARK: Programs

    private static func program(_ marks: String) -> ClientTarget {
        .command(
            "sh", "-c",
            """
            while read -r line; do
                id=${line#*\\"id\\":}; id=${id%%,*}
                case "$line" in
                *server/discover*) echo probed >> "$0"; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" '\(Script.discovered)';;
                *) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\\n' "$id";;
                esac
            done
            """, marks)
    }

    @Test(arguments: [false, true]) func programs(_ isIncluded: Bool) async throws {
        let directory = TemporaryDirectory()
        let marks = "\(directory.path)/probes"
        let cache = ServerProfileCache(includesCommands: isIncluded)
        for _ in 0 ..< 3 {
            let client = try await MCPClient.connect(Self.program(marks), options: Self.options(cache))
            _ = try await client.request("tools/list")
            await client.close()
        }
        let probes = try Files.read(marks, maxBytes: 1_000).count { $0 == 0x0A }
        #expect(probes == (isIncluded ? 1 : 3))
        #expect(cache.count == (isIncluded ? 1 : 0))
    }

    // MARK: The table

    @Test func isBounded() throws {
        let clock = ManualClock()
        let cache = ServerProfileCache(clock: clock)
        for number in 0 ..< 300 {
            clock.advance(by: .seconds(1))
            cache.record(ServerKey(place: "\(number)"), version: "2025-11-25", discovery: nil, isShared: true)
        }
        #expect(cache.count == ServerProfileCache.maxServers)
        #expect(cache.verdict(ServerKey(place: "43")) == nil)
        #expect(cache.verdict(ServerKey(place: "44")) != nil)
        cache.forget(ServerKey(place: "44"))
        #expect(cache.verdict(ServerKey(place: "44")) == nil)
    }

    @Test func isCodable() async throws {
        let cache = ServerProfileCache(lifetime: .seconds(60), includesCommands: true)
        let peer = try HTTPClientTransportTests.modern { .result($0, "{}") }
        defer { peer.stop() }
        _ = try await Self.visit(peer, Self.options(cache))
        let copy = try JSONValue(encoding: cache).decode(ServerProfileCache.self)
        #expect(copy.count == 1)
        #expect(copy.lifetime == .seconds(60))
        #expect(copy.includesCommands)
        #expect(try await Self.visit(peer, Self.options(copy)) == ["tools/list"])
        #expect(throws: (any Error).self) { try JSONValue(parsing: "[]").decode(ServerProfileCache.self) }
    }
}
