import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What the views of the well-known examples do, with views of our own: those poll, chart, download, degrade
    /// and fail in ways of their own.
    @Suite struct ExampleTests {
        // A monitor: it calls its tool again and again, without a question, and without a flood of rows
        @Test func aViewThatPollsHasOneRow() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try server.add("poll", annotations: nil, visibility: ["app"]) { _, _ in .text("cpu") }
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run(
                    "(async () => { for (let n = 0; n < 12; n++) await rpc('tools/call', { name: 'poll', arguments: { n } });"
                        + " window.isDone = true })()")
                try await view.wait("return window.isDone")
                try await page.waitForText("×12", in: ".inner > [data-tool=poll]")
                #expect(try await page.run("return document.querySelectorAll('.inner > .card').length") == 1)
                try await page.waitForText("×12", in: "#entries > li")
                #expect(server.calls(of: "poll").count == 12)
                #expect(try await page.run("return document.querySelector('.question')") == nil)
            }
        }

        // A debugger: every kind of content, errors and delays arrive at the view that called
        @Test func resultsOfEveryKind() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try server.add("mixed") { _, _ in
                CallToolResult(
                    content: [
                        .text("a"), .image([1, 2], mimeType: "image/png"), .audio([3], mimeType: "audio/wav"),
                        .resourceLink(Resource("file:///x", name: "x")),
                        .resource(.text("t", uri: "file:///y")),
                    ], structuredContent: [1, ["b": nil]], meta: ["k": 1])
            }
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let mixed = try await view.request("tools/call", ["name": "mixed", "arguments": [:]])
                let kinds = mixed["content"]?.arrayValue?.compactMap { $0["type"]?.stringValue }
                #expect(kinds == ["text", "image", "audio", "resource_link", "resource"])
                #expect(mixed["structuredContent"] == [1, ["b": nil]])
                let failed = try await view.request("tools/call", ["name": "broken", "arguments": [:]])
                #expect(failed["isError"] == true && failed["content"]?[0]?["text"] == "the disk is full")
                // A tool that takes its time tells the view that it goes on.
                let slow: JSONValue = ["name": "slow", "arguments": [:], "_meta": ["progressToken": "s"]]
                try await view.begin("slow", "tools/call", slow)
                try await view.wait(
                    "return of('notifications/progress').some(one => one.message === 'step 2')")
                server.gate.open()
                #expect(try await view.end(of: "slow")["result"]?["content"]?[0]?["text"] == "at last")
            }
        }

        // An integration: files of the server, embedded and linked; a film, read as a resource
        @Test func resourcesOfTheServer() async throws {
            let folder = NSTemporaryDirectory() + "mcp-e2e-\(UUID().uuidString.prefix(8))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try server.server.register(Resource("film:///a.mp4", name: "film", mimeType: "video/mp4")) { _ in
                [.blob([1, 2, 3], uri: "film:///a.mp4", mimeType: "video/mp4")]
            }
            try await HostPage.with([server]) { page in
                try await page.browser.emulate(
                    "Browser.setDownloadBehavior", ["behavior": "allow", "downloadPath": .string(folder)])
                let view = try await page.show("show")
                let read = try await view.request("resources/read", ["uri": "film:///a.mp4"])
                #expect(read["contents"]?[0]?["blob"] == "AQID")
                let link: JSONValue = [
                    "type": "resource_link", "uri": "film:///a.mp4", "name": "a", "mimeType": "video/mp4",
                ]
                try await view.begin("save", "ui/download-file", ["contents": [link]])
                let question = try await page.question()
                #expect(question.contains("a.mp4 · video/mp4 · from one, film:///a.mp4"))
                try await page.answer("yes")
                #expect(try await view.end(of: "save") == ["result": [:]])
                try await eventually {
                    FileManager.default.contents(atPath: "\(folder)/a.mp4") == Data([1, 2, 3])
                }
            }
        }

        // A transcript, a map: what is not granted, and what cannot be loaded, is said
        @Test func whatAViewMissesIsSaid() async throws {
            let meta: JSONObject = ["permissions": ["microphone": [:]]]
            let html = TestView.html(
                begins: false, body: "<script src='https://unreachable.example/map.js'></script>")
            let server = try ViewServer("one", views: ["map": html], meta: meta)
            try await HostPage.with([server]) { page in
                _ = try await page.call("map")
                try await page.waitForText("--grant microphone", in: "[data-view] .warning")
                try await page.waitForText("did not begin within 10 s", in: "[data-view] .problem")
                try await page.waitForText("https://unreachable.example/map.js", in: "[data-view] .problem")
            }
        }

        // A view that was closed is shown again, without a second call
        @Test func aClosedViewIsShownAgain() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show", #"{"a": 1}"#)
                let call = try await page.run("return document.querySelector('.card').dataset.call")
                try await page.browser.click("[data-view=\"\(view.id)\"] .close")
                try await page.wait("return !document.querySelector('[data-view]')")
                try await page.browser.click("[data-do*='/view']")
                let again = try await page.view(of: call.stringValue ?? "")
                try await again.wait("return of('ui/notifications/tool-result').length === 1")
                #expect(try await again.heard("ui/notifications/tool-input") == [["arguments": ["a": 1]]])
                #expect(server.calls(of: "show").count == 1)
            }
        }

        // A budget, a shader: they draw; a framework: a document of 7 MB
        @Test func aLargeViewDraws() async throws {
            let body =
                "<canvas id='c' width='2' height='2'></canvas><!--\(String(repeating: "x", count: 7_000_000))-->"
            let server = try ViewServer("one", views: ["draw": TestView.html(body: body)])
            try await HostPage.with([server]) { page in
                let view = try await page.show("draw")
                let drawn = try await view.run(
                    """
                    const flat = document.getElementById('c').getContext('2d');
                    flat.fillStyle = '#ff8000';
                    flat.fillRect(0, 0, 2, 2);
                    const gl = document.createElement('canvas').getContext('webgl');
                    const pixel = new Uint8Array(4);
                    gl?.clearColor(0, 1, 0, 1);
                    gl?.clear(gl.COLOR_BUFFER_BIT);
                    gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
                    return [[...flat.getImageData(1, 1, 1, 1).data], gl ? [...pixel] : [0, 255, 0, 255]];
                    """)
                #expect(drawn == [[255, 128, 0, 255], [0, 255, 0, 255]])
                #expect(try await view.run("return document.body.innerHTML.length > 7e6") == true)
            }
        }

        // A debugger: what the host can do, as the view is told
        @Test func aViewKnowsWhatTheHostCanDo() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let names = try await view.run("return Object.keys(context.hostCapabilities).sort()")
                #expect(
                    names == [
                        "downloadFile", "logging", "message", "openLinks", "sandbox", "serverResources",
                        "serverTools",
                        "updateModelContext",
                    ])
                #expect(try await view.run("return context.hostInfo.name.length > 0") == true)
            }
        }

        // ?server=…&tool=…&call=true
        @Test func anAddressLeadsToATool() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let query = "?server=one&tool=echo&call=true&arguments=%7B%22a%22%3A1%7D"
                // Another page does not know the key: the tool is chosen, and not called.
                try await page.browser.open("\(page.host.origin)/\(query)")
                try await page.wait("return document.querySelector('.compose')?.data.tool === 'echo'")
                #expect(try await page.run("return location.href") == .string("\(page.host.origin)/"))
                try await page.browser.open("about:blank")
                #expect(server.calls(of: "echo").isEmpty)
                try await page.browser.open("\(page.host.origin)/\(query)#\(page.host.token)")
                try await eventually { server.calls(of: "echo") == [#"{"a":1}"#] }
                try await page.wait("return document.querySelector('.card')?.dataset.state === 'completed'")
            }
        }

        @Test(arguments: ["server=two&tool=echo", "server=one&tool=none", "tool=none"])
        func anAddressThatLeadsNowhereSaysSo(_ query: String) async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                try await page.browser.open("about:blank")
                try await page.browser.open("\(page.host.origin)/?\(query)#\(page.host.token)")
                try await page.waitForText("There is no ", in: "#notices")
                try await page.browser.open("about:blank")
                try await page.browser.open(
                    "\(page.host.origin)/?server=one&tool=echo&arguments=%7B#\(page.host.token)")
                try await page.waitForText("arguments: ", in: "#notices")
                // What is no object is not called without arguments.
                try await page.browser.open("about:blank")
                try await page.browser.open(
                    "\(page.host.origin)/?tool=echo&call=true&arguments=[1]#\(page.host.token)")
                try await page.waitForText("must be a JSON object", in: "#notices")
                #expect(server.calls(of: "echo").isEmpty)
            }
        }

        /// Once an address is known to lead nowhere, nothing that comes later is called.
        @Test func whatIsNotThereIsNotWaitedFor() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                for name in ["%E2%80%AElate", "late"] {
                    try await page.browser.open("about:blank")
                    try await page.browser.open(
                        "\(page.host.origin)/?tool=\(name)&call=true#\(page.host.token)")
                    try await page.waitForText("There is no \(name) of any server.", in: "#notices")
                }
                try server.add("late") { _, _ in .text("called") }
                try await page.wait("return !!document.querySelector('.pick[data-tool=late]')")
                #expect(try await page.run("return document.querySelector('.compose, .card')") == nil)
            }
        }

        /// What an address names, and comes late, does not replace the form that was chosen meanwhile.
        @Test func whatComesLateReplacesNoForm() async throws {
            let text: JSONValue = ["type": "object", "properties": ["name": ["type": "string"]]]
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try server.add("note", schema: text) { _, _ in .text("") }
            try await HostPage.with([server]) { page in
                try await page.browser.open("about:blank")
                try await page.browser.open("\(page.host.origin)/?tool=late&call=true#\(page.host.token)")
                try await page.choose("note")
                try await page.browser.type("Ann", into: "[data-path=\"/name\"]")
                try server.add("late", schema: text) { _, _ in .text("called") }
                try await page.wait("return !!document.querySelector('.pick[data-tool=late]')")
                let stays = try await page.run(
                    """
                    return (async () => {
                      await new Promise(done => setTimeout(done, 1000));
                      return [document.querySelector('.compose').data.tool, document.activeElement.value];
                    })()
                    """)
                #expect(stays == ["note", "Ann"])
                #expect(server.calls(of: "late").isEmpty)
                // Nor does it take the keyboard from who types elsewhere.
                try await page.browser.open("about:blank")
                try await page.browser.open("\(page.host.origin)/?tool=later#\(page.host.token)")
                try await page.wait("return !!document.querySelector('.pick[data-tool=late]')")
                try await page.browser.click("#filter")
                try server.add("later", schema: text) { _, _ in .text("") }
                try await page.wait("return document.querySelector('.compose')?.data.tool === 'later'")
                #expect(try await page.run("return document.activeElement.id") == "filter")
                // Also when it is called, or cannot be.
                for (name, needs) in [("called", []), ("needs", ["name"])] as [(String, JSONValue)] {
                    try await page.browser.open("about:blank")
                    try await page.browser.open(
                        "\(page.host.origin)/?tool=\(name)&call=true#\(page.host.token)")
                    try await page.wait("return !!document.querySelector('.pick[data-tool=late]')")
                    try await page.browser.click("#filter")
                    let schema: JSONValue = [
                        "type": "object", "properties": ["name": ["type": "integer"]], "required": needs,
                    ]
                    try server.add(name, schema: schema) { _, _ in .text("") }
                    let end = name == "needs" ? ".wrong li" : ".card[data-tool=called]"
                    try await page.wait("return !!document.querySelector('\(end)')")
                    #expect(try await page.run("return document.activeElement.id") == "filter", "\(name)")
                }
            }
        }

        // Who uses the keyboard is led: to the form, to what is wrong in it, to the call
        @Test func theFocusFollowsTheWork() async throws {
            let schema: JSONValue = [
                "type": "object", "required": ["n"],
                "properties": [
                    "n": ["type": "integer", "minimum": 1, "maximum": 5, "description": "How many"],
                    "more": ["type": "object", "properties": ["x": ["type": "string"]]],
                ],
            ]
            let server = try ViewServer("one")
            try server.add("count", schema: schema) { _, _ in .text("counted") }
            try await HostPage.with([server]) { page in
                try await page.choose("count")
                let field = "document.querySelector('[data-path=\"/n\"]')"
                try await page.wait("return document.activeElement === \(field)")
                #expect(try await page.run("return document.querySelector('.range').textContent") == "1 to 5")
                #expect(try await page.run("return document.querySelector('details.field').open") == false)
                try await page.browser.press("9\u{E007}")
                try await page.wait("return \(field).getAttribute('aria-invalid') === 'true'")
                let told = try await page.run(
                    "return \(field).getAttribute('aria-describedby').split(' ')"
                        + ".map(id => document.getElementById(id).textContent).join('|')")
                #expect(
                    told.stringValue?.hasSuffix("|How many") == true
                        && told.stringValue?.contains("5") == true)
                #expect(try await page.run("return document.activeElement === \(field)") == true)
                try await page.browser.press("\u{E003}3\u{E007}")
                try await page.wait("return document.activeElement.className === 'card'")
                #expect(server.calls(of: "count") == [#"{"n":3}"#])
            }
        }

        // A long form: what is wrong, and then the call, are in sight
        @Test func aLongFormLeadsOn() async throws {
            var properties: JSONObject = [
                "code": [
                    "type": "string", "minLength": 16, "pattern": "^[0-9]+$", "title": "Code",
                    "description": "16 digits",
                ],
                "who": [
                    "type": "object", "required": ["name"], "properties": ["name": ["type": "string"]],
                ],
            ]
            for n in 1 ... 60 { properties["field\(n)"] = ["type": "string"] }
            let schema: JSONValue = [
                "type": "object", "required": ["code", "who"], "properties": .object(properties),
            ]
            let server = try ViewServer("one")
            try server.add("long", schema: schema) { _, _ in .text("done") }
            try await HostPage.with([server]) { page in
                try await page.choose("long")
                // The marks of required fields and groups, and what a text has to be like.
                let marks = try await page.run(
                    "return [...document.querySelectorAll('.needed')].filter(one => one.checkVisibility())"
                        + ".map(one => one.closest('.field').querySelector('.name').textContent)")
                #expect(marks == ["Code", "who", "name"])
                try await page.waitForText("16 characters", in: ".compose .range")
                let seen =
                    "const box = document.activeElement.getBoundingClientRect();"
                    + "return box.top >= 0 && box.top < innerHeight"
                try await page.run("document.querySelector('[data-path=\"/code\"]').value = 'ab'")
                try await page.browser.click(".compose .call")
                try await page.wait("return document.activeElement.dataset.path === '/code'")
                #expect(try await page.run(seen) == true)
                // All that is wrong with it, at the field.
                let fault =
                    "document.querySelector('[data-path=\"/code\"]').parentElement.querySelector('.fault')"
                let text = try await page.run("return \(fault).textContent").stringValue ?? ""
                #expect(text.contains("; ") && text.contains("16"), "\(text)")
                try await page.run(
                    "document.querySelector('[data-path=\"/code\"]').value = '1234567890123456';"
                        + "document.querySelector('[data-path=\"/who/name\"]').value = 'Ann'")
                try await page.browser.click(".compose .call")
                try await page.wait("return document.activeElement.className === 'card'")
                #expect(try await page.run(seen) == true)
            }
        }
    }
}
