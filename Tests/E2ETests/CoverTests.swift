import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What a view may have over a question, where the page does not see it: nothing is agreed to meanwhile.
    @Suite struct CoverTests {
        private static let sleep = "await new Promise(done => setTimeout(done, 1500));"
        private static let isShut =
            "return (async () => { \(sleep) return !!document.querySelector('.question .yes').ariaDisabled })()"

        private func with(
            _ body: String, _ test: (HostPage, ShownView, ViewServer) async throws -> Void
        ) async throws {
            let server = try ViewServer("one", views: ["show": TestView.html(body: body)])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
                _ = try await page.question()
                try await page.run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
                try await test(page, view, server)
            }
        }

        private func frame(_ view: ShownView) -> String { "[data-view=\"\(view.id)\"] iframe" }

        /// A key that a view makes up moves the keyboard, and closes nothing.
        @Test func aKeyOfTheViewOpensNoQuestion() async throws {
            try await with("<input id=\"text\">") { page, view, server in
                try await page.browser.press(frame(view), from: frame(view))
                try await page.wait("return document.activeElement.tagName === 'IFRAME'")
                try await view.run("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))")
                try await page.wait("return document.activeElement.className === 'card'")
                try await page.browser.hover(".question .yes")
                #expect(try await page.run(Self.isShut) == true)
                try await page.answer("yes")
                #expect(try await view.end(of: "wipe")["result"] != nil)
            }
        }

        /// A tooltip, or a cursor, of the view under the pointer stays until the pointer is used elsewhere.
        @Test func thePointerInAViewOpensNoQuestion() async throws {
            try await with("<p title=\"a\">text</p>") { page, view, server in
                try await page.browser.hover(frame(view))
                try await page.wait("return document.querySelector('.question').dataset.why === 'press'")
                #expect(try await page.run(Self.isShut) == true)
                // Keys do not move it.
                try await page.browser.press("\u{E004}")
                #expect(try await page.run(Self.isShut) == true)
                try await page.answer("yes")
                #expect(server.calls(of: "wipe").count == 1)
            }
        }

        /// A press in a view lets it open a colour dialog for five seconds, without the keyboard. The page sees that
        /// this uses up the activation, and waits for a press that closes it.
        @Test func aDialogThatOpensLaterShutsTheQuestion() async throws {
            let body = "<input type=\"color\" id=\"color\"><p>text</p>"
            try await with(body) { page, view, server in
                try await view.run("addEventListener('mousedown', event => event.preventDefault())")
                try await page.browser.press(frame(view), from: frame(view))
                try await page.browser.click(".question h2")
                try await page.wait("return document.querySelector('.question').dataset.why === ''")
                try await view.run("document.getElementById('color').click()")
                try await page.wait("return document.querySelector('.question').dataset.why === 'press'")
                try await page.browser.hover(".question .yes")
                #expect(try await page.run(Self.isShut) == true)
                #expect(server.calls(of: "wipe").isEmpty)
            }
        }

        /// A link with a modifier or another button leads nowhere, as one without does.
        @Test func noLinkOfAViewLeadsToAWindow() async throws {
            let body = """
                <a id="link" href="http://127.0.0.1:9/leak" style="display: block; height: 400px">link</a>
                """
            try await with(body) { page, view, _ in
                let windows = try await page.browser.windows()
                let prevented = try await view.run(
                    """
                    return [{ ctrlKey: true }, { shiftKey: true }, { altKey: true }, { metaKey: true }, { button: 1 }, {}].map(how => {
                      const kind = how.button ? 'auxclick' : 'click';
                      const event = new MouseEvent(kind, { bubbles: true, cancelable: true, ...how });
                      let wasPrevented;
                      addEventListener(kind, e => { wasPrevented = e.defaultPrevented; e.preventDefault() }, { once: true });
                      document.getElementById('link').dispatchEvent(event);
                      return wasPrevented;
                    });
                    """)
                #expect(prevented == [true, true, true, true, true, false])
                #expect(try await page.browser.windows() == windows)
            }
        }

        /// A view that takes the keyboard and gives it away at once is stopped, and the field keeps the keyboard.
        @Test func whoTakesTheKeyboardForAMomentIsStopped() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.run("document.getElementById('filter').focus()")
                try await view.run(
                    "setInterval(() => { window.focus(); parent.parent.focus() }, 400)")
                try await page.waitForText("kept taking the keyboard", in: "[data-view] .problem")
                try await page.wait("return document.activeElement.id === 'filter'")
            }
        }
    }
}
