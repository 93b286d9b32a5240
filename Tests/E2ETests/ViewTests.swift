import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What views do, and what they are told.
    @Suite struct ViewTests {
        // A09
        @Test func viewsAreKeptApart() async throws {
            let one = try ViewServer("one", views: ["first": TestView.html(), "second": TestView.html()])
            let two = try ViewServer("two", views: ["third": TestView.html()])
            try await HostPage.with([one, two]) { page in
                var views: [ShownView] = []
                for tool in ["first", "second", "third"] { views.append(try await page.show(tool)) }
                var origins: Set<String> = []
                for (index, view) in views.enumerated() {
                    let answer = try await view.request(
                        "tools/call", ["name": "echo", "arguments": ["marker": JSONValue(index)]])
                    #expect(answer["content"]?[0]?["text"] == .string(#"{"marker":\#(index)}"#))
                    origins.insert(try await view.run("return origin").stringValue ?? "")
                }
                #expect(origins.count == 3)
                for (index, view) in views.enumerated() {
                    let heard = try await view.run("return JSON.stringify(heard)").stringValue ?? ""
                    for other in 0 ..< 3 {
                        #expect(heard.contains("marker\\\":\(other)") == (other == index))
                    }
                }
                #expect(one.calls(of: "echo").count == 2 && two.calls(of: "echo").count == 1)
                try await page.browser.click("[data-view=\"\(views[0].id)\"] .close")
                try await page.wait("return !document.querySelector('[data-view=\"\(views[0].id)\"]')")
                for view in views[1...] { #expect(try await view.request("ping") == [:]) }
            }
        }

        // A11, A40; messages/add-to-conversation, messages/consent, model-context/*
        @Test func messagesJoinTheConversation() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            let script = NSTemporaryDirectory() + "mcp-e2e-\(UUID().uuidString.prefix(8)).jsonl"
            try #"{"text": "It is booked."}"#.write(toFile: script, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: script) }
            try await HostPage.with([server], flags: ["--model", "script:\(script)"]) { page in
                let view = try await page.show("show")
                for text in ["first", "second"] {
                    let answer = try await view.request(
                        "ui/update-model-context", ["content": [["type": "text", "text": .string(text)]]])
                    #expect(answer == [:])
                }
                try await page.waitForText("second", in: "#messages [data-author=context]")
                let message: JSONValue = [
                    "role": "user", "content": [["type": "text", "text": "Book it <b>now</b>"]],
                ]
                try await view.begin("no", "ui/message", message)
                #expect(try await page.question().contains("Book it <b>now</b>"))
                try await page.answer("no")
                let denied = try await view.end(of: "no")
                #expect(denied["error"] != nil || denied["result"]?["isError"] == true)
                try await view.begin("yes", "ui/message", message)
                try await page.answer("yes")
                #expect(try await view.end(of: "yes") == ["result": [:]])
                try await page.waitForText("Book it <b>now</b>", in: "#messages [data-author=view]")
                try await page.waitForText("It is booked.", in: "#messages [data-author=model]")
                #expect(
                    try await page.run(
                        "return document.querySelectorAll('#messages [data-author=view]').length") == 1)
            }
        }

        // A13
        @Test func whatAViewLogsIsShown() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run(
                    "notify('notifications/message', { level: 'error', logger: 'cart', data: { text: '<i>gone</i>' } })"
                )
                try await page.waitForText("<i>gone</i>", in: "#lines [data-level=error]")
                try await page.waitForText("cart", in: "#lines [data-level=error]")
            }
        }

        // A14; dimensions/listen-size-changed
        @Test func theFrameFollowsTheView() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let height = "return document.querySelector('[data-view] iframe').clientHeight"
                func tell(_ size: String) async throws {
                    try await view.run("notify('ui/notifications/size-changed', { height: \(size) })")
                }
                try await tell("80")
                try await page.wait("\(height) === 80")
                // It grows and shrinks visibly.
                let style = "return getComputedStyle(document.querySelector('[data-view] iframe'))"
                #expect(try await page.run("\(style).transitionProperty") == "height")
                try await tell("150")
                try await page.wait("\(height) === 150")
                for bad in ["NaN", "-5", "'tall'", "Infinity"] { try await tell(bad) }
                try await tell("100000")
                let most = try await page.run("return Math.round(innerHeight * 0.8)").intValue ?? 0
                try await page.wait("\(height) === \(most)")
            }
        }

        // A30, A36, A37, A35; context/initialize-hostcontext, context-changed, display/*
        @Test func aViewKnowsItsSurroundings() async throws {
            let server = try ViewServer(
                "one",
                views: ["show": TestView.html(modes: ["inline", "fullscreen"]), "plain": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let context = try await view.run("return context.hostContext")
                #expect(context["toolInfo"]?["tool"]?["name"] == "show")
                #expect(context["theme"] == "light" && context["platform"] == "web")
                #expect(context["locale"] != nil && context["timeZone"] != nil)
                #expect(context["displayMode"] == "inline")
                #expect(context["styles"]?["variables"]?.objectValue?.count == 76)
                let changed = "return of('ui/notifications/host-context-changed')"
                try await view.wait(
                    "\(changed).concat(context.hostContext).some(one => one.containerDimensions?.width > 100)"
                )
                // A35: the colours, and only they
                try await view.run("heard.length = 0")
                try await page.browser.colours("dark")
                try await view.wait("\(changed).length > 0")
                #expect(try await view.heard("ui/notifications/host-context-changed") == [["theme": "dark"]])
                let ground = "return getComputedStyle(document.body).backgroundColor"
                #expect(try await page.run(ground) == "rgb(14, 17, 22)")
                try await page.browser.colours("light")
                try await page.wait("\(ground) === 'rgb(244, 245, 247)'")
                // A36: the window's size
                try await view.wait("\(changed).some(one => one.theme === 'light')")
                try await view.run("heard.length = 0")
                try await page.browser.resize(900, 700)
                try await view.wait("\(changed).some(one => one.containerDimensions?.maxHeight === 560)")
                // A37
                try await view.run("heard.length = 0")
                #expect(
                    try await view.request("ui/request-display-mode", ["mode": "fullscreen"]) == [
                        "mode": "fullscreen"
                    ])
                try await view.wait("\(changed).some(one => one.displayMode === 'fullscreen')")
                try await view.wait("\(changed).some(one => one.containerDimensions?.height > 500)")
                try await page.browser.click("[data-mode=fullscreen] .leave")
                try await view.wait("\(changed).some(one => one.displayMode === 'inline')")
                #expect(
                    try await view.request("ui/request-display-mode", ["mode": "pip"]) == ["mode": "inline"])
                let plain = try await page.show("plain")
                #expect(
                    try await plain.request("ui/request-display-mode", ["mode": "fullscreen"]) == [
                        "mode": "inline"
                    ])
                try await page.browser.resize(1280, 900)
            }
        }

        // A24: what cannot be read is dropped and answered; what was said with it arrives
        @Test func oneUnreadableMessageTakesNoOtherWithIt() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run(
                    """
                    for (let id = 900; id < 910; id++) {
                      post({ id, method: "ping", params: { text: id === 905 ? "\\ud800" : "fine" } });
                    }
                    post({ id: "\\ud800", method: "ping" });
                    post({ id: 911, method: "ping" });
                    """)
                try await view.wait("return heard.some(one => one.id === 911)")
                let answers = try await view.run(
                    "return heard.filter(one => one.id >= 900).map(one => one.error ? -one.id : one.id)")
                #expect(answers == [900, 901, 902, 903, 904, -905, 906, 907, 908, 909, 911])
                try await page.waitForText("not readable JSON", in: "#lines")
            }
        }

        // A37: a small window over the page, in which the same document goes on
        @Test func aViewStaysInSightInASmallWindow() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html(modes: ["inline", "pip"])])
            try await HostPage.with([server]) { page in
                let (first, second) = (try await page.show("show"), try await page.show("show"))
                for view in [first, second] {
                    try await view.run("heard.length = 0; window.isSame = true")
                    #expect(
                        try await view.request("ui/request-display-mode", ["mode": "pip"]) == ["mode": "pip"])
                    try await view.wait(
                        "return of('ui/notifications/host-context-changed').some(one => one.displayMode === 'pip')"
                    )
                }
                // There is room for one.
                try await first.wait(
                    "return of('ui/notifications/host-context-changed').some(one => one.displayMode === 'inline')"
                )
                try await second.wait("return innerHeight > 200 && innerWidth <= 420 && isSame")
                let place = "const box = document.querySelector('[data-mode=pip]').getBoundingClientRect();"
                #expect(
                    try await page.run(place + "return box.bottom <= innerHeight && box.right <= 960") == true
                )
                try await page.browser.click("[data-mode=pip] .leave")
                try await page.wait("return !document.querySelector('[data-mode=pip]')")
                try await second.wait("return innerWidth > 420 && isSame")
            }
        }

        // A39; lifecycle/teardown-notify, teardown-await
        @Test func aViewTakesItsLeave() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run("window.farewell = 700")
                try await page.browser.click("[data-view=\"\(view.id)\"] .close")
                try await view.wait("return of('ui/resource-teardown').length === 1")
                #expect(try await page.exists(view))
                try await eventually { try await !page.exists(view) }
                let second = try await page.show("show")
                try await second.run("setTimeout(() => notify('ui/notifications/request-teardown'), 50)")
                try await eventually { try await !page.exists(second) }
                // One that says nothing goes all the same.
                let dead = try await page.show("show")
                try await dead.run("window.farewell = 60000")
                try await page.browser.click("[data-view=\"\(dead.id)\"] .close")
                try await eventually(atMost: .seconds(15)) { try await !page.exists(dead) }
            }
        }

        // A41
        @Test func filesAreSavedWhenTheUserAgrees() async throws {
            let folder = NSTemporaryDirectory() + "mcp-e2e-\(UUID().uuidString.prefix(8))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                try await page.browser.emulate(
                    "Browser.setDownloadBehavior", ["behavior": "allow", "downloadPath": .string(folder)])
                let view = try await page.show("show")
                let params: JSONValue = [
                    "contents": [
                        [
                            "type": "resource",
                            "resource": [
                                "uri": "file:///../../notes.txt", "mimeType": "text/plain", "text": "kept",
                            ],
                        ]
                    ]
                ]
                try await view.begin("no", "ui/download-file", params)
                let question = try await page.question()
                #expect(
                    question.contains("notes.txt") && question.contains("4 B") && !question.contains(".."))
                try await page.answer("no")
                let denied = try await view.end(of: "no")
                #expect(denied["result"]?["isError"] == true || denied["error"] != nil)
                try await view.begin("yes", "ui/download-file", params)
                try await page.answer("yes")
                #expect(try await view.end(of: "yes") == ["result": [:]])
                try await eventually {
                    (try? String(contentsOfFile: "\(folder)/notes.txt", encoding: .utf8)) == "kept"
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["notes.txt"])
            }
        }

        // Section 3.2: where names below localhost do not lead here, each server has a port of its own
        @Test func viewsHavePortsWhereNamesDoNotWork() async throws {
            let one = try ViewServer("one", views: ["first": TestView.html()])
            let two = try ViewServer("two", views: ["second": TestView.html()])
            try await HostPage.with([one, two]) { page in
                _ = try await PlainHTTP.send(
                    "POST", "/api/ports", port: page.host.port,
                    headers: [
                        ("Authorization", "Bearer \(page.host.token)"), ("Content-Type", "application/json"),
                    ],
                    body: "{}")
                try await page.browser.reload()
                try await page.wait("return document.body.dataset.online === 'yes'")
                let (first, second) = (try await page.show("first"), try await page.show("second"))
                let origins = [try await first.run("return origin"), try await second.run("return origin")]
                    .compactMap(\.stringValue)
                #expect(Set(origins).count == 2)
                for origin in origins { #expect(origin.hasPrefix("http://127.0.0.1:")) }
                #expect(try await first.request("ping") == [:])
                let foreign = try RequestRecorder()
                defer { foreign.stop() }
                try await first.run(
                    """
                    const s = parent.document.createElement('script'); s.textContent = 'location.href = ' + JSON.stringify(arguments[0]);
                    parent.document.body.append(s)
                    """, .string(foreign.origin))
                try await page.wait(
                    "return document.querySelector('[data-view=\"\(first.id)\"] .problem').hidden === false")
                #expect(foreign.requests.isEmpty)
                #expect(try await second.request("ping") == [:])
            }
        }
    }
}
