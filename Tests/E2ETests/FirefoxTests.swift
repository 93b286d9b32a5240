import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// The same page and the same views in Firefox, where it is installed.
    @Suite(.enabled(if: Marionette.program != nil, "no Firefox on the PATH"))
    struct FirefoxTests {
        /// Where the keyboard is.
        private static let focus =
            "const at = document.activeElement; return [document.hasFocus(), at.tagName, at.id, at.className]"

        private func with(_ server: ViewServer, _ body: (HostPage) async throws -> Void) async throws {
            let firefox = try await Marionette()
            let browser = Browser(firefox)
            try await HostPage.with([server.url], in: browser, body)
            await firefox.stop()
            server.gate.open()
            await server.stop()
        }

        @Test func aViewWorks() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await with(server) { page in
                let view = try await page.show("show", #"{"a": 1}"#)
                #expect(try await view.heard("ui/notifications/tool-input") == [["arguments": ["a": 1]]])
                let echoed = try await view.request(
                    "tools/call", ["name": "echo", "arguments": ["x": [nil]]])
                #expect(echoed["content"]?[0]?["text"] == #"{"x":[null]}"#)
                try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": [:]])
                #expect(try await page.question().contains("Allow “wipe” to run?"))
                try await WaitTests.impatience(page)
                #expect(server.calls(of: "wipe").isEmpty)
                try await page.answer("yes")
                #expect(try await view.end(of: "wipe")["result"]?["content"]?[0]?["text"] == "wiped")
                #expect(try await view.run("return origin").stringValue?.contains(".localhost:") == true)
            }
        }

        @Test func timeCountsOnlyWhileFramesAreShown() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await with(server) { page in
                try await WaitTests.onlyWhatTheScreenShowedCounts(page, page.show("show"))
            }
        }

        // A33
        @Test func callsOfAViewAreKept() async throws {
            let firefox = try await Marionette()
            try await StateTests.callsOfAViewAreKept(in: Browser(firefox))
            await firefox.stop()
        }

        // A28
        @Test func aReloadKeepsTheFormAndTheLog() async throws {
            let firefox = try await Marionette()
            try await ReloadTests.keepsTheFormAndTheLog(in: Browser(firefox))
            await firefox.stop()
        }

        // A44
        @Test func theLastPageCounts() async throws {
            let firefox = try await Marionette()
            try await StateTests.theLastPageCounts(in: Browser(firefox))
            await firefox.stop()
        }

        // D1, D2
        @Test func aHostileViewIsStopped() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await with(server) { page in
                let view = try await page.show("show")
                try await page.browser.click("#filter")
                try await view.run(HostileTests.thief)
                try await page.waitForText("kept taking the keyboard", in: "[data-view] .problem")
                // Firefox passes the focus between processes, which takes a moment.
                try await page.wait("return document.hasFocus() && document.activeElement.id === 'filter'")
                try await page.browser.press("secret")
                let typed = try await page.run("return document.getElementById('filter').value")
                let focus = try await page.run(Self.focus)
                #expect(typed == "secret", "the focus: \(focus)")
                try await page.run(
                    "const box = document.getElementById('filter'); box.value = ''; box.oninput()")
                try await page.browser.click(".holder .reload")
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
                try await view.run(
                    "setTimeout(() => { const a = []; a.length = 1e7; parent.postMessage(a, '*') })")
                let other = try await page.call("echo", #"{"n": 1}"#)
                try await page.wait(for: "completed", of: other)
            }
        }

        // A23
        @Test func nothingReachesAForeignPort() async throws {
            let foreign = try RequestRecorder()
            defer { foreign.stop() }
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await with(server) { page in
                let view = try await page.show("show")
                for attack in SecurityTests.attacks {
                    try await view.run(
                        """
                        const evil = arguments[0];
                        const add = (name, props) => document.body.appendChild(Object.assign(document.createElement(name), props));
                        try { \(attack.script) } catch {}
                        """, .string("\(foreign.origin)/\(attack.name.replacing(" ", with: "-"))"))
                }
                #expect(try await view.request("ping") == [:])
                #expect(foreign.requests.isEmpty)
            }
        }
    }
}
