import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// A server that takes the place of another one of its name.
@Suite(.timeLimit(.minutes(5))) struct UpstreamReloadTests {
    private static func makeServer(_ name: String) throws -> MCPServer {
        let server = MCPServer(name, version: "1")
        for tool in ["quick", "other"] { server.addTool(tool, "Quick") { () in "\(name): \(tool)" } }
        try server.register(Prompt("greet")) { _, _ in GetPromptResult([.user("\(name): greet")]) }
        try server.register(Resource("far:///one", name: "one")) { _ in [.text(name, uri: "far:///one")] }
        return server
    }

    private static func upstream(_ server: MCPServer, _ change: (inout UpstreamOptions) -> Void = { _ in })
        -> Upstream
    {
        var options = UpstreamOptions()
        change(&options)
        return Upstream("far", .inProcess(server), options: options)
    }

    /// A client of a server whose list is that of before a reload, as that of a call which has just begun.
    private static func late(
        _ group: UpstreamGroup, after change: (UpstreamGroup) async -> Void
    ) async throws -> MCPClient {
        let (near, late) = (MCPServer("near", version: "1"), MCPServer("late", version: "1"))
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        #expect(try await client.listTools().count == 2)
        await client.close()
        late.adopt(near)
        await change(group)
        return try await MCPClient.connect(.inProcess(late))
    }

    /// A call that finds its server stopped goes to the one that has taken its place.
    @Test(arguments: [false, true]) func aCallThatComesLate(_ isPerPrincipal: Bool) async throws {
        let group = UpstreamGroup()
        let servers = try ["old", "new", "newer"].map { name in
            Self.upstream(try Self.makeServer(name)) { $0.isPerPrincipal = isPerPrincipal }
        }
        group.set([servers[0]])
        let client = try await Self.late(group) { group in
            for index in 1 ... 2 {
                group.set([servers[index]])
                #expect(await comesTrue { servers[index - 1].status.state == .stopped })
            }
        }
        #expect(try await client.callTool("quick").text == "newer: quick")
        #expect(try await client.getPrompt("greet").messages.first?.content.text == "newer: greet")
        #expect(try await client.readResource("far:///one").first?.text == "newer")
        await client.close()
        await group.stop()
    }

    /// It reaches only what the new settings offer.
    @Test func aLateCallOfWhatIsLeftOut() async throws {
        let group = UpstreamGroup()
        let old = Self.upstream(try Self.makeServer("old"))
        group.set([old])
        let new = Self.upstream(try Self.makeServer("new")) { $0.tools = ["!other"] }
        let client = try await Self.late(group) { group in
            group.set([new])
            #expect(await comesTrue { old.status.state == .stopped })
        }
        #expect(try await client.callTool("quick").text == "new: quick")
        let refused = try await client.callTool("other")
        #expect(
            refused.isError
                && refused.text == "far: the server was given other settings, and no longer offers this")
        await client.close()
        await group.stop()
    }

    @Test func aLateCallOfARemovedServer() async throws {
        let group = UpstreamGroup()
        let old = Self.upstream(try Self.makeServer("old"))
        group.set([old])
        let client = try await Self.late(group) { group in
            group.set([])
            #expect(await comesTrue { old.status.state == .stopped })
        }
        let refused = try await client.callTool("quick")
        #expect(refused.isError && refused.text == "far: the server was removed")
        await client.close()
        await group.stop()
    }

    /// The connection that a call has found is not given up for another principal, nor closed by a reload.
    @Test func aConnectionThatACallHasFound() async throws {
        let upstream = Self.upstream(try Self.makeServer("old")) { $0.isPerPrincipal = true }
        let link = try #require(try upstream.lease(for: "ada"))
        for number in 1 ... UpstreamLimits.connections { _ = try upstream.link(for: "principal \(number)") }
        #expect(try upstream.link(for: "ada").connection === link.connection)
        let stop = Task { await upstream.stop(grace: nil, because: "the test ends") }
        #expect(
            await comesTrue {
                guard let more = try? upstream.lease(for: "ada") else { return true }
                more.connection.endLease()
                return false
            })
        _ = try await link.connection.acquire()
        link.connection.release()
        link.connection.endLease()
        await stop.value
    }

    /// A call that waits for the start of a server goes to the one that has taken its place if that fails.
    @Test func aCallThatWaitsForAStartInVain() async throws {
        let starts = Counter()
        let script = ScriptedTransport { sent in
            switch sent.method {
            case "initialize" where starts.increment() == 1:
                [Script.result(Script.initialized(capabilities: #"{"tools":{}}"#))]
            case "initialize", "notifications/initialized": []
            case "tools/list": [Script.tools(#"{"name":"quick","inputSchema":{"type":"object"}}"#)]
            default: [Script.result("{}")]
            }
        }
        var options = UpstreamOptions()
        options.protocol = .exactly(.v2025_11_25)
        options.idle = .milliseconds(1)
        let old = Upstream("far", script.target, options: options)
        let (near, group) = (MCPServer("near", version: "1"), UpstreamGroup())
        group.set([old])
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        #expect(try await client.listTools().map(\.name) == ["quick"])
        #expect(await comesTrue { old.status.state == .idle })
        let call = Task { try await client.callTool("quick") }
        await waitUntil { starts.value == 2 }
        let new = Self.upstream(try Self.makeServer("new"))
        group.set([new])
        #expect(await comesTrue { new.status.state == .ready })
        let id = try #require(script.sent.last { $0.method == "initialize" }?.id)
        script.push(#"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32603,"message":"no"}}"#)
        #expect(try await call.value.text == "new: quick")
        await client.close()
        await group.stop()
    }

    // MARK: Lists

    /// A list that waits for a server which connects for the first time waits for the one that takes its place.
    @Test func aListThatWaits() async throws {
        let group = UpstreamGroup()
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        var mute = Upstream("far", ScriptedTransport { _ in [] }.target)
        group.set([mute])
        let client = try await MCPClient.connect(.inProcess(near))
        let tools = Task { try await client.listTools().map(\.name) }
        let resources = Task { try await client.listResources().map(\.uri) }
        #expect(await comesTrue { near.dispatcher.inFlight.count == 2 })
        for _ in 0 ..< 2 {
            let old = mute
            mute = Upstream("far", ScriptedTransport { _ in [] }.target)
            group.set([mute], grace: .zero)
            #expect(await comesTrue { old.status.state == .stopped })
        }
        group.set([Self.upstream(try Self.makeServer("new"))], grace: .zero)
        #expect(try await tools.value == ["quick", "other"])
        #expect(try await resources.value == ["far:///one"])
        await client.close()
        await group.stop()
    }

    private static let missing = ClientTarget.command("/nonexistent/program")

    /// What the server listed with other settings stays while it cannot be started with these.
    @Test func aChangedServerThatDoesNotStart() async throws {
        let group = UpstreamGroup()
        group.set([Self.upstream(try Self.makeServer("old")) { $0.tools = ["quick"] }])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        #expect(try await client.listTools().map(\.name) == ["quick"])
        var options = UpstreamOptions()
        options.restarts = false
        options.prefix = "new_"
        options.prompts = ["!*"]
        group.set([Upstream("far", Self.missing, options: options)])
        #expect(await comesTrue { group.statuses.first?.state == .failed })
        // By the settings of now.
        #expect(try await client.listTools().map(\.name) == ["new_quick", "new_other"])
        #expect(try await client.listPrompts().isEmpty)
        #expect(try await client.listResources().map(\.uri) == ["far:///one"])
        let failed = try await client.callTool("new_quick")
        #expect(
            failed.isError && failed.text.contains("/nonexistent/program: cannot be executed"),
            "\(failed.text)")
        // Until it has answered.
        let empty = MCPServer("empty", version: "1")
        empty.addTool("only", "Only") { () in "only" }
        group.set([Self.upstream(empty)])
        #expect(try await client.listTools().map(\.name) == ["only"])
        group.set([])
        #expect(try await client.listTools().isEmpty)
        await client.close()
        await group.stop()
    }

    /// What was not reviewed is not offered, also while nobody can ask whether it is as it was reviewed.
    @Test func aChangedServerWithALock() async throws {
        let tool: JSONValue = ["name": "quick", "inputSchema": ["type": "object"]]
        func pins(_ tools: JSONValue) throws -> UpstreamPins {
            let file: JSONValue = ["lockVersion": 1, "servers": ["far": ["tools": tools]]]
            return try UpstreamPins(lockFile: Array(file.serialized().utf8), server: "far")
        }
        var old = UpstreamDefinitions()
        old.tools = try [Tool(json: tool)]
        old.notes = ["a note"]
        let reviewed = try pins(["quick": tool])
        #expect(old.kept(reviewed: nil, now: nil).tools.count == 1)
        #expect(old.kept(reviewed: reviewed, now: nil).notes.isEmpty)
        #expect(old.kept(reviewed: reviewed, now: reviewed).tools.count == 1)
        #expect(old.kept(reviewed: nil, now: reviewed).tools.isEmpty)
        #expect(old.kept(reviewed: reviewed, now: try pins([:])).tools.isEmpty)
        let changed: JSONValue = ["name": "quick", "description": "New", "inputSchema": ["type": "object"]]
        #expect(old.kept(reviewed: reviewed, now: try pins(["quick": changed])).tools.isEmpty)
    }
}
