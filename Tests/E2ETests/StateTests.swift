import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// The page itself: forms, lists, and what outlives a break.
    @Suite struct StateTests {
        private static let schema: JSONValue = [
            "type": "object", "required": ["name", "size", "loud"], "additionalProperties": false,
            "properties": [
                "name": ["type": "string", "minLength": 2, "title": "Your name"],
                "size": ["type": "string", "enum": ["small", "large"]],
                "count": ["type": "integer", "minimum": 1, "maximum": 9],
                "loud": ["type": "boolean"],
                "tags": ["type": "array", "items": ["type": "string"]],
                "place": ["type": "object", "properties": ["x": ["type": "number"]]],
                "which": [
                    "oneOf": [
                        [
                            "title": "By number", "type": "object", "properties": ["n": ["type": "integer"]],
                            "required": ["n"],
                        ],
                        ["title": "By word", "type": "string"],
                    ]
                ],
            ],
        ]

        // A05, A03
        @Test func aFormMakesArguments() async throws {
            let server = try ViewServer("one")
            try server.add("order", schema: Self.schema) { _, _ in .text("ordered") }
            try await HostPage.with([server]) { page in
                try await page.choose("order")
                let set = """
                    const set = (path, value) => {
                      const node = document.querySelector(`[data-path="${path}"]`);
                      node.type === "checkbox" ? node.checked = value : node.value = value;
                      node.dispatchEvent(new Event("change"));
                    };
                    """
                try await page.run("\(set) set('/name', 'A'); set('/size', '1'); set('/count', '12')")
                try await page.browser.click(".compose .call")
                try await page.waitForText("/name", in: ".wrong")
                try await page.waitForText("/count", in: ".wrong")
                #expect(
                    try await page.run(
                        "return [...document.querySelectorAll('.bad')].map(one => one.dataset.path)") == [
                            "/name", "/count",
                        ])
                #expect(server.calls(of: "order").isEmpty)
                #expect(try await page.run("return document.querySelectorAll('.card').length") == 0)
                try await page.run(
                    "\(set) set('/name', 'Ann'); set('/count', '3'); set('/loud', true); set('/place/x', '1.5')"
                )
                try await page.browser.click("[data-path=\"/tags\"] > .small")
                try await page.browser.type("red", into: "[data-path=\"/tags\"] .item textarea")
                try await page.run(
                    """
                    const select = document.querySelector('[data-path="/which"] select');
                    select.value = '0'; select.onchange();
                    document.querySelector('[data-path="/which/n"]').value = '7';
                    """)
                try await page.picture("apps-form")
                try await page.browser.click(".compose .call")
                try await eventually { server.calls(of: "order").count == 1 }
                let sent = try JSONValue(parsing: server.calls(of: "order")[0])
                #expect(
                    sent == [
                        "name": "Ann", "size": "large", "count": 3, "loud": true, "tags": ["red"],
                        "place": ["x": 1.5], "which": ["n": 7],
                    ])
                // A03: a tool that comes later is there without a reload.
                try server.add("later") { _, _ in .text("") }
                try await page.wait("return !!document.querySelector('.pick[data-tool=later]')")
            }
        }

        // A04
        @Test func jsonArrivesAsItWasTyped() async throws {
            let server = try ViewServer("one")
            try await HostPage.with([server]) { page in
                let text = #"{"z":[[],{}],"a":null,"n":12345678901234567890,"e":1.50,"u":"ü\n"}"#
                let call = try await page.call("echo", text)
                try await page.wait(for: "completed", of: call)
                #expect(server.calls(of: "echo") == [text])
            }
        }

        // A32, A33
        @Test func callsAreRepeatedAndKept() async throws {
            let file = NSTemporaryDirectory() + "mcp-e2e-\(UUID().uuidString.prefix(8)).jsonl"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let server = try ViewServer("one")
            let words = ["--history", file, server.url]
            try await HostPage.with(words) { page in
                let call = try await page.call("echo", #"{"a":[1,null]}"#)
                try await page.wait(for: "completed", of: call)
                try await page.browser.click("[data-call=\"\(call)\"] .retry")
                try await page.wait(
                    "return document.querySelectorAll('.card[data-state=completed]').length === 2")
                #expect(server.calls(of: "echo") == [#"{"a":[1,null]}"#, #"{"a":[1,null]}"#])
                try await page.wait("return document.querySelectorAll('#entries > li').length === 2")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try await HostPage.with(words) { page in
                try await page.wait("return document.querySelectorAll('#entries > li').length === 2")
                let line = try await page.run("return document.querySelector('#entries > li').textContent")
                for part in ["echo", "one", "by you", "completed"] {
                    #expect(line.stringValue?.contains(part) == true)
                }
                try await page.run("document.querySelector('#entries button').click()")
                try await page.wait("return document.querySelector('.compose')?.data.tool === 'echo'")
                try await page.browser.click(".compose .call")
                try await eventually { server.calls(of: "echo").count == 3 }
                #expect(server.calls(of: "echo")[2] == #"{"a":[1,null]}"#)
            }
            await server.stop()
        }

        // A33: calls of a view are kept as the user's are, and marked as the view's
        @Test func callsOfAViewAreKept() async throws {
            try await Self.callsOfAViewAreKept(in: nil)
        }

        /// - Parameter own: the browser; nil for the one that all tests share.
        static func callsOfAViewAreKept(in own: Browser?) async throws {
            let folder = TemporaryDirectory()
            let path = folder.path + "/calls.jsonl"
            let server = try ViewServer("one", views: ["show": TestView.html()])
            let words = ["--history", path, "-H", "X-Key: sesame-sesame", server.url]
            let lines = "return [...document.querySelectorAll('#entries > li')].map(one => one.textContent)"
            var key = ""
            try await HostPage.with(words, in: own) { page in
                key = page.host.token
                let view = try await page.show("show", #"{"a":1}"#)
                for arguments: JSONValue in [
                    ["password": "p4ssw0rd", "city": "Bern"], ["note": "sesame-sesame"],
                ] {
                    let answer = try await view.request(
                        "tools/call", ["name": "echo", "arguments": arguments])
                    // The view gets what the server said, whatever the history keeps.
                    let echoed = answer["content"]?[0]?["text"]?.stringValue ?? ""
                    #expect(try JSONValue(parsing: echoed) == arguments)
                }
                // Both are one entry of the page; each has a line in the file.
                try await page.wait("return document.querySelectorAll('#entries > li').length === 2")
                let shown = try await page.run(lines).arrayValue?.map { $0.stringValue ?? "" } ?? []
                #expect(shown[0].contains("by the view of show") && shown[0].contains("×2"), "\(shown)")
                #expect(shown[1].contains("by you"))
            }
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let entries = try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            #expect(entries.map { $0["by"] } == ["user", "view", "view"])
            #expect(entries.map { $0["view"] } == [nil, "show", "show"])
            #expect(entries.map { $0["tool"] } == ["show", "echo", "echo"])
            #expect(entries.map { $0["state"] } == ["completed", "completed", "completed"])
            #expect(entries[1]["arguments"] == ["password": "[redacted]", "city": "Bern"])
            for secret in ["p4ssw0rd", "sesame-sesame", key] { #expect(!text.contains(secret), "\(secret)") }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // Another run shows them, too.
            try await HostPage.with(words, in: own) { page in
                try await page.wait("return document.querySelectorAll('#entries > li').length === 2")
                let shown = try await page.run(lines).arrayValue?.map { $0.stringValue ?? "" } ?? []
                #expect(shown.first?.contains("by the view of show") == true, "\(shown)")
                #expect(shown.last?.contains("by you") == true)
            }
            await server.stop()
        }

        // A28
        @Test func aReloadAndARestartLoseNothing() async throws {
            let html = TestView.html()
            let server = try ViewServer("one", views: ["show": html])
            let port = server.port
            try await HostPage.with([server.url]) { page in
                let view = try await page.show("show", #"{"a":1}"#)
                _ = try await view.request("tools/call", ["name": "hidden", "arguments": [:]])
                let ofView =
                    "return document.querySelectorAll('[data-tool=show] .inner > [data-tool=hidden]').length === 1"
                try await page.wait(ofView)
                let done = try await page.call("echo", #"{"b":2}"#)
                try await page.wait(for: "completed", of: done)
                try await page.browser.reload()
                try await page.wait("return document.body.dataset.online === 'yes'")
                try await page.wait(for: "completed", of: done)
                // The same view, loaded again: it has its input and its result once more.
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
                #expect(try await view.heard("ui/notifications/tool-input") == [["arguments": ["a": 1]]])
                try await page.wait("return document.querySelectorAll('#entries > li').length === 3")
                // The call of the view stands in the view again.
                try await page.wait(ofView)
                #expect(server.calls(of: "show").count == 1)
                // The server goes and comes back.
                await server.stop()
                let lost = try await page.call("echo")
                try await page.wait(for: "error", of: lost)
                let again = try ViewServer("one", views: ["show": html], port: port)
                try await page.wait("return document.querySelector('.server').dataset.state === 'connected'")
                try await page.browser.click("[data-call=\"\(lost)\"] .retry")
                try await eventually { again.calls(of: "echo").count == 1 }
                #expect(
                    try await view.request("tools/call", ["name": "hidden", "arguments": [:]])["content"]?[
                        0]?["text"] == "for views")
                await again.stop()
            }
        }

        // A27, A31
        @Test func serversAreAddedFoundAndRemoved() async throws {
            let (one, two) = (try ViewServer("one"), try ViewServer("two"))
            let range = "\(two.port)-\(two.port)"
            let folder = TemporaryDirectory()
            try folder.write("mcp.json", #"{"mcpServers": {"one": {"type": "http", "url": "\#(one.url)"}}}"#)
            try await HostPage.with(["--scan", range, "--config", folder.path + "/mcp.json"]) { page in
                try await page.waitForText(two.url, in: "#found")
                try await page.browser.click("#found button")
                try await page.wait(
                    "return document.querySelectorAll('.server[data-state=connected]').length === 2")
                try await page.waitForText("two", in: "#servers")
                try await page.run(
                    "[...document.querySelectorAll('.server')].find(one => one.data.name === 'one').querySelector('.icon').click()"
                )
                try await page.wait("return document.querySelectorAll('.server').length === 1")
                try await page.browser.type("ftp://nowhere", into: "[data-send=servers] input")
                try await page.browser.click("[data-send=servers] button")
                try await page.waitForText("ftp:// is not an MCP transport", in: "#notices")
            }
            await one.stop()
            await two.stop()
        }

        // A44: a second page takes over; the first one says so and sends nothing more
        @Test func theLastPageCounts() async throws { try await Self.theLastPageCounts(in: nil) }

        static func theLastPageCounts(in own: Browser?) async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server.url], in: own) { page in
                _ = try await page.show("show")
                let first = try await page.browser.window()
                let made = try await page.browser.send("POST", "/window/new", ["type": "tab"])
                try await page.browser.select(window: made["handle"]?.stringValue ?? "")
                try await page.browser.open(page.host.address)
                // Nothing waits for the stream of the first tab, as the cache of Firefox would for 20 s.
                try await page.wait("return document.body.dataset.online === 'yes'", atMost: .seconds(15))
                try await page.wait("return document.querySelectorAll('[data-view]').length === 1")
                try await page.browser.send("DELETE", "/window")
                try await page.browser.select(window: first)
                try await page.wait("return document.body.dataset.online === 'replaced'")
                // It says so instead of the page, and can take over again.
                try await page.wait(
                    "const cover = document.getElementById('cover'); return !cover.hidden"
                        + " && cover.innerText.includes('Another tab took over')"
                        + " && cover.contains(document.elementFromPoint(innerWidth / 2, 100))")
                try await page.browser.click("#continue")
                try await page.wait("return document.body.dataset.online === 'yes'")
                #expect(try await page.run("return document.getElementById('cover').hidden") == true)
            }
            await server.stop()
        }

        @Test func ofManyToolsTheFirstAreShown() async throws {
            let server = try ViewServer("many")
            for number in 1000 ..< 1700 {
                server.server.addTool("tool\(number)", "One of many") { () in "x" }
            }
            try await HostPage.with([server]) { page in
                let names =
                    "[...document.querySelectorAll('.own > .pick')].map(one => one.dataset.tool)"
                try await page.wait("return \(names).length === 500")
                #expect(
                    try await page.run(
                        "const all = \(names); return all.includes('tool1000') && !all.includes('tool1699')")
                        == true)
                #expect(
                    try await page.run(
                        "return /\\d+ more, which/.test(document.querySelector('.server').innerText)")
                        == true)
                // What is not in the list is found.
                let find =
                    "const box = document.querySelector('#filter'); box.value = arguments[0]; box.oninput();"
                #expect(try await page.run(find + "return \(names)", "tool1699") == ["tool1699"])
                #expect(try await page.run(find + "return \(names).length", "") == 500)
            }
        }

        /// The list forgets its oldest rows, but not one whose view is at work.
        @Test func rowsGiveWay() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let count = try await page.run(
                    """
                    return import('/cards.js').then(({ show }) => {
                      for (let i = 0; i < 600; i++) show({ id: `x${i}`, tool: 'many' });
                      return [document.querySelectorAll('#cards > .card').length,
                        !!document.querySelector('[data-call=x0]'), !!document.querySelector('[data-call=x599]')];
                    })
                    """)
                #expect(count == [500, false, true])
                #expect(try await page.exists(view))
                #expect(try await view.request("ping") == [:])
            }
        }

        // Section 5.9: the second half of a double click agrees to nothing
        @Test func aQuestionIsReadBeforeItIsAnswered() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                for path in ["/a", "/b"] {
                    try await view.begin(
                        path, "tools/call", ["name": "wipe", "arguments": ["path": .string(path)]])
                }
                #expect(try await page.question().contains("/a"))
                // Between the two, the page may show none; a button that moves takes no click.
                let isClosed = try await page.run(
                    """
                    return (async () => {
                      const yes = () => document.querySelector('.question .yes'), first = yes();
                      while (!yes() || yes() === first) {
                        if (!first.ariaDisabled) first.click();
                        await new Promise(done => setTimeout(done, 1));
                      }
                      const isClosed = !!yes().ariaDisabled;
                      yes().click();
                      return isClosed;
                    })()
                    """)
                #expect(isClosed == true)
                _ = try await view.end(of: "/a")
                #expect(try await page.question().contains("/b"))
                #expect(server.calls(of: "wipe").count == 1)
                try await page.answer("yes")
                _ = try await view.end(of: "/b")
                #expect(server.calls(of: "wipe").count == 2)
            }
        }

        // Section 5.9: what a server asks stands in the host's page
        @Test func aServerAsks() async throws {
            let server = try ViewServer("one")
            try server.add("ask") { _, context in
                let schema = ElicitationSchema([
                    .string("city", title: "City", minLength: 2, required: true),
                    .integer("guests", minimum: 1, maximum: 8, required: true),
                ])
                let answer = try await context.elicit("Where to?", schema)
                return .text("\(answer.action.rawValue) \(answer.content?["city"]?.stringValue ?? "")")
            }
            try await HostPage.with([server]) { page in
                let call = try await page.call("ask")
                #expect(try await page.question().contains("Where to?"))
                // A form that does not fit stays, with what was typed.
                try await page.browser.type("Rome", into: ".question [data-path=\"/city\"]")
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                try await page.agree(".question .yes")
                try await page.waitForText("This field is required.", in: ".question .fault")
                #expect(try await page.run("return document.activeElement.dataset.path") == "/guests")
                #expect(
                    try await page.run("return document.querySelector('[data-path=\"/city\"]').value")
                        == "Rome")
                try await page.browser.type("9", into: ".question [data-path=\"/guests\"]")
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                try await page.agree(".question .yes")
                try await page.waitForText("9 is greater", in: ".question .fault")
                try await page.run("document.querySelector('[data-path=\"/guests\"]').value = 3")
                try await page.answer("yes")
                try await page.wait(for: "completed", of: call)
                try await page.waitForText("accept Rome", in: "[data-call=\"\(call)\"] .result")
            }
        }
    }
}
