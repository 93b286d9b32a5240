import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What a client keeps of a server's answers, and how long (server/utilities/caching).
@Suite(.timeLimit(.minutes(5))) struct ResultCacheTests {
    /// A server whose lists are fresh for `ttl` milliseconds; its tools are named by how often they were
    /// listed.
    private final class Peer: Sendable {
        let clock = ManualClock()
        let transport: ScriptedTransport
        let client: MCPClient

        init(
            ttl: String? = "60000", isModern: Bool = true, usesCache: Bool = true,
            _ other: (@Sendable (ScriptedTransport.Sent) -> [ScriptedTransport.Step])? = nil
        ) async throws {
            let count = Counter()
            let body: @Sendable (ScriptedTransport.Sent) -> [ScriptedTransport.Step] = { sent in
                if let steps = other?(sent), !steps.isEmpty { return steps }
                if sent.method == "server/discover", isModern {
                    return [
                        Script.result(
                            Script.discovered.replacing(#""ttlMs":0"#, with: #""ttlMs":\#(ttl ?? "0")"#))
                    ]
                }
                count.increment()
                let hints = ttl.map { #","ttlMs":\#($0),"cacheScope":"public""# } ?? ""
                let member =
                    switch sent.method {
                    case "tools/list": #""tools":[{"name":"t\#(count.value)","inputSchema":{}}]"#
                    case "prompts/list": #""prompts":[{"name":"p\#(count.value)"}]"#
                    case "resources/list": #""resources":[{"name":"r","uri":"mem://\#(count.value)"}]"#
                    case "resources/templates/list":
                        #""resourceTemplates":[{"name":"r","uriTemplate":"mem://\#(count.value)"}]"#
                    case "resources/read": #""contents":[{"uri":"mem://a","text":"\#(count.value)"}]"#
                    default: #""n":\#(count.value)"#
                    }
                return [Script.result(#"{"resultType":"complete",\#(member)\#(hints)}"#)]
            }
            transport = isModern ? ScriptedTransport(body) : Script.legacy("2025-11-25", body)
            var options = ClientOptions()
            options.cache = usesCache
            client = try await MCPClient.connect(transport.target, options: options, clock: clock)
        }

        func tool() async throws -> String? { try await client.listTools().first?.name }
        func asked(_ method: String) -> Int { transport.methods.filter { $0 == method }.count }
    }

    // CACHE-01, CACHE-05, CACHE-06: fresh until the time is over, and asked for only when needed.
    @Test func freshForItsTime() async throws {
        let peer = try await Peer()
        #expect(try await peer.tool() == "t1")
        peer.clock.advance(by: .milliseconds(59_999))
        #expect(try await peer.tool() == "t1")
        peer.clock.advance(by: .milliseconds(1))
        #expect(peer.asked("tools/list") == 1)
        #expect(try await peer.tool() == "t2")
        #expect(peer.asked("tools/list") == 2)
        await peer.client.close()
    }

    // CACHE-01, CACHE-03: each of the methods, each by itself, each with its own params.
    @Test func whatIsKept() async throws {
        let peer = try await Peer()
        let client = peer.client
        for _ in 0 ..< 2 {
            _ = try await client.listTools()
            _ = try await client.listPrompts()
            _ = try await client.listResources()
            _ = try await client.listResourceTemplates()
            _ = try await client.request("server/discover")
            #expect(try await client.readResource("mem://a").first?.text == "5")
            #expect(try await client.readResource("mem://b").first?.text == "6")
            _ = try? await client.callTool("t")
            _ = try? await client.getPrompt("p")
        }
        #expect(
            Dictionary(peer.transport.methods.map { ($0, 1) }, uniquingKeysWith: +) == [
                // One of them is the opening.
                "server/discover": 2, "tools/list": 1, "prompts/list": 1, "resources/list": 1,
                "resources/templates/list": 1, "resources/read": 2, "tools/call": 2, "prompts/get": 2,
            ])
        #expect(client.probe.results == 7)
        await client.close()
        // Nothing is answered after the end.
        #expect(await clientError { _ = try await client.listTools() }?.kind == .connectionClosed)
    }

    // CACHE-05: absent, zero, negative or no number at all: stale at once. CACHE-14: without a scope it is
    // private.
    @Test(arguments: [nil, "0", "-1", "1.5", #""60000""#, "null"] as [String?])
    func notKept(_ ttl: String?) async throws {
        let peer = try await Peer(ttl: ttl)
        #expect(try await peer.tool() == "t1")
        #expect(try await peer.tool() == "t2")
        #expect(peer.client.probe.results == 0)
        await peer.client.close()
    }

    @Test func neverLongerThanADay() async throws {
        let peer = try await Peer(ttl: "9223372036854775807")
        #expect(try await peer.tool() == "t1")
        peer.clock.advance(by: ResultCache.maxLifetime)
        #expect(try await peer.tool() == "t2")
        await peer.client.close()
    }

    // DUAL-21: before 2026-07-28 the members mean nothing.
    @Test(arguments: [(false, true), (true, false)]) func switchedOff(_ isModern: Bool, _ usesCache: Bool)
        async throws
    {
        let peer = try await Peer(isModern: isModern, usesCache: usesCache)
        #expect(try await peer.tool() == "t1")
        #expect(try await peer.tool() == "t2")
        await peer.client.close()
    }

    @Test func passedBy() async throws {
        let peer = try await Peer()
        let client = peer.client
        #expect(try await client.readResource("mem://a").first?.text == "1")
        var fresh = CallOptions()
        fresh.usesCache = false
        #expect(try await client.readResource("mem://a", options: fresh).first?.text == "2")
        // What came anew is what is kept.
        #expect(try await client.readResource("mem://a").first?.text == "2")
        // Another `_meta` may be another question.
        #expect(
            try await client.readResource("mem://a", options: CallOptions(meta: ["k": 1])).first?.text == "3")
        #expect(try await client.readResource("mem://a").first?.text == "2")
        client.dropCache()
        #expect(try await client.readResource("mem://a").first?.text == "4")
        let before = peer.transport.sent.count
        _ = try await client.ping()
        _ = try await client.ping()
        #expect(peer.transport.sent.count == before + 2)
        await client.close()
    }

    // CACHE-02, CACHE-04: neither the question nor what the answers led to.
    @Test func roundsAreNotKept() async throws {
        let peer = try await Peer { sent in
            guard sent.method == "resources/read" else { return [] }
            return sent.json["params"]?["requestState"] == nil
                ? [
                    Script.result(
                        #"{"resultType":"input_required","requestState":"s","ttlMs":60000,"cacheScope":"public"}"#
                    )
                ] : []
        }
        for number in 1 ... 2 {
            #expect(try await peer.client.readResource("mem://a").first?.text == "\(number)")
        }
        #expect(peer.asked("resources/read") == 4)
        #expect(peer.client.probe.results == 0)
        await peer.client.close()
    }

    // CACHE-10: a change that is told makes what it is about stale, and only that.
    @Test(arguments: [
        (#"notifications/tools/list_changed","params":{}"#, ["tools/list"]),
        (#"notifications/prompts/list_changed","params":{}"#, ["prompts/list"]),
        (
            #"notifications/resources/list_changed","params":{}"#,
            ["resources/list", "resources/templates/list"]
        ),
        (#"notifications/resources/updated","params":{"uri":"mem://a"}"#, ["resources/read"]),
        (#"notifications/resources/updated","params":{"uri":"mem://a/part"}"#, ["resources/read"]),
        (#"notifications/resources/updated","params":{"uri":"mem://ab"}"#, []),
        (#"notifications/message","params":{"level":"info","data":1}"#, []),
    ]) func changes(_ notification: String, _ stale: [String]) async throws {
        let peer = try await Peer()
        let client = peer.client
        func ask() async throws {
            _ = try await client.listTools()
            _ = try await client.listPrompts()
            _ = try await client.listResources()
            _ = try await client.listResourceTemplates()
            _ = try await client.readResource("mem://a")
        }
        try await ask()
        peer.transport.push(#"{"jsonrpc":"2.0","method":"\#(notification)}"#)
        let before = peer.transport.sent.count
        try await ask()
        #expect(peer.transport.methods[before...].elementsEqual(stale))
        await client.close()
    }

    // CACHE-10: an answer that left before the change is told is an old one.
    @Test func aChangeWhileItIsAsked() async throws {
        let peer = try await Peer { sent in
            sent.method == "tools/list"
                ? [
                    .message(#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#),
                    Script.tools(ttl: 60_000),
                ] : []
        }
        for _ in 0 ..< 2 { _ = try await peer.client.listTools() }
        #expect(peer.asked("tools/list") == 2)
        await peer.client.close()
    }

    // CACHE-11, CACHE-12: each page has its own time and is asked for by its cursor.
    @Test func pages() async throws {
        let peer = try await Peer { sent in
            guard sent.method == "tools/list" else { return [] }
            return sent.json["params"]?["cursor"] == nil
                ? [Script.tools(#"{"name":"a","inputSchema":{}}"#, ttl: 60_000, next: "2")]
                : [Script.tools(#"{"name":"b","inputSchema":{}}"#, ttl: 1_000)]
        }
        #expect(try await peer.client.listTools().map(\.name) == ["a", "b"])
        peer.clock.advance(by: .seconds(2))
        #expect(try await peer.client.listTools().map(\.name) == ["a", "b"])
        let cursors = peer.transport.sent.dropFirst().map { $0.json["params"]?["cursor"]?.string }
        #expect(cursors == [nil, "2", "2"])
        await peer.client.close()
    }

    // CACHE-12: a cursor that is no more drops all pages, and the list is fetched from its beginning.
    @Test func anInvalidCursor() async throws {
        let version = Counter()
        let peer = try await Peer { sent in
            guard sent.method == "tools/list" else { return [] }
            let now = version.value
            switch sent.json["params"]?["cursor"]?.string {
            case nil:
                return [Script.tools(#"{"name":"a\#(now)","inputSchema":{}}"#, ttl: 60_000, next: "c\(now)")]
            case "c\(now)": return [Script.tools(#"{"name":"b\#(now)","inputSchema":{}}"#, ttl: 1)]
            default: return [Script.error(-32602)]
            }
        }
        #expect(try await peer.client.listTools().map(\.name) == ["a0", "b0"])
        peer.clock.advance(by: .seconds(2))
        version.increment()
        #expect(try await peer.client.listTools().map(\.name) == ["a1", "b1"])
        // Who steps through the pages hears of it, and begins again by himself.
        peer.clock.advance(by: .seconds(2))
        version.increment()
        var names: [String] = []
        await #expect(throws: MCPError.self) {
            for try await tool in peer.client.tools { names.append(tool.name) }
        }
        #expect(names == ["a1"])
        #expect(try await peer.client.listTools().map(\.name) == ["a2", "b2"])
        await peer.client.close()
    }

    @Test func aListWhoseCursorsAreAlwaysInvalid() async throws {
        let peer = try await Peer { sent in
            guard sent.method == "tools/list" else { return [] }
            return sent.json["params"]?["cursor"] == nil ? [Script.tools(next: "x")] : [Script.error(-32602)]
        }
        await #expect(throws: MCPError.self) { try await peer.client.listTools() }
        #expect(peer.asked("tools/list") == 4)
        await peer.client.close()
    }

    // CACHE-08: two clients are two caches, so that nothing is shared between principals.
    @Test func eachClientHasItsOwn() async throws {
        let (one, other) = (try await Peer(), try await Peer())
        _ = try await one.tool()
        _ = try await other.tool()
        #expect(one.asked("tools/list") == 1)
        #expect(other.asked("tools/list") == 1)
        await one.client.close()
        await other.client.close()
    }

    // MARK: Bounds

    private static func key(_ number: Int) throws -> ResultCache.Key {
        try #require(ResultCache.Key("resources/read", ["uri": .string("mem://\(number)")]))
    }

    private static func result(_ bytes: Int) -> RawJSON {
        RawJSON(["ttlMs": 1_000, "text": .string(String(repeating: "x", count: bytes))])
    }

    @Test func boundedInNumber() throws {
        let cache = ResultCache(clock: ManualClock())
        for number in 0 ... ResultCache.maxEntries {
            cache.keep(Self.result(1), cache.ticket(for: try Self.key(number)))
        }
        #expect(cache.count == ResultCache.maxEntries)
        #expect(cache.result(for: try Self.key(0)) == nil)
        #expect(cache.result(for: try Self.key(1)) != nil)
        cache.dropAll()
        #expect(cache.count == 0)
        #expect(cache.bytes == 0)
    }

    @Test(.ownThreads) func boundedInBytes() throws {
        let cache = ResultCache(clock: ManualClock())
        for number in 0 ..< 10 {
            cache.keep(Self.result(3 << 20), cache.ticket(for: try Self.key(number)))
            #expect(cache.bytes <= ResultCache.maxBytes)
        }
        #expect(cache.count == 5)
        #expect(cache.result(for: try Self.key(9)) != nil)
        // One that is too large takes the place of nothing, but what was there before is old.
        cache.keep(Self.result(ResultCache.maxEntryBytes), cache.ticket(for: try Self.key(9)))
        #expect(cache.count == 4)
        #expect(cache.result(for: try Self.key(9)) == nil)
    }
}
