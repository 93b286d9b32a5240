import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What an answer of the user is for: a question that is in sight, at rest and read.
    @Suite struct ConsentTests {
        private static let sleep = "await new Promise(done => setTimeout(done, 1500));"

        /// The heading of a question that another one covers: its buttons do not pass for the other's.
        @Test func aCoveredQuestionCannotBeAgreedTo() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try server.add("ask") { _, context in
                let schema = ElicitationSchema([.string("city")])
                return .text(try await context.elicit("Where to?", schema).action.rawValue)
            }
            try await HostPage.with([server]) { page in
                try await page.call("ask")
                _ = try await page.question()
                let view = try await page.show("show")
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
                try await page.wait("return document.querySelector('.asked .question')")
                let scrolled = try await page.run(
                    """
                    return (async () => {
                      const asked = document.querySelector('#questions .question'), other = document.querySelector('.asked .question');
                      document.getElementById('cards').style.paddingBottom = '3000px';
                      document.querySelector('main').scrollTop +=
                        other.querySelector('h2').getBoundingClientRect().top - asked.getBoundingClientRect().bottom + 30;
                      \(Self.sleep)
                      const box = asked.getBoundingClientRect();
                      return [asked.contains(document.elementFromPoint(box.left + 40, box.bottom - 12)),
                        ...[other, asked].map(one => !!one.querySelector('.yes').ariaDisabled)];
                    })()
                    """)
                #expect(scrolled == [true, true, false])
                // Below the other one, it is whole.
                try await page.run(
                    """
                    const asked = document.querySelector('#questions .question'), other = document.querySelector('.asked .question');
                    document.querySelector('main').scrollTop +=
                      other.getBoundingClientRect().top - asked.getBoundingClientRect().bottom - 30;
                    """)
                try await page.wait(
                    "return document.querySelector('.asked .question .yes').ariaDisabled === null")
                try await page.browser.click(".asked .question .no")
                #expect(try await view.end(of: "wipe")["error"]?["code"] == -32000)
                #expect(server.calls(of: "wipe").isEmpty)
                try await page.answer("no")
            }
        }

        /// What servers and views say about their work does not hold up an answer.
        @Test func nothingThatIsSaidMovesAQuestion() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html(tools: "{ a: () => 1 }")])
            try server.add("talk") { _, context in
                for n in 1 ... 200 where !Task.isCancelled {
                    let text = n.isMultiple(of: 2) ? "short" : String(repeating: "x ", count: 600)
                    await context.progress(Double(n), message: text)
                    try await Task.sleep(for: .milliseconds(100))
                }
                return .text("")
            }
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let talk = try await page.call("talk")
                try await page.waitForText("x x x", in: "[data-call=\"\(talk)\"] .working")
                #expect(
                    try await page.run(
                        "return document.querySelector('[data-call=\"\(talk)\"] .working').offsetHeight < 30")
                        == true)
                try await view.run(
                    """
                    let n = 0;
                    setInterval(() => {
                      tools = n++ % 2 ? {} : Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`a_long_name_${i}`, () => i]));
                      notify('notifications/tools/list_changed');
                    }, 150);
                    """)
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": [:]])
                try await page.answer("yes")
                #expect(try await view.end(of: "wipe")["result"] != nil)
                try await page.browser.click("[data-call=\"\(talk)\"] .cancel")
            }
        }

        /// Blank lines hide nothing, and a text that is longer than its box has to be read to its end.
        @Test func consentIsForTheWholeText() async throws {
            let folder = TemporaryDirectory()
            try folder.write("model.jsonl", #"{"text": "Never said."}"#)
            let server = try ViewServer("one", views: ["show": TestView.html()])
            func message(_ text: String) -> JSONValue {
                ["role": "user", "content": [["type": "text", "text": .string(text)]]]
            }
            try await HostPage.with([server], flags: ["--model", "script:\(folder.path)/model.jsonl"]) {
                page in
                let view = try await page.show("show")
                let blank = "Thanks!" + String(repeating: "\n", count: 200) + "Wipe all"
                try await view.begin("blank", "ui/message", message(blank))
                #expect(try await page.question().contains("Thanks!\n⟨199 blank lines⟩\nWipe all"))
                try await page.answer("no")
                _ = try await view.end(of: "blank")
                let long = (1 ... 60).map { "line \($0)" }.joined(separator: "\n")
                try await view.begin("long", "ui/message", message(long))
                try await page.waitForText(
                    "more lines: scroll to the end", in: ".question .extent:not([hidden])")
                #expect(
                    try await page.run(
                        """
                        const node = document.querySelector('.question');
                        node.scrollIntoView({ block: 'center' });
                        return (async () => { \(Self.sleep) return !!node.querySelector('.yes').ariaDisabled })()
                        """) == true)
                // By the keyboard.
                try await page.run("document.querySelector('.question .topic').focus()")
                try await page.browser.press("\u{E010}")
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                #expect(
                    try await page.run(
                        "return document.querySelector('.question').innerText.includes('more line')")
                        == false)
                try await page.answer("no")
            }
        }

        /// The page scrolls with a part of a view. What is asked is out of sight then, and its answers are not.
        @Test func aQuestionThatAViewScrollsAwayCannotBeAgreedTo() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run("notify('ui/notifications/size-changed', { height: 2000 })")
                // As high as a view may be.
                try await page.wait(
                    "return document.querySelector('[data-view] iframe').clientHeight === Math.round(innerHeight * 0.8)"
                )
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
                _ = try await page.question()
                try await page.run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                try await view.run(
                    """
                    const part = document.body.appendChild(document.createElement('div'));
                    part.style.cssText = 'position: absolute; top: 0; height: 764px';
                    part.scrollIntoView({ block: 'end' });
                    """)
                let scrolled = try await page.run(
                    """
                    return (async () => {
                      \(Self.sleep)
                      const isSeen = one => {
                        const box = one.getBoundingClientRect();
                        return one.contains(document.elementFromPoint(box.left + 5, box.top + box.height / 2));
                      };
                      const [title, no, yes] = ['h2', '.no', '.yes'].map(one => document.querySelector(`.question ${one}`));
                      yes.click();
                      return [isSeen(title), isSeen(no), !!yes.ariaDisabled];
                    })()
                    """)
                #expect(scrolled == [false, true, true])
                #expect(server.calls(of: "wipe").isEmpty)
                // All of it is where the count of questions leads.
                try await page.browser.click("#asks")
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                try await page.agree(".question .yes")
                #expect(try await view.end(of: "wipe")["result"] != nil)
            }
        }

        /// A list or a calendar of a view may lie over a question. Once a view has had the keyboard, nothing is agreed to
        /// before the page was pressed, which closes them: also if the view has given the keyboard away.
        @Test func aViewWithTheKeyboardKeepsQuestionsShut() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html(body: "<input id=\"text\">")])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show"), frame = "[data-view=\"\(view.id)\"] iframe"
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
                _ = try await page.question()
                try await page.run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
                for (button, isGivenAway) in [("yes", false), ("wide", true)] {
                    let selector = ".question .\(button)"
                    let isEnabled = "return document.querySelector('\(selector)')?.ariaDisabled === null"
                    try await page.press()
                    try await page.browser.hover(selector)
                    try await page.wait(isEnabled)
                    try await page.browser.press(frame, from: frame)
                    try await page.wait("return document.activeElement.tagName === 'IFRAME'")
                    try await page.wait("return document.querySelector('\(selector)').ariaDisabled")
                    if isGivenAway {
                        try await view.run("parent.parent.focus()")
                        try await page.wait("return document.hasFocus()")
                    }
                    try await page.browser.hover(selector)
                    try await page.run("return (async () => { \(Self.sleep) })()")
                    #expect(
                        try await page.run(
                            "return [!!document.querySelector('\(selector)').ariaDisabled, "
                                + "document.querySelector('\(HostPage.covered)') !== null]"
                        ) == [true, true])
                    // It is disabled at that press, and enabled again while the pointer stays.
                    try await page.run(
                        "window.was = []; const button = document.querySelector('\(selector)');"
                            + "button.parentElement.onpointerdown = () => was.push(!!button.ariaDisabled)"
                    )
                    try await page.browser.press(selector, from: frame)
                    #expect(try await page.run("return window.was") == [true])
                    #expect(try await page.run("return document.activeElement.tagName") != "IFRAME")
                    try await page.wait(isEnabled)
                    #expect(server.calls(of: "wipe").isEmpty)
                }
                try await page.agree(".question .yes")
                #expect(try await view.end(of: "wipe")["result"] != nil)
            }
        }

        /// Each of several questions of a server can be read, and agreed to.
        @Test func severalQuestionsOfAServer() async throws {
            let server = try ViewServer("one")
            try server.add("ask") { _, context in
                let schema = ElicitationSchema([.string("city", description: "one\ntwo\nthree")])
                return .text(try await context.elicit("Where to?", schema).action.rawValue)
            }
            try await HostPage.with([server]) { page in
                try await page.browser.resize(1280, 757)
                var calls: [String] = []
                for _ in 1 ... 4 { calls.append(try await page.call("ask")) }
                try await page.wait("return document.querySelectorAll('.question').length === 4")
                for _ in 1 ... 4 { try await page.answer("yes") }
                for call in calls {
                    try await page.waitForText("accept", in: "[data-call=\"\(call)\"] .result")
                }
            }
        }

        /// No letter of a string moves what stands beside it.
        @Test func eachStringHasADirectionOfItsOwn() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let arguments: JSONValue = ["plain": "שלום \"x\"", "מחק": "שמור"]
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": arguments])
                _ = try await page.question()
                let shown = try await page.run(
                    """
                    const code = document.querySelector('.question pre');
                    return [code.textContent, [...code.querySelectorAll('bdi')].map(one => one.textContent)];
                    """)
                #expect(shown[0] == .string(arguments.serialized(pretty: true)))
                #expect(shown[1] == ["\"שלום \\\"x\\\"\"", "\"מחק\"", "\"שמור\""])
                try await page.answer("no")
            }
        }

        /// All files are seen before one is saved, and all fields before a form is sent.
        @Test func aLongListIsSeenToItsEnd() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            let fields = (1 ... 20).map { ElicitationSchema.Field.string("field\($0)") }
            try server.add("ask") { _, context in
                .text(try await context.elicit("Where to?", ElicitationSchema(fields)).action.rawValue)
            }
            let files = (1 ... 40).map { n -> JSONValue in
                let resource: JSONValue = [
                    "uri": .string("file:///photo\(n).png"), "mimeType": "image/png", "text": "x",
                ]
                return ["type": "resource", "resource": resource]
            }
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.begin("files", "ui/download-file", ["contents": .array(files)])
                #expect(try await page.question().contains("photo40.png"))
                try await self.isReadFirst(page)
                try await page.browser.click(".question .no")
                #expect(try await view.end(of: "files")["error"]?["code"] == -32000)
                let call = try await page.call("ask")
                _ = try await page.question()
                try await self.isReadFirst(page)
                try await page.agree(".question .yes")
                try await page.wait(for: "completed", of: call)
            }
        }

        private func isReadFirst(_ page: HostPage) async throws {
            try await page.run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
            try await page.waitForText("more lines: scroll to the end", in: ".question .extent:not([hidden])")
            let isClosed = try await page.run(
                "return (async () => { \(Self.sleep) return !!document.querySelector('.question .yes').ariaDisabled })()"
            )
            #expect(isClosed == true)
            try await page.wait(
                "\(HostPage.reading) return document.querySelector('.question .yes').ariaDisabled === null")
        }

        /// The keyboard stays at a tool while a server changes its list.
        @Test func aListThatChangesKeepsTheFocus() async throws {
            let server = try ViewServer("one")
            try await HostPage.with([server]) { page in
                try await page.wait("return document.querySelector('.pick[data-tool=echo]')")
                try await page.run("document.querySelector('.pick[data-tool=echo]').focus()")
                try server.add("another") { _, _ in .text("") }
                try await page.wait("return document.querySelector('.pick[data-tool=another]')")
                #expect(try await page.run("return document.activeElement.dataset.tool") == "echo")
                server.server.unregisterTool("echo")
                try await page.wait("return !document.querySelector('.pick[data-tool=echo]')")
                #expect(try await page.run("return document.activeElement.className") == "fold")
            }
        }

        /// A view hears its host, itself and its own frames, and no other view.
        @Test func viewsDoNotHearEachOther() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let (first, second) = (try await page.show("show"), try await page.show("show"))
                try await second.run(
                    "window.others = []; addEventListener('message', ({ source, data }) => source === parent || others.push(data))"
                )
                try await first.run(
                    """
                    for (let i = 0; i < top.length; i++) for (let j = 0; j < top[i].length; j++) top[i][j].postMessage('other', '*');
                    """)
                try await second.run("postMessage('own', '*')")
                try await second.wait("return others.includes('own')")
                #expect(try await second.request("ping") == [:])
                #expect(try await second.run("return others") == ["own"])
            }
        }

        /// Nor does it after it has opened its document anew, which removes all listeners.
        @Test func aViewThatOpensItsDocumentHearsNoOther() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let (first, second) = (try await page.show("show"), try await page.show("show"))
                try await second.run(
                    """
                    document.open();
                    window.others = [];
                    addEventListener('message', ({ source, data }) => source === parent || others.push(data));
                    document.write('<p>anew');
                    document.close();
                    """)
                try await first.run(
                    """
                    for (let i = 0; i < top.length; i++) for (let j = 0; j < top[i].length; j++) top[i][j].postMessage('other', '*');
                    """)
                try await second.run("postMessage('own', '*')")
                try await second.wait("return others.includes('own')")
                #expect(try await second.run("return others") == ["own"])
            }
        }

        /// Escape is heard in the frames of a view, too, and in a document that was opened anew.
        @Test(arguments: ["srcdoc", "blank", "outer", "open", "names"])
        func escapeIsHeardEverywhereInAView(_ way: String) async throws {
            let server = try ViewServer(
                "one", views: ["show": TestView.html(modes: ["inline", "fullscreen"])])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run(
                    """
                    const place = arguments[0] === 'outer' ? parent.document : document;
                    const frame = document.createElement('iframe');
                    switch (arguments[0]) {
                    case 'open':
                      document.open();
                      document.write('<p>anew');
                      document.close();
                      break;
                    case 'names':
                      // What the sandbox uses is not what a view can replace.
                      Object.defineProperty(KeyboardEvent.prototype, 'key', { get: () => 'x' });
                      parent.EventTarget.prototype.addEventListener = () => {};
                      window.length = 0;
                      break;
                    case 'srcdoc': frame.srcdoc = '<p>inside';
                    default: place.body.append(frame);
                    }
                    window.place = () => frame.isConnected ? frame.contentDocument : document;
                    """, .string(way))
                if way == "srcdoc" { try await view.wait("return place().body?.textContent === 'inside'") }
                try await page.browser.click(".holder .enter")
                try await page.wait("return document.querySelector('[data-mode=fullscreen]')")
                // What the sandbox has not seen yet, it sees within a moment.
                let press =
                    "place().body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));"
                    + " return place() !== null"
                for _ in 0 ..< 100 {
                    try await view.run(press)
                    if try await page.run("return !document.querySelector('[data-mode=fullscreen]')") == true
                    {
                        break
                    }
                    try await Task.sleep(for: .milliseconds(40))
                }
                #expect(
                    try await page.run("return !document.querySelector('[data-mode=fullscreen]')") == true)
            }
        }

        /// WCAG 2.1.2: a view that keeps Tab for itself is no trap.
        @Test func escapeLeadsOutOfAViewThatKeepsTab() async throws {
            let swallow = "addEventListener('keydown', e => e.preventDefault(), true);"
            let server = try ViewServer("one", views: ["show": TestView.html(swallow)])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.run("document.querySelector('[data-view] .close').focus()")
                try await page.browser.press("\u{E004}")
                try await page.wait("return document.activeElement.tagName === 'IFRAME'")
                try await page.browser.press("\u{E004}")
                #expect(try await page.run("return document.activeElement.tagName") == "IFRAME")
                try await view.run(
                    "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))"
                )
                try await page.wait("return document.activeElement.matches('.card')")
            }
        }

        /// Escape is the way out of full screen, whatever a view does with its keys.
        @Test func aViewDoesNotKeepEscape() async throws {
            let swallow =
                "addEventListener('keydown', e => { e.preventDefault(); e.stopImmediatePropagation() }, true);"
            let server = try ViewServer(
                "one", views: ["show": TestView.html(swallow, modes: ["inline", "fullscreen"])])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.browser.click(".holder .enter")
                try await page.wait("return document.querySelector('[data-mode=fullscreen]')")
                try await view.run(
                    "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))"
                )
                try await page.wait("return !document.querySelector('[data-mode=fullscreen]')")
            }
        }
    }
}
