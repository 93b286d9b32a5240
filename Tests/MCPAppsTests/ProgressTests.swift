import MCPApps
import MCPCore
import MCPHarness
import TestSupport
import Testing

/// The progress of a view's own requests, which keeps it from giving up.
@Suite struct ProgressTests {
    private static func params(_ token: JSONValue?) -> JSONValue {
        var meta = JSONObject()
        meta["progressToken"] = token
        return ["name": "slow", "arguments": [:], "_meta": .object(meta)]
    }

    private static let heartbeat = Effect.setTimer(id: 3, after: .seconds(15))

    // D4
    @Test func aViewHearsOfProgressUntilItHasTheResponse() throws {
        var bench = ViewBench.ready()
        let effects = bench.request("tools/call", Self.params("t1"))
        #expect(effects.contains(Self.heartbeat))
        let id = try #require(ViewBench.performed(effects)?.id)
        func progress(_ effects: [Effect]) -> [JSONValue] { effects.sent.map { $0["params"] ?? .null } }
        #expect(
            progress(bench.machine.progress(id, ProgressReport(1, total: 4, message: "step"))) == [
                ["progressToken": "t1", "progress": 1, "total": 4, "message": "step"]
            ])
        // A person thinks, the server is silent: the view hears that it goes on, and values grow.
        let first = bench.machine.timerFired(3)
        #expect(first.methods == ["notifications/progress"] && first.contains(Self.heartbeat))
        let values = [first, bench.machine.timerFired(3)].map {
            $0.sent.first?["params"]?["progress"]?.doubleValue ?? 0
        }
        #expect(values[0] > 1 && values[1] > values[0] && values[1] < 2)
        // A server that goes back does not make the view's progress go back.
        let back =
            bench.machine.progress(id, ProgressReport(0.5)).sent.first?["params"]?["progress"]?.doubleValue
            ?? 0
        #expect(back > values[1])
        #expect(bench.machine.progress(id, ProgressReport(.nan)).isEmpty)
        #expect(bench.machine.progress(id, ProgressReport(.infinity)).isEmpty)
        _ = bench.machine.answer(id, .success([:]))
        #expect(bench.machine.progress(id, ProgressReport(9)).isEmpty)
        #expect(bench.machine.timerFired(3).isEmpty)
    }

    @Test(
        arguments: [nil, nil, .bool(true), [:], .string(String(repeating: "x", count: 300)), 1.5]
            as [JSONValue?])
    func withoutAUsableTokenThereIsNoProgress(token: JSONValue?) throws {
        var bench = ViewBench.ready()
        let effects = bench.request("tools/call", Self.params(token))
        #expect(!effects.contains(Self.heartbeat))
        let id = try #require(ViewBench.performed(effects)?.id)
        #expect(bench.machine.progress(id, ProgressReport(1)).isEmpty)
    }

    @Test func whatTheViewGivesUpIsFollowedNoMore() throws {
        var bench = ViewBench.ready()
        let effects = bench.request("resources/read", ["uri": "a:b", "_meta": ["progressToken": 7]], id: 50)
        let id = try #require(ViewBench.performed(effects)?.id)
        bench.notify("notifications/cancelled", ["requestId": 50])
        #expect(bench.machine.progress(id, ProgressReport(1)).isEmpty && bench.machine.timerFired(3).isEmpty)
    }

    // D4: from the server to the view, while the call is running
    @Test func theServersProgressReachesTheView() async throws {
        let server = try UIServer()
        let fixture = await HostFixture()
        let id = try await fixture.add(server.server, as: "one")
        let view = try await fixture.view(of: try await fixture.host.call(id, "chart"))
        try await view.begin()
        await view.send(3, "tools/call", ["name": "slow", "arguments": [:], "_meta": ["progressToken": "p"]])
        let params = try await view.params(of: "notifications/progress")
        #expect(params == ["progressToken": "p", "progress": 1, "total": 4, "message": "a quarter"])
        server.release.open()
        #expect(try await view.answer(to: 3)["result"]?["content"]?[0]?["text"] == "at last")
        await fixture.close()
    }

    /// A server that writes its results by hand: members that no type knows.
    private static let script = #"""
        result='{"content":[{"type":"text","text":"t","extra":1}],"structuredContent":{"a":[1,[2]]},"_meta":{"b":1},"own":{"deep":[null]}}'
        while IFS= read -r line; do
          id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
          case "$line" in
          *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"raw","version":"1"}}' ;;
          *'"tools/list"'*) answer='"result":{"tools":[{"name":"show","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://raw"}}}]}' ;;
          *'"resources/read"'*) answer='"result":{"contents":[{"uri":"ui://raw","mimeType":"text/html;profile=mcp-app","text":"<p>raw</p>"}]}' ;;
          *'"tools/call"'*) answer='"result":'$result ;;
          *) answer='"error":{"code":-32601,"message":"unknown"}' ;;
          esac
          [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
        done
        """#

    // D8: what the server wrote arrives at the view as it was written
    @Test func resultsAreVerbatim() async throws {
        let fixture = await HostFixture()
        let id = try await fixture.host.addServer(.command("/bin/sh", ["-c", Self.script]), name: "raw")
        _ = try await fixture.first { event in
            if case .tools(id, let tools) = event, !tools.isEmpty { true } else { nil }
        }
        let view = try await fixture.view(of: try await fixture.host.call(id, "show"))
        try await view.begin()
        let written: JSONValue = [
            "content": [["type": "text", "text": "t", "extra": 1]], "structuredContent": ["a": [1, [2]]],
            "_meta": ["b": 1], "own": ["deep": [nil]],
        ]
        #expect(try await view.params(of: "ui/notifications/tool-result") == written)
        #expect(try await view.ask(3, "tools/call", ["name": "show", "arguments": [:]])["result"] == written)
        await fixture.close()
    }
}
