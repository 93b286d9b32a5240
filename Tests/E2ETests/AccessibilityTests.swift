import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// axe finds nothing in the page, whatever it shows, in both colours, on a screen and on a phone.
    @Suite(.enabled(if: Axe.isWanted, "no axe: Tests/axe.sh")) struct AccessibilityTests {
        private static let schema: JSONValue = [
            "type": "object", "required": ["name", "size"],
            "properties": [
                "name": [
                    "type": "string", "minLength": 2, "title": "Your name", "description": "As written",
                ],
                "size": ["type": "string", "enum": ["small", "large"]],
                "count": ["type": "integer", "minimum": 1, "maximum": 9],
                "loud": ["type": "boolean"], "tags": ["type": "array", "items": ["type": "string"]],
                "place": ["type": "object", "properties": ["x": ["type": "number"]]],
                "which": [
                    "oneOf": [["title": "Number", "type": "integer"], ["title": "Word", "type": "string"]]
                ],
            ],
        ]

        private func server() throws -> ViewServer {
            let server = try ViewServer(
                "one", views: ["show": TestView.html(), "slow_show": TestView.html()],
                meta: ["csp": ["connectDomains": ["https://api.example"]], "permissions": ["camera": [:]]])
            try server.add("order", description: "Orders a thing", schema: Self.schema) { _, _ in
                .text("ordered")
            }
            let form = ElicitationSchema([.string("city", minLength: 2, required: true)])
            try server.add("ask") { _, context in
                .text(try await context.elicit("Where to?", form).action.rawValue)
            }
            return server
        }

        @Test(arguments: [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
        func axeFindsNothing(colours: String, width: Int) async throws {
            let server = try server()
            try await HostPage.with([server]) { page in
                try await page.browser.colours(colours)
                try await page.browser.resize(width, 900)
                func check(_ state: String, showing part: String? = nil) async throws {
                    if let part { try await page.run("document.getElementById('\(part)').click()") }
                    #expect(try await Axe.violations(of: page) == [], "\(state), \(colours), \(width)")
                }
                try await check("start")
                // A form, and what is wrong in it.
                try await page.choose("order")
                try await check("a form", showing: "show-calls")
                try await page.run("document.querySelector('.compose .call').click()")
                try await page.wait("return document.querySelectorAll('.bad').length === 2")
                try await check("a form with mistakes")
                try await page.run("document.querySelector('.compose .swap').click()")
                try await check("arguments as JSON")
                // Calls: with a view, failed, at work.
                let view = try await page.show("show")
                let failed = try await page.call("broken")
                try await page.wait(for: "error", of: failed)
                _ = try await page.call("slow_show")
                try await page.wait("return !!document.querySelector('.working:not([hidden])')")
                try await check("calls", showing: "show-calls")
                // A question at a view, with others behind it; then one of a server.
                for n in 1 ... 2 {
                    try await view.begin(
                        "w\(n)", "tools/call", ["name": "wipe", "arguments": ["n": JSONValue(n)]])
                }
                _ = try await page.question()
                try await check("a question that cannot be agreed to yet")
                try await page.answer("no")
                try await page.answer("no")
                try await view.begin("link", "ui/open-link", ["url": "https://user:x@example.com/"])
                _ = try await page.question()
                try await check("a question about a link")
                try await page.answer("no")
                let asking = try await page.call("ask")
                _ = try await page.question()
                try await page.run("document.querySelector('.question').scrollIntoView({ block: 'center' })")
                try await page.wait("return document.querySelector('.question .yes').ariaDisabled === null")
                try await page.agree(".question .yes")
                try await page.wait("return !!document.querySelector('.question .fault')")
                try await check("a question of a server, with a mistake")
                try await page.browser.click(".question .answers > button")
                try await page.wait(for: "completed", of: asking)
                try await view.run("new RTCPeerConnection().close()")
                try await page.waitForText("It uses WebRTC", in: "[data-view=\"\(view.id)\"] .notes")
                try await check("a view with a warning")
                try await page.run("document.querySelectorAll('details').forEach(one => one.open = true)")
                try await check("all that can be unfolded")
                for part in ["show-chat", "show-log", "show-history"] {
                    try await page.run("document.getElementById('show-activity').click()")
                    try await check(part, showing: part)
                }
                try await page.run("document.getElementById('show-tools').click()")
                try await page.run(
                    "document.getElementById('filter').value = 'no such tool';"
                        + "document.getElementById('filter').dispatchEvent(new Event('input', { bubbles: true }))"
                )
                try await check("a search without a hit")
                server.gate.open()
            }
        }

        // Otherwise finding nothing would prove nothing.
        @Test func axeFindsAPlantedMistake() async throws {
            let server = try server()
            try await HostPage.with([server]) { page in
                try await page.run("document.querySelector('main').append(new Image())")
                let found = try await Axe.violations(of: page)
                #expect(found.count == 1 && found[0].hasPrefix("critical image-alt"))
            }
        }

        @Test func axeFindsNothingInAPageThatIsCovered() async throws {
            let server = try server()
            try await HostPage.with([server]) { page in
                page.host.stop()
                try await page.wait("return document.body.dataset.online === 'no'")
                #expect(try await Axe.violations(of: page) == [])
                // Without the key.
                let other = try await HostProgram([server.url])
                try await page.browser.open(other.origin + "/")
                try await page.wait("return !document.getElementById('cover').hidden")
                #expect(try await Axe.violations(of: page) == [])
                other.stop()
            }
        }
    }
}

/// axe-core, which `make e2e` fetches.
enum Axe {
    private static let script = try? RepositoryFile.text(".build/axe/axe.min.js")

    /// In CI, a missing one fails the tests.
    static var isWanted: Bool { script != nil || ProcessInfo.processInfo.environment["CI"] != nil }

    /// Returns what axe objects to, a line for each rule: its weight, and the first elements. What views show is
    /// theirs.
    static func violations(of page: HostPage) async throws -> [String] {
        let script = try #require(script, "no axe: Tests/axe.sh")
        // Colours that fade would be measured half way.
        let found = try await page.run(
            """
            \(script);
            document.getAnimations().forEach(one => { try { one.finish() } catch { one.cancel() } });
            return axe.run(document, { iframes: false, resultTypes: ["violations"] }).then(all => all.violations.map(
              one => `${one.impact} ${one.id}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" | ")}`));
            """)
        return found.arrayValue?.compactMap(\.stringValue) ?? ["\(found)"]
    }
}
