import MCPApps
import MCPCore
import MCPHarness
import Testing

/// What a view hears of its call, in order.
@Suite struct CallOrderTests {
    private static let input = "ui/notifications/tool-input"
    private static let partial = "ui/notifications/tool-input-partial"
    private static let result = "ui/notifications/tool-result"
    private static let cancelled = "ui/notifications/tool-cancelled"

    // A18, A34
    @Test func partialsThenInputThenResult() {
        var bench = ViewBench.ready()
        var sent = bench.machine.toolInputPartial(["c": "Be"])
        sent += bench.machine.toolInputPartial(["c": "Bern"])
        sent += bench.machine.toolInput(["c": "Bern"])
        sent += bench.machine.toolInputPartial(["c": "late"])
        sent += bench.machine.toolInput(["c": "twice"])
        sent += bench.machine.toolResult(.text("sunny"))
        sent += bench.machine.toolResult(.text("twice"))
        sent += bench.machine.toolCancelled(reason: "late")
        sent += bench.machine.toolInputPartial(["c": "later"])
        #expect(sent.methods == [Self.partial, Self.partial, Self.input, Self.result])
        #expect(sent.sent[1]["params"] == ["arguments": ["c": "Bern"]])
        #expect(sent.sent[2]["params"] == ["arguments": ["c": "Bern"]])
        #expect(sent.sent[3]["params"]?["content"] == [["type": "text", "text": "sunny"]])
    }

    /// Only the last of the partial inputs is kept for a view that is not there yet.
    @Test func partialsBeforeTheView() {
        var bench = ViewBench()
        for letter in ["a", "ab", "abc"] { _ = bench.machine.toolInputPartial(["c": .string(letter)]) }
        bench.load()
        bench.initialize()
        let sent = bench.notify("ui/notifications/initialized").sent
        #expect(sent.map { $0["params"] } == [["arguments": ["c": "abc"]]])
        #expect(bench.machine.toolInput([:]).methods == [Self.input])
    }

    @Test func aResultWaitsForTheInput() {
        var bench = ViewBench.ready()
        #expect(bench.machine.toolResult(.text("x")) == [])
        #expect(bench.machine.toolInput([:]).methods == [Self.input, Self.result])
    }

    // A29
    @Test(arguments: [nil, "The user cancelled."])
    func cancellation(reason: String?) {
        var bench = ViewBench.ready()
        _ = bench.machine.toolInput([:])
        let sent = bench.machine.toolCancelled(reason: reason)
        #expect(sent.methods == [Self.cancelled])
        #expect(sent.sent[0]["params"] == (reason.map { ["reason": .string($0)] } ?? [:]))
        #expect(bench.machine.toolResult(.text("late")) == [])
    }

    /// A call that was refused has no input.
    @Test func cancellationWithoutInput() {
        var bench = ViewBench.ready()
        #expect(bench.machine.toolCancelled(reason: "denied").methods == [Self.cancelled])
        #expect(bench.machine.toolInput([:]) == [])
    }

    // A07
    @Test func theResultIsVerbatim() throws {
        let result = try CallToolResult(
            json: [
                "content": [
                    ["type": "text", "text": "t"],
                    ["type": "audio", "data": "AA==", "mimeType": "audio/wav"],
                    ["type": "resource_link", "uri": "x:///a", "name": "a"],
                    ["type": "resource", "resource": ["uri": "x:///b", "blob": "AA=="]],
                    ["type": "new_kind", "x": [1, .null]],
                ],
                "structuredContent": ["deep": [["n": .null]]], "isError": true, "_meta": ["k": 1],
            ])
        var bench = ViewBench.ready()
        _ = bench.machine.toolInput([:])
        #expect(bench.machine.toolResult(result).sent.first?["params"] == result.json)
    }

    // A35
    @Test func onlyTheDifferenceIsTold() {
        var bench = ViewBench.ready()
        var context = ViewBench.context
        #expect(bench.machine.contextChanged(context) == [])
        context.theme = "dark"
        let dark = bench.machine.contextChanged(context)
        #expect(dark.methods == ["ui/notifications/host-context-changed"])
        #expect(dark.sent.first?["params"] == ["theme": "dark"])
        #expect(bench.machine.contextChanged(context) == [])
        // A36
        context.containerDimensions?.width = .fixed(500)
        context.displayMode = .fullscreen
        #expect(
            bench.machine.contextChanged(context).sent.first?["params"] == [
                "displayMode": "fullscreen", "containerDimensions": ["width": 500, "maxHeight": 400],
            ])
        // What is not told any more has no word in the protocol.
        context.theme = nil
        #expect(bench.machine.contextChanged(context) == [])
    }

    @Test func listsThatChange() {
        var capabilities = HostCapabilities()
        capabilities.serverTools = true
        var bench = ViewBench.ready(capabilities: capabilities)
        #expect(bench.machine.serverListChanged(.tools).methods == ["notifications/tools/list_changed"])
        #expect(bench.machine.serverListChanged(.resources) == [])
        #expect(bench.machine.serverListChanged(.prompts).methods == ["notifications/prompts/list_changed"])
    }
}
