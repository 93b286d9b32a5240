import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What keeps the page, the keyboard and the window with the user, whatever a view does.
    @Suite struct HostileTests {
        /// Records the longest time in which the page did nothing.
        static let watch = """
            window.longest = 0;
            let last = performance.now();
            setInterval(() => {
              const now = performance.now();
              window.longest = Math.max(window.longest, now - last);
              last = now;
            }, 20);
            """

        /// What a view can post that takes long to read, or to write as JSON; `out` also leaves out its sandbox.
        static let floods: [(name: String, script: String)] = [
            ("sparse array", "const a = []; a.length = 1e8; out.postMessage(a, '*')"),
            ("bytes", "out.postMessage(new Uint8Array(2e7), '*')"),
            ("texts", "const x = 'x'.repeat(1e6); for (let i = 0; i < 300; i++) out.postMessage(x, '*')"),
            (
                "pings",
                "for (let i = 0; i < 20000; i++) out.postMessage({ jsonrpc: '2.0', id: i, method: 'ping' }, '*')"
            ),
            ("deep", "let a = []; for (let i = 0; i < 5000; i++) a = [a]; out.postMessage(a, '*')"),
        ]

        // D1: a message is counted before it is looked at, and none blocks the page
        @Test(arguments: floods, ["parent", "top"])
        func noMessageBlocksThePage(flood: (name: String, script: String), out: String) async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.run(Self.watch)
                // Later, so that this script has ended.
                try await view.run("setTimeout(() => { const out = \(out); \(flood.script) })")
                let other = try await page.call("echo", #"{"n": 1}"#)
                try await page.wait(for: "completed", of: other)
                let longest = try await page.run("return window.longest").doubleValue ?? 0
                #expect(longest < 2000, "\(flood.name) to \(out): \(longest) ms")
            }
        }

        /// Floods from the outer frame, from deep inside, from frames that are removed, and from those that have no
        /// origin either.
        static let removals: [(place: String, flood: String)] = [
            ("outer frame", "add(parent, every)"),
            (
                "deep frame",
                """
                let now = window;
                for (let i = 0; i < 12; i++) now = inside(now).contentWindow;
                add(now, every);
                """
            ),
            (
                "removed frame",
                "setInterval(() => { const frame = inside(window); add(frame.contentWindow, once); frame.remove() }, 10)"
            ),
            (
                "removed frame without an origin",
                """
                addEventListener('message', ({ data }) => data === 'over' && document.querySelector('.flood')?.remove());
                setInterval(() => {
                  const frame = document.createElement('iframe');
                  Object.assign(frame, { className: 'flood', sandbox: 'allow-scripts' });
                  frame.srcdoc = `<script>${once}; parent.postMessage('over', '*')<\\/script>`;
                  document.body.append(frame);
                }, 20);
                """
            ),
        ]

        /// Functions for the floods.
        private static let flooding = """
            const once = "for (let i = 0; i < 1000; i++) top.postMessage('x', '*')";
            const every = `setInterval(() => { ${once} }, 10)`;
            const add = ({ document }, textContent) =>
              document.body.append(Object.assign(document.createElement('script'), { textContent }));
            const inside = ({ document }) => document.body.appendChild(document.createElement('iframe'));
            """

        // D1: a view past the hard rate is removed; the user loads it again
        @Test(arguments: removals) func aViewThatFloodsIsRemoved(from place: String, flood: String)
            async throws
        {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run("setTimeout(() => { \(Self.flooding) \(flood) })")
                try await page.waitForText("The view was stopped", in: "[data-view] .problem")
                #expect(try await page.run("return document.querySelector('[data-view] iframe')") == nil)
                try await page.browser.click(".holder .reload")
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
                try await page.wait("return document.querySelector('.holder .problem').hidden")
            }
        }

        static let thief = """
            const field = document.body.appendChild(document.createElement('input'));
            window.stolen = '';
            field.oninput = () => window.stolen = field.value;
            window.thief = setInterval(() => field.focus(), 30);
            """

        // D2: a view that keeps taking the keyboard is stopped, beside an open question too
        @Test func aViewDoesNotTakeTheKeyboard() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": [:]])
                _ = try await page.question()
                try await page.browser.click("#filter")
                try await view.run(Self.thief)
                try await page.waitForText("kept taking the keyboard", in: "[data-view] .problem")
                #expect(try await page.run("return document.activeElement.id") == "filter")
                try await page.browser.press("secret")
                #expect(try await page.run("return document.getElementById('filter').value") == "secret")
                #expect(server.calls(of: "wipe").isEmpty)
            }
        }

        // D2: one that takes it now and then gets a letter at most, and is stopped while the user types
        @Test func aViewDoesNotTakeWhatIsTyped() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.browser.click("#filter")
                try await view.run(Self.thief.replacing(", 30)", with: ", 400)"))
                for letter in "secretword" {
                    try await page.browser.press(String(letter))
                    try await Task.sleep(for: .milliseconds(100))
                }
                let kept =
                    try await page.run("return document.getElementById('filter').value").stringValue ?? ""
                #expect(kept.count >= 9 && "secretword".hasSuffix(String(kept.suffix(4))))
                try await page.waitForText("kept taking the keyboard", in: "[data-view] .problem")
                try await page.browser.click(".holder .reload")
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
            }
        }

        // D2: the user may give it the keyboard, by a press or by Tab
        @Test func theUserGivesAViewTheKeyboard() async throws {
            let body = "<input id='field' style='width: 90%; height: 60px'>"
            let server = try ViewServer("one", views: ["show": TestView.html(body: body)])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.browser.click("#filter")
                let box = try await page.run(
                    "const box = document.querySelector('[data-view] iframe').getBoundingClientRect();"
                        + "return [Math.round(box.left + 60), Math.round(box.top + 40)]")
                try await page.browser.press(at: box[0]?.intValue ?? 0, box[1]?.intValue ?? 0)
                try await page.browser.press("a")
                try await view.wait("return document.getElementById('field').value === 'a'")
                // And takes it back.
                try await page.browser.click("#filter")
                try await page.browser.press("b")
                try await page.wait("return document.getElementById('filter').value === 'b'")
                #expect(try await view.run("return document.getElementById('field').value") == "a")
                try await page.run("document.querySelector('[data-view] .close').focus()")
                try await page.browser.press("\u{E004}")
                try await page.wait("return document.activeElement.tagName === 'IFRAME'")
            }
        }

        // D3: the user gets out of full screen, and stays out
        @Test func fullScreenEndsWhenTheUserWants() async throws {
            let server = try ViewServer(
                "one", views: ["show": TestView.html(modes: ["inline", "fullscreen"])])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run(
                    "window.farewell = 60000; setInterval(() => rpc('ui/request-display-mode', { mode: 'fullscreen' }), 200)"
                )
                let whole = "return !!document.querySelector('[data-mode=fullscreen]')"
                try await page.wait(whole)
                try await page.browser.press("\u{E00C}")
                try await page.wait("return !document.querySelector('[data-mode=fullscreen]')")
                let before = try await view.run("return last").intValue ?? 0
                // Several more requests have been answered.
                try await view.wait("return last >= \(before + 4) && waiting.size <= 1")
                #expect(try await page.run(whole) == false)
                try await page.waitForText("until it has not asked for 10 s", in: "[data-view] .notes")
                // The host's own button works, and Close does not wait for the view.
                try await page.browser.click(".holder .enter")
                try await page.wait(whole)
                try await page.browser.click(".holder .close")
                try await page.wait(
                    "return !document.querySelector('[data-mode=fullscreen]')", atMost: .seconds(3))
            }
        }

        // D6: what runs is named, whatever its title is
        @Test func aQuestionNamesTheTool() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            let tool = Tool("delete_all", title: "Read report", inputSchema: ["type": "object"])
            try server.server.register(tool) { _, _ in .text("gone") }
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.begin("x", "tools/call", ["name": "delete_all", "arguments": [:]])
                let text = try await page.question()
                #expect(text.contains("Allow “delete_all” to run?") && text.contains("“Read report”"))
                #expect(text.contains("does not say whether it changes anything"))
                // It stands at the view, outside of its frame.
                #expect(
                    try await page.run(
                        "return document.querySelector('.question').closest('[data-view]').dataset.view")
                        == .string(view.id))
                try await page.answer("no")
            }
        }

        // What nobody would see is named: a person agrees to all that is sent
        @Test func aQuestionHidesNothing() async throws {
            let folder = TemporaryDirectory()
            try folder.write("model.jsonl", #"{"text": "Never said."}"#)
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server], flags: ["--model", "script:\(folder.path)/model.jsonl"]) {
                page in
                let view = try await page.show("show")
                let tags = "steal".unicodeScalars.map { String(Unicode.Scalar(0xE0000 + $0.value) ?? " ") }
                    .joined()
                let message: JSONValue = [
                    "role": "user", "content": [["type": "text", "text": .string("Thanks!\(tags)")]],
                ]
                try await view.begin("message", "ui/message", message)
                #expect(try await page.question().contains("Thanks!⟨5 hidden characters⟩"))
                try await page.answer("no")
                let wipe: JSONValue = ["name": "wipe", "arguments": ["path": "/a\u{202E}txt.b"]]
                try await view.begin("wipe", "tools/call", wipe)
                #expect(try await page.question().contains("/a⟨U+202E⟩txt.b"))
                try await page.answer("no")
                #expect(server.calls(of: "wipe").isEmpty)
            }
        }

        // Views that change their heights all the time move the page seldom enough for an answer
        @Test func aPageThatMovesCanBeAgreedOn() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let (first, second) = (try await page.show("show"), try await page.show("show"))
                for view in [first, second] {
                    try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
                    try await view.run(
                        """
                        let n = 0;
                        setInterval(() => notify('ui/notifications/size-changed', { height: 100 + 90 * (++n % 5) }), 50);
                        """)
                }
                try await page.wait("return document.querySelectorAll('.question').length === 2")
                try await page.answerWhileMoving("yes")
                try await page.answerWhileMoving("yes")
                for view in [first, second] { #expect(try await view.end(of: "wipe")["result"] != nil) }
            }
        }

        // Questions of one view do not hold up another; one answer can be for all of a view
        @Test func oneAnswerForAView() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let (first, second) = (try await page.show("show"), try await page.show("show"))
                for n in 1 ... 3 {
                    try await first.begin(
                        "n\(n)", "tools/call", ["name": "wipe", "arguments": ["n": JSONValue(n)]])
                }
                try await second.begin("other", "tools/call", ["name": "wipe", "arguments": ["n": 9]])
                try await page.wait("return document.querySelectorAll('.question').length === 2")
                try await page.waitForText("2 more", in: "[data-view=\"\(first.id)\"] .more")
                try await page.waitForText("2 questions", in: "#asks")
                let wide = "[data-view=\"\(first.id)\"] .question .wide"
                try await page.run(
                    "document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", .string(wide))
                try await page.browser.wait(
                    "return document.querySelector(arguments[0]).ariaDisabled === null", .string(wide))
                try await page.agree(wide)
                for n in 1 ... 3 { #expect(try await first.end(of: "n\(n)")["result"] != nil) }
                let later = try await first.request("tools/call", ["name": "wipe", "arguments": ["n": 4]])
                #expect(later["content"]?[0]?["text"] == "wiped")
                // The other view was not meant.
                #expect(server.calls(of: "wipe").count == 4)
                #expect(try await page.run("return document.querySelectorAll('.question').length") == 1)
                try await page.answer("no")
                #expect(try await second.end(of: "other")["error"]?["code"] == -32000)
                // The user takes it back.
                try await page.run(
                    "document.querySelector('[data-view=\"\(first.id)\"] [data-do*=ask]').click()")
                try await page.wait(
                    "return document.querySelector('[data-view=\"\(first.id)\"] .trusted').hidden")
                try await first.begin("n5", "tools/call", ["name": "wipe", "arguments": ["n": 5]])
                try await page.answer("no")
                #expect(server.calls(of: "wipe").count == 4)
            }
        }

        // Neither Enter at the end of a line, nor a held key, nor a page that moves under the pointer agrees
        @Test func nothingAgreesByAccident() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.browser.click("#filter")
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": [:]])
                _ = try await page.question()
                try await page.browser.press("x\u{E007}")
                #expect(try await page.run("return document.activeElement.id") == "filter")
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                // The view moves its page, and the button with it.
                let isMoved = try await page.run(
                    """
                    const yes = document.querySelector('.question .yes');
                    yes.closest('.holder').style.marginTop = '40px';
                    yes.click();
                    return !!yes.ariaDisabled;
                    """)
                #expect(isMoved == true)
                // A key that is held down.
                let isHeld = try await page.run(
                    """
                    const yes = document.querySelector('.question .yes');
                    return !yes.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', repeat: true, bubbles: true, cancelable: true }));
                    """)
                #expect(isHeld == true)
                #expect(server.calls(of: "wipe").isEmpty)
                // One that is held answers no more than the question at which it was pressed.
                let isOpen = try await page.run(
                    """
                    let isSent = false;
                    const send = fetch;
                    fetch = (...all) => (isSent = true, send(...all));
                    document.querySelector('.question h2').dispatchEvent(
                      new KeyboardEvent('keydown', { key: 'Escape', repeat: true, bubbles: true, cancelable: true }));
                    fetch = send;
                    return !isSent;
                    """)
                #expect(isOpen == true)
                try await page.run("document.querySelector('.question .no').focus()")
                try await page.browser.press("\u{E00C}")
                #expect(try await view.end(of: "wipe")["error"]?["code"] == -32000)
            }
        }

        // Every way out that a browser offers: none leads anywhere, and nothing else is harmed
        @Test func aPageOfAttacksAchievesNothing() async throws {
            let foreign = try RequestRecorder()
            defer { foreign.stop() }
            let server = try ViewServer(
                "one", views: ["attack": TestView.html(AttackPage.script), "show": TestView.html()])
            try await HostPage.with([server]) { page in
                let other = try await page.show("show")
                let view = try await page.show("attack")
                let windows = try await page.browser.windows()
                try await view.run(
                    "window.results = null; attack(arguments[0]).then(all => window.results = all)",
                    .string(foreign.origin))
                let results = try await view.wait("return window.results").objectValue ?? [:]
                #expect(results.count > 80)
                let done = results.filter { $0.value == "done" }.map(\.key).sorted()
                #expect(done == [])
                #expect(foreign.requests.isEmpty)
                #expect(try await page.browser.windows() == windows)
                #expect(
                    try await page.run("return [location.origin, ({}).polluted, name]") == [
                        .string(page.host.origin), nil, "",
                    ])
                // The neighbour took nothing from it, the program nothing that was not asked; both go on.
                #expect(try await other.run("return document.body.textContent.includes('forged')") == false)
                #expect(try await page.run("return document.querySelector('.question')") == nil)
                #expect(try await other.request("ping") == [:])
                #expect(page.host.isRunning)
            }
        }

        // A document that brings a policy of its own: it can only take away, and what it takes is the view's
        @Test func aPolicyOfTheDocumentGivesNothing() async throws {
            let foreign = try RequestRecorder()
            defer { foreign.stop() }
            let head = """
                <meta http-equiv="Content-Security-Policy" content="default-src * data: blob: 'unsafe-inline' 'unsafe-eval'; \
                connect-src *; frame-src *; form-action *; sandbox allow-top-navigation allow-popups">
                <meta http-equiv="refresh" content="3600; url=\(foreign.origin)/refresh">
                <base href="\(foreign.origin)/"><link rel="stylesheet" href="\(foreign.origin)/x.css">
                """
            let strict = #"<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"#
            func page(_ head: String) -> String { TestView.html().replacing("<head>", with: "<head>" + head) }
            let server = try ViewServer(
                "one", views: ["show": page(head), "strict": page(strict)],
                meta: [
                    "csp": [
                        "connectDomains": ["*", "https:", "'self' \(foreign.origin)", "x; connect-src *"]
                    ]
                ])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                for script in [
                    "return fetch(arguments[0]).then(() => 'reached', error => error.name)",
                    "return fetch('relative').then(() => 'reached', error => error.name)",
                    "try { return String(window.open(arguments[0])) } catch (error) { return error.name }",
                    "try { window.top.location = arguments[0]; return 'SecurityError' } catch (error) { return error.name }",
                ] {
                    let outcome =
                        try await view.run(script, .string("\(foreign.origin)/evil")).stringValue ?? ""
                    #expect(
                        ["TypeError", "EvalError", "null", "SecurityError"].contains(outcome),
                        "\(script): \(outcome)")
                }
                // One that takes its own scripts away never begins; the card says why, and the page goes on.
                let call = try await page.call("strict")
                try await page.waitForText(
                    "did not begin within 10 s", in: "[data-call=\"\(call)\"] [data-view] .problem")
                #expect(try await view.request("ping") == [:])
                #expect(foreign.requests.isEmpty)
                #expect(try await page.run("return location.origin") == .string(page.host.origin))
            }
        }

        // D9: a view that may not ask any more says so at the view
        @Test func aSilencedViewIsMarked() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                for n in 1 ... 3 {
                    try await view.begin("l\(n)", "ui/open-link", ["url": "https://example.com/\(n)"])
                    try await page.answer("no")
                    _ = try await view.end(of: "l\(n)")
                }
                try await page.waitForText("may not ask any more", in: "[data-view] .notes")
                try await page.run("document.querySelector('[data-do*=ask]').click()")
                try await page.wait("return document.querySelector('[data-view] .notes').hidden")
                try await view.begin("again", "ui/open-link", ["url": "https://user:x@example.com/"])
                #expect(try await page.question().contains("the address leads to example.com"))
                try await page.answer("no")
            }
        }

        static let suicides = [
            "parent.document.open(); parent.document.write('<p>empty</p>'); parent.document.close()",
            "for (;;) {}",
        ]

        // D11: a view that removed its page, or never ends, is noticed and can be loaded again
        @Test(arguments: suicides) func aViewThatIsGoneIsNoticed(script: String) async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run("setTimeout(() => { \(script) }, 300)")
                try await page.browser.top()
                try await page.wait("return document.querySelector('.holder .problem').hidden === false")
                try await page.run("document.querySelector('.holder .reload').click()")
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
            }
        }

        // D14: a program that hangs, and one that is gone, are told apart from one that is there
        @Test func aProgramThatHangsIsNoticed() async throws {
            let server = try ViewServer("one")
            try await HostPage.with([server]) { page in
                kill(page.host.pid, SIGSTOP)
                defer { kill(page.host.pid, SIGCONT) }
                try await page.wait("return document.body.dataset.online === 'silent'")
                kill(page.host.pid, SIGCONT)
                try await page.wait("return document.body.dataset.online === 'yes'")
                page.host.stop()
                try await page.wait("return document.body.dataset.online === 'no'")
                try await page.run("document.getElementById('theme').dispatchEvent(new Event('change'))")
                try await page.browser.type("x", into: "[data-send=servers] input")
                try await page.browser.click("[data-send=servers] button")
                try await page.waitForText("The program does not respond", in: "#notices")
            }
        }

        // A view can send data by WebRTC; the page shows that it does
        @Test func theUseOfWebRTCIsShown() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run("new RTCPeerConnection().close()")
                try await page.waitForText("It uses WebRTC", in: "[data-view] .notes")
            }
        }
    }
}
