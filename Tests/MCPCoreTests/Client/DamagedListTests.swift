import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// A list of which one entry cannot be read: the others are used.
@Suite struct DamagedListTests {
    struct Damage: Sendable, CustomTestStringConvertible {
        let entry: String
        let reason: String
        var testDescription: String { reason }
    }

    /// Entries after which no strict reader reads on. `NAME` is `name`, `uri` or `uriTemplate`.
    static let unreadable = [
        Damage(entry: #"{"NAME":"bad:x","name":"bad","description":"\ud83d"}"#, reason: "surrogate"),
        Damage(
            entry: #"{"NAME":"bad:x","x":"# + String(repeating: "[", count: 200)
                + String(repeating: "]", count: 200) + "}",
            reason: "nested deeper"),
        Damage(entry: "{\"NAME\":\"bad:x\",\"description\":\"a\u{1}b, ]}\"}", reason: "control character"),
        Damage(entry: #"{"NAME":"bad:x","description":"\x"}"#, reason: "escape"),
        Damage(entry: #"{"NAME":"bad:x","n":01}"#, reason: "number"),
    ]

    /// Entries that are JSON, but not what the list is for.
    static let malformed = [
        Damage(entry: "7", reason: "object"), Damage(entry: #"{"title":"no name"}"#, reason: "missing"),
    ]

    struct List: Sendable, CustomTestStringConvertible {
        let method: String
        let member: String
        let key: String
        let read: @Sendable (MCPClient) async throws -> [String]
        var testDescription: String { method }

        /// The entries that can be read.
        var good: [String] { key == "name" ? ["good-1", "good-2"] : ["good:1", "good:2"] }

        func page(_ damaged: String, next: String? = nil) -> String {
            let good = good.map { #"{"\#(key)":"\#($0)","name":"\#($0)","inputSchema":{"type":"object"}}"# }
            let entries = [good[0], damaged.replacing("NAME", with: key)] + good.dropFirst()
            let cursor = next.map { #","nextCursor":"\#($0)""# } ?? ""
            return #"{"resultType":"complete","ttlMs":0,"cacheScope":"private","\#(member)": [ "#
                + entries.joined(separator: " , ") + " ]\(cursor)}"
        }
    }

    static let lists = [
        List(method: "tools/list", member: "tools", key: "name") { try await $0.listTools().map(\.name) },
        List(method: "prompts/list", member: "prompts", key: "name") {
            try await $0.listPrompts().map(\.name)
        },
        List(method: "resources/list", member: "resources", key: "uri") {
            try await $0.listResources().map(\.uri)
        },
        List(method: "resources/templates/list", member: "resourceTemplates", key: "uriTemplate") {
            try await $0.listResourceTemplates().map(\.uriTemplate)
        },
    ]

    @Test(arguments: lists, unreadable + malformed)
    func theOtherEntriesAreUsed(_ list: List, _ damage: Damage) async throws {
        let warnings = Mutex<[String]>([])
        var options = ClientOptions()
        options.trace = { event in
            if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
        }
        let transport = Script.modern { _ in [Script.result(list.page(damage.entry))] }
        let client = try await MCPClient.connect(transport.target, options: options)
        #expect(try await list.read(client) == list.good)
        let texts = warnings.withLock { $0 }
        #expect(texts.count == 1, "\(texts)")
        #expect(texts.first?.hasPrefix("\(list.method): ") == true, "\(texts)")
        #expect(texts.first?.contains(damage.reason) == true, "\(texts)")
        #expect(client.probe.requests == 0)
        await client.close()
    }

    /// Every entry may be damaged, and so may the last one.
    @Test func onlyDamagedEntries() async throws {
        let list = Self.lists[0]
        let transport = Script.modern { _ in
            [Script.result(#"{"resultType":"complete","tools":[{"name":"\ud800"},{"name":"\udc00"}]}"#)]
        }
        let client = try await MCPClient.connect(transport.target)
        #expect(try await list.read(client) == [])
        await client.close()
    }

    /// A damaged response to anything else ends its call at once, instead of at its time-out.
    @Test(
        arguments: [false, true],
        [
            #"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\ud800"}]}}"#,
            #"{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"\ud800"}}"#,
            "{\"jsonrpc\":\"2.0\",\"result\":{\"x\":\"a\u{1}\"},\"id\":ID}",
        ])
    func aDamagedResultEndsItsCall(_ isHTTP: Bool, _ answer: String) async throws {
        let transport = Script.modern(isHTTP: isHTTP) { _ in [.message(answer)] }
        let client = try await MCPClient.connect(transport.target)
        let error = await clientError { _ = try await client.callTool("x") }
        #expect(error?.kind == .protocolViolation)
        #expect(
            error?.message.hasPrefix("the response to tools/call is malformed: ") == true,
            "\(error?.message ?? "")")
        #expect(error?.details.contains { $0.contains("may have been executed") } == true)
        await client.close()
    }

    /// What only resembles a response, or is for nobody, ends nothing.
    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":99,"result":{"tools":["\ud800"]}}"#,
        #"{"jsonrpc":"2.0","id":ID,"method":"ping","params":"\ud800"}"#,
        #"{"jsonrpc":"2.0","id":"ID","result":"\ud800"}"#, #"{"id":ID "result":{}}"#,
        #"{"jsonrpc":"2.0","id":ID,"result":{"tools":["\ud800"}"#, #"{"id":ID,"result":{"tools":[,]}"#,
        #"{"id":ID,"#, #"{"#, #"{"id":"#, #"{"id"}"#, #"{"a\"#, #"[{"id":ID,"result":"\ud800"}]"#,
    ])
    func whatIsNoResponseEndsNothing(_ text: String) async throws {
        let good = Self.lists[0].page("7")
        let transport = Script.modern { _ in [.message(text), Script.result(good)] }
        let client = try await MCPClient.connect(transport.target)
        #expect(try await client.listTools().count == 2)
        await client.close()
    }

    // MARK: Servers behind a server

    @Test(arguments: lists, unreadable + malformed)
    func aServerBehindAServerKeepsItsOtherEntries(_ list: List, _ damage: Damage) async throws {
        let transport = Script.legacy(capabilities: #"{"tools":{},"prompts":{},"resources":{}}"#) { sent in
            let asked = Self.lists.first { $0.method == sent.message.method }
            guard let asked else { return [Script.error(-32601)] }
            let damaged = asked.method == list.method ? damage.entry : #"{"NAME":"own:1","name":"own"}"#
            return [Script.result(asked.page(damaged))]
        }
        let near = MCPServer("near", version: "1")
        let group = UpstreamGroup()
        group.set([Upstream("far", transport.target)])
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        #expect(try await list.read(client).filter { $0.hasPrefix("good") } == list.good)
        let notes = group.statuses.flatMap(\.notes).filter { $0.hasPrefix(list.method) }
        #expect(notes.count == 1, "\(notes)")
        #expect(notes.first?.contains(damage.reason) == true, "\(notes)")
        await client.close()
        await group.stop()
    }

    /// A second page that never comes does not hide the first one.
    @Test func theFirstPagesAreUsed() async throws {
        let transport = Script.legacy(capabilities: #"{"tools":{}}"#) { sent in
            sent.json["params"]?["cursor"] == nil
                ? [Script.result(Self.lists[0].page("7", next: "2"))] : [Script.error(-32603)]
        }
        let near = MCPServer("near", version: "1")
        let group = UpstreamGroup()
        group.set([Upstream("far", transport.target)])
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        #expect(try await client.listTools().map(\.name) == Self.lists[0].good)
        #expect(group.statuses.flatMap(\.notes).contains { $0.hasPrefix("tools/list failed") })
        await client.close()
        await group.stop()
    }

    /// An entry of 100,000 levels is refused at level 128, and the rest of it is passed over in one go: four
    /// times as many levels take about four times as long.
    @Test func depthTakesLinearTime() throws {
        func time(levels: Int) throws -> Duration {
            let deep = String(repeating: #"{"items":"#, count: levels) + String(repeating: "}", count: levels)
            let text = ByteSlice(
                #"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","inputSchema":\#(deep)},"#
                    + #"{"name":"b","inputSchema":{}}]}}"#)
            var found: DamagedResponse?
            let time = threadTime { found = DamagedResponse(text) }
            let response = try #require(found)
            #expect(response.omitted.count == 1 && response.omitted[0].contains("deeper than 128 levels"))
            #expect(response.remainder != nil)
            return time
        }
        let (some, many) = (try time(levels: 25_000), try time(levels: 100_000))
        #expect(many < some * 12 + .milliseconds(100), "\(some), \(many)")
    }
}
