import MCPCore
import MCPHarness
import Synchronization
import TestSupport
import Testing

/// Tools of connected programs in a harness.
@Suite struct ClientToolSourceTests {
    private func events(
        _ tool: Tool, _ approve: @escaping @Sendable (ApprovalRequest) -> ApprovalDecision
    ) async throws -> [String] {
        let fixture = HubFixture()
        try await fixture.attach(try HubFixture.provider([tool]), "phone")
        let harness = try ToolHarness(
            name: "x", summary: "", model: ScriptedModel(.calls((tool.name, "{}")), .text("done")),
            sources: [ClientToolSource(fixture.hub, channel: "a")], approvals: { approve($0) })
        let (events, error) = await HarnessFixture.events(harness)
        #expect(error == nil)
        return events.map(\.word)
    }

    // H23: beside a host tool, and the user is told where it comes from.
    @Test func aToolOfAnAppIsCalledLikeAnyOther() async throws {
        let fixture = HubFixture()
        try await fixture.attach(try HubFixture.provider([HubFixture.tool("greetUser")]), "phone")
        let asked = Mutex<[String]>([])
        let source = ClientToolSource(fixture.hub, channel: "a")
        let harness = try ToolHarness(
            name: "x", summary: "",
            model: ScriptedModel(
                .calls(("greetUser", "{}"), ("lookup_item", HarnessFixture.askFor)), .text("done")),
            sources: [HostToolSource([HarnessFixture().lookup()]), source],
            approvals: { request in
                asked.withLock { $0.append("\(request.sourceName)/\(request.tool.name)") }
                return .approved()
            })
        let reply = try await harness.send("go")
        #expect(reply.calls.map(\.status) == [.completed, .completed])
        #expect(reply.calls.map(\.output.text) == ["greetUser", "A-1: 12 in stock"])
        #expect(reply.calls.map(\.invocation.source) == [source.id, "host"])
        #expect(asked.withLock { $0 } == ["\(source.displayName)/greetUser"])
    }

    // C28: another client offers the same tool while the user decides.
    @Test(arguments: [true, false]) func whatIsAgreedToIsRunByTheClientThatWasNamed(_ isInside: Bool)
        async throws
    {
        let fixture = HubFixture()
        @Sendable func attach(_ name: String) async throws {
            let server = try HubFixture.provider([HubFixture.tool("save")]) { _, _ in
                .text("saved by \(name)")
            }
            try await fixture.attach(server, name)
        }
        try await attach("bank")
        let agent = try await fixture.agent()
        let source: any ToolSource =
            isInside ? ClientToolSource(fixture.hub, channel: "a") : MCPServerSource(agent, id: "a")
        let asked = Mutex<[String?]>([])
        let harness = try ToolHarness(
            name: "x", summary: "",
            model: ScriptedModel(.calls(("save", "{}")), .calls(("save", "{}")), .text("done")),
            sources: [source],
            approvals: { request in
                asked.withLock { $0.append(request.tool.title) }
                let isFirst = asked.withLock { $0.count == 1 }
                do { if isFirst { try await attach("eve") } } catch { return .denied(reason: "\(error)") }
                return .approved()
            })
        let reply = try await harness.send("go")
        #expect(reply.calls.map(\.output.text) == ["saved by bank", "saved by eve"])
        #expect(asked.withLock { $0 } == ["save (from client bank)", "save (from client eve)"])
        await agent.close()
        await fixture.hub.stop()
    }

    // C04
    @Test(arguments: [true, false])
    func theHarnessTellsOfExternalSourcesBeforeTheCall(_ isShown: Bool) async throws {
        var tool = HubFixture.tool("look")
        if isShown { tool.meta = [VendorKey.externalSources: true] }
        let words = try await events(tool) { _ in .approved() }
        #expect(
            words == ["round 1", "requested", "approval"] + (isShown ? ["external"] : [])
                + ["completed", "text", "end"])
    }

    // C31: what a client claims does not spare the user the question.
    @Test func clientsAreAskedFor() async throws {
        var tool = HubFixture.tool("clipboard")
        tool.annotations = ToolAnnotations(readOnlyHint: true, openWorldHint: false)
        tool.meta = [VendorKey.externalSources: true]
        let words = try await events(tool) { _ in .denied(reason: nil) }
        #expect(words == ["round 1", "requested", "approval", "denied", "text", "end"])
    }

    @Test func changesAreTold() async throws {
        let fixture = HubFixture()
        let source = ClientToolSource(fixture.hub, channel: "a")
        var changes = source.changes.makeAsyncIterator()
        try await fixture.attach(try HubFixture.provider([HubFixture.tool("t")]), "one")
        #expect(await changes.next() != nil)
        #expect(try await source.tools().map(\.name) == ["t"])
    }
}
