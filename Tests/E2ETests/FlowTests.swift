import Foundation
import MCPCore
import Testing

extension E2E {
    /// Calls and their views, as they go.
    @Suite struct FlowTests {
        // A06, A07, A10, A18; lifecycle/initialize-capabilities, tool-input, tool-result;
        // security/sandbox-proxy-ready, sandbox-resource-ready, sandbox-message-forwarding
        @Test func aViewGetsItsInputAndItsResult() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show", #"{"a": [1, {"b": null}]}"#)
                let methods = try await view.run("return heard.map(one => one.method ?? 'answer')")
                #expect(
                    methods.arrayValue?.prefix(3) == [
                        "answer", "ui/notifications/tool-input", "ui/notifications/tool-result",
                    ])
                #expect(
                    try await view.heard("ui/notifications/tool-input") == [
                        ["arguments": ["a": [1, ["b": nil]]]]
                    ])
                let result = try await view.heard("ui/notifications/tool-result").first
                #expect(result?["content"]?[0]?["text"] == "text of show")
                #expect(result?["structuredContent"] == ["tool": "show"])
                #expect(result?["_meta"]?["for"] == "the view")
                let echoed = try await view.request(
                    "tools/call", ["name": "echo", "arguments": ["deep": [["x": nil, "y": [true, 1.5]]]]])
                #expect(server.calls(of: "echo") == [#"{"deep":[{"x":null,"y":[true,1.5]}]}"#])
                #expect(echoed["content"]?[0]?["text"] == .string(server.calls(of: "echo")[0]))
                #expect(server.readAddresses == ["ui://show/view"])
            }
        }

        // A18, A29: the view is there before the result; progress is shown; then the result comes
        @Test func aSlowToolHasItsViewFirst() async throws {
            let server = try ViewServer("one", views: ["slow_show": TestView.html()])
            try await HostPage.with([server]) { page in
                let call = try await page.call("slow_show")
                let view = try await page.view(of: call)
                try await view.wait("return of('ui/notifications/tool-input').length === 1")
                #expect(try await view.heard("ui/notifications/tool-result").isEmpty)
                try await page.wait(for: "ready", of: call)
                try await page.waitForText("2 of 3 · step 2", in: "[data-call=\"\(call)\"] .working")
                server.gate.open()
                try await page.wait(for: "completed", of: call)
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
            }
        }

        // A29, D10: a call that is over says that its view is still being loaded
        @Test func aFastToolHasItsViewLater() async throws {
            let server = try ViewServer("one", views: ["late_show": TestView.html()])
            try await HostPage.with([server]) { page in
                let call = try await page.call("late_show")
                try await page.wait(
                    "const card = document.querySelector('[data-call=\"\(call)\"]');"
                        + "return card.querySelector('.loading').checkVisibility() && !card.querySelector('[data-view]')"
                )
                try await page.waitForText("Loading the view", in: "[data-call=\"\(call)\"] .loading")
                server.gate.open()
                let view = try await page.view(of: call)
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
                try await page.wait(
                    "return ![...document.querySelectorAll('.loading')].some(one => one.checkVisibility())")
            }
        }

        // A29; lifecycle/tool-cancelled
        @Test func aCallIsGivenUp() async throws {
            let server = try ViewServer("one", views: ["slow_show": TestView.html()])
            try await HostPage.with([server]) { page in
                let call = try await page.call("slow_show")
                let view = try await page.view(of: call)
                try await page.wait(for: "ready", of: call)
                try await page.browser.click("[data-call=\"\(call)\"] .cancel")
                try await page.wait(for: "cancelled", of: call)
                try await view.wait("return of('ui/notifications/tool-cancelled').length === 1")
                #expect(try await view.heard("ui/notifications/tool-result").isEmpty)
                #expect(server.calls(of: "slow_show").count == 1)
                try await eventually { server.cancelledCalls == ["slow_show"] }
            }
        }

        // A19
        @Test func resultsWithoutAView() async throws {
            let server = try ViewServer("one")
            try server.add("media") { _, _ in
                CallToolResult(
                    content: [
                        .text("plain <b>text</b>"), .image(pixel, mimeType: "image/png"),
                        .audio([0, 1, 2], mimeType: "audio/wav"),
                        .resourceLink(Resource("https://example.com/page", name: "A page")),
                        .resource(.text("inside", uri: "file:///note")),
                    ], structuredContent: ["n": 1])
            }
            try await HostPage.with([server]) { page in
                let call = try await page.call("media")
                try await page.wait(for: "completed", of: call)
                let result = "[data-call=\"\(call)\"] .result"
                try await page.waitForText("plain <b>text</b>", in: result)
                try await page.waitForText("inside", in: result)
                try await page.waitForText("\"n\": 1", in: result)
                let shown = try await page.run(
                    """
                    const result = document.querySelector(arguments[0]);
                    return [result.open, result.querySelector('b') === null, result.querySelector('audio').src.slice(0, 15),
                      result.querySelector('a').href, result.querySelector('a').rel];
                    """, .string(result))
                #expect(
                    shown == [
                        true, true, "data:audio/wav;", "https://example.com/page", "noopener noreferrer",
                    ])
                try await page.wait("return document.querySelector('.result img').naturalWidth === 1")
            }
        }

        private let pixel: [UInt8] = {
            let text =
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
            return Array(Data(base64Encoded: text) ?? Data())
        }()

        // A24
        @Test func whatGoesWrongIsSaid() async throws {
            let server = try ViewServer(
                "one", views: ["silent": TestView.html(begins: false), "show": TestView.html()])
            try server.add("typed", schema: ["type": "object", "required": ["x"]]) { _, _ in .text("") }
            try await HostPage.with([server]) { page in
                let broken = try await page.call("broken")
                try await page.wait(for: "error", of: broken)
                try await page.waitForText("the disk is full", in: "[data-call=\"\(broken)\"]")
                let view = try await page.show("show")
                try await view.run(
                    """
                    for (const bad of [1, "x", null, [], {}, { jsonrpc: "1.0", id: 1, method: "ping" }, { jsonrpc: "2.0", id: {}, method: 5 }])
                      parent.postMessage(bad, "*");
                    parent.postMessage({ jsonrpc: "2.0", id: 900, method: "no/such" }, "*");
                    parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: "wide" }, "*");
                    parent.postMessage({ jsonrpc: "2.0", id: 901, method: "tools/call", params: { name: "echo", arguments: { x: "y".repeat(1100000) } } }, "*");
                    """)
                try await view.wait("return heard.some(one => one.id === 900 && one.error?.code === -32601)")
                #expect(try await view.request("ping") == [:])
                #expect(server.calls(of: "echo").isEmpty)
                try await page.waitForText("message dropped", in: "#lines")
                #expect(page.host.isRunning)
                await server.stop()
                let lost = try await page.call("echo")
                try await page.wait(for: "error", of: lost)
                #expect(page.host.isRunning)
            }
        }

        // A24: a view that never stops talking costs itself its messages, and nobody else anything
        @Test func aViewThatFloodsIsBounded() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let loud = try await page.show("show")
                let quiet = try await page.show("show")
                try await loud.run(
                    "for (let i = 0; i < 1500; i++)"
                        + " notify('notifications/message', { level: 'info', data: i })")
                try await page.waitForText("more than 200 messages per second", in: "#lines")
                try await quiet.run("begin('echo', 'tools/call', { name: 'echo', arguments: { n: 1 } })")
                try await quiet.wait("return results.echo?.result !== undefined")
                // The loud one is heard again when it has calmed down.
                try await loud.wait(
                    "if (!results.echo) begin('echo', 'tools/call', { name: 'echo' });"
                        + "if (results.echo?.error) delete results.echo;"
                        + "return results.echo?.result !== undefined")
            }
        }

        // A24: a view that never begins gets a reload button, which loads it anew
        @Test func aSilentViewIsNoted() async throws {
            let server = try ViewServer("one", views: ["silent": TestView.html(begins: false)])
            try await HostPage.with([server]) { page in
                let call = try await page.call("silent")
                try await page.wait(
                    "return document.querySelector('[data-call=\"\(call)\"] .holder .problem')?.hidden === false"
                )
                let view = ShownView(
                    page: page,
                    id: try await page.run("return document.querySelector('[data-view]').dataset.view")
                        .stringValue ?? "")
                try await view.run("window.isOld = true")
                try await page.browser.click("[data-call=\"\(call)\"] .reload")
                try await view.wait("return window.isOld === undefined && typeof start === 'function'")
                try await view.run("start()")
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
                try await page.wait("return document.querySelector('.holder .problem').hidden")
            }
        }
    }
}

/// Waits for something outside of the browser.
func eventually(
    atMost limit: Duration = .seconds(10), _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw Browser.Timeout(description: "never true") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
