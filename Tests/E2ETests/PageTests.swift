import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What the page says, and where.
    @Suite struct PageTests {
        /// Whether an element can be seen at its centre.
        private static let isSeen = """
            const seen = selector => {
              const one = document.querySelector(selector), box = one.getBoundingClientRect();
              return one.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
            };
            """

        // Titles first, names in full, tools for views apart, servers that fold
        @Test func theListOfTools() async throws {
            let server = try ViewServer("one")
            let name = "department_03_list_quarterly_figures_of_all_regions"
            try server.server.register(
                Tool(name, title: "Quarterly figures", inputSchema: ["type": "object"])
            ) { _, _ in .text("") }
            try await HostPage.with([server]) { page in
                try await page.choose(name)
                let pick = "document.querySelector('.pick[data-tool=\(name)]')"
                #expect(
                    try await page.run("return \(pick).querySelector('strong').textContent")
                        == "Quarterly figures")
                #expect(try await page.run("return \(pick).querySelector('code').title") == .string(name))
                #expect(
                    try await page.run("return document.querySelector('.of-views summary').textContent")
                        == "For views only (1)")
                #expect(
                    try await page.run("return !!document.querySelector('.of-views .pick[data-tool=hidden]')")
                        == true)
                try await page.waitForText("This tool takes no arguments.", in: ".compose")
                #expect(
                    try await page.run("return document.querySelectorAll('.compose .fields > .field').length")
                        == 0)
                try await page.browser.click(".server .fold")
                let folded = try await page.run(
                    "return [document.querySelector('.fold').getAttribute('aria-expanded'), \(pick).checkVisibility()]"
                )
                #expect(folded == ["false", false])
            }
        }

        // Line separators of Unicode are characters like others
        @Test func aResultWithLineSeparatorsArrives() async throws {
            let server = try ViewServer("one")
            try server.server.register(Tool("lines", inputSchema: ["type": "object"])) { _, _ in
                .text("first\u{2028}second\u{2029}third\u{85}fourth")
            }
            try await HostPage.with([server]) { page in
                let call = try await page.call("lines")
                try await page.wait(for: "completed", of: call)
                try await page.waitForText("third", in: "[data-call=\"\(call)\"]")
            }
        }

        // A call that the user gave up has not failed
        @Test func cancelledIsNotFailed() async throws {
            let server = try ViewServer("one")
            try await HostPage.with([server]) { page in
                let failed = try await page.call("broken")
                try await page.wait(for: "error", of: failed)
                let slow = try await page.call("slow")
                try await page.browser.click("[data-call=\"\(slow)\"] .cancel")
                try await page.wait(for: "cancelled", of: slow)
                let colours = try await page.run(
                    "return ['\(failed)', '\(slow)'].map(id => getComputedStyle(document.querySelector("
                        + "`[data-call=\"${id}\"] .state`)).color)")
                #expect(colours[0] != colours[1])
            }
        }

        // Without the key, and after another tab took over, there is nothing but the reason
        @Test func aPageThatIsNotAdmittedShowsTheReasonAlone() async throws {
            let server = try ViewServer("one")
            try await HostPage.with([server]) { page in
                try await page.browser.open("about:blank")
                try await page.browser.run("return 1")
                let other = try await HostProgram([server.url])
                defer { other.stop() }
                try await page.browser.open(other.origin + "/")
                try await page.wait("return !document.getElementById('cover').hidden")
                let title = "return document.querySelector('#cover h2').innerText"
                #expect(try await page.run(title) == "This address is not complete")
                // A key of an earlier run at the same port.
                try await page.run("sessionStorage.token = 'x'")
                try await page.browser.reload()
                try await page.wait("\(title).includes('started again')")
                let cover = try await page.run(
                    "return [document.getElementById('cover').innerText.length > 20,"
                        + "document.getElementById('cover').contains(document.elementFromPoint(40, 80)),"
                        + "document.querySelectorAll('.pick').length]")
                #expect(cover == [true, true, 0])
                // The address that the program prints, in the same tab.
                try await page.browser.open(other.address)
                try await page.wait("return document.querySelectorAll('.pick').length > 0")
                #expect(try await page.run("return document.getElementById('cover').hidden") == true)
            }
        }

        // What a view writes pushes nothing of the page out of sight
        @Test func aLongStateOfAViewLeavesTheRestInSight() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                _ = try await view.request(
                    "ui/update-model-context",
                    ["content": [["type": "text", "text": .string(String(repeating: "x ", count: 100_000))]]])
                try await page.wait("return !!document.querySelector('#messages > [data-author=context]')")
                let states = try await page.run(
                    "\(Self.isSeen) return [seen('label:has(#show-history)'),"
                        + "document.querySelector('#messages > li').offsetHeight < innerHeight / 2]")
                #expect(states == [true, true])
            }
        }
    }
}
