import Foundation
import MCPCore
import TestSupport
import Testing

extension E2E {
    /// No text of a peer keeps a browser busy, which may take minutes to draw one that is short enough to be shown.
    @Suite struct DrawingTests {
        static let texts: [(name: String, text: String, shown: String)] = [
            ("marks", "a" + String(repeating: "\u{E31}", count: 200_000), "a⟨200000 marks⟩"),
            ("skin tones", "a" + String(repeating: "\u{1F3FF}", count: 150_000), "a⟨150000 marks⟩"),
            (
                "Arabic", String(repeating: "\u{628}", count: 300_000),
                String(repeating: "\u{628}", count: 245) + "\n"
            ),
            (
                "Tifinagh", String(repeating: "\u{2D30}", count: 290_000),
                String(repeating: "\u{2D30}", count: 245) + "\n"
            ),
            (
                "words with fixed blanks",
                String(repeating: String(repeating: "\u{E01}", count: 98) + "\u{A0}", count: 2_900), "\n"
            ),
            ("two directions", String(repeating: "\u{5D0}a", count: 200_000), "\\u{5d0}a"),
            (
                "two directions without blanks", String(repeating: "\u{5D0}\u{4E2D}", count: 145_000),
                "\\u{5d0}\u{4E2D}"
            ),
        ]

        @Test(arguments: texts) func noTextBlocksThePage(
            name: String, text: String, shown: String
        ) async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            let part = String(decoding: text.utf8.prefix(60_000), as: UTF8.self)
            try server.add("say") { _, _ in
                CallToolResult(content: Array(repeating: .text(part), count: 20))
            }
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.run(HostileTests.watch)
                let call: JSONValue = ["name": "wipe", "arguments": ["text": .string(text)]]
                try await view.begin("wipe", "tools/call", call)
                _ = try await page.question()
                let code = try await page.run("return document.querySelector('.question pre').textContent")
                #expect(code.stringValue?.unicodeScalars.contains(shown.unicodeScalars) == true)
                // The answers stay in sight.
                #expect(
                    try await page.run(
                        """
                        const edge = document.querySelector('main').getBoundingClientRect().right;
                        return [...document.querySelectorAll('.answers > *')]
                          .every(one => one.getBoundingClientRect().right < edge);
                        """) == true)
                try await page.answer("no")
                let said = try await page.call("say")
                try await page.wait(for: "completed", of: said)
                try await page.wait(
                    "return document.querySelectorAll('[data-call=\"\(said)\"] .result pre').length === 20")
                let longest = try await page.run("return window.longest").doubleValue ?? 0
                #expect(longest < 5000, "\(name): \(longest) ms")
            }
        }

        /// What is copied from the page is what the server said.
        @Test func ordinaryTextsStay() async throws {
            let server = try ViewServer("one")
            let words = [
                "z\u{17C}\u{F3}\u{142}\u{107}", "\u{41F}\u{440}\u{438}\u{432}\u{435}\u{442}",
                "\u{4F60}\u{597D}",
            ]
            let items = (0 ..< 200).map { #"{"id":\#($0),"name":"\#(words[$0 % 3])"}"# }
            let texts = ["[" + items.joined(separator: ",") + "]", String(repeating: words[2], count: 500)]
            try server.add("say") { _, _ in CallToolResult(content: texts.map { .text($0) }) }
            try await HostPage.with([server]) { page in
                let said = try await page.call("say")
                try await page.wait(for: "completed", of: said)
                let shown = try await page.run(
                    "return [...document.querySelectorAll('[data-call=\"\(said)\"] .result pre')].map(one => one.textContent)"
                )
                #expect(shown.arrayValue?.map(\.stringValue) == texts)
            }
        }

        /// The message of a server is as wide as its column, so that its answers are in sight.
        @Test func aMessageIsNotWiderThanItsColumn() async throws {
            let server = try ViewServer("one")
            let marks = "\u{301}\u{E31}\u{1AB0}\u{F71}\u{20DD}"
            let message = marks.unicodeScalars.map { "a" + String(repeating: String($0), count: 90) }
            try server.add("asks") { _, context in
                let fields = [ElicitationSchema.Field.string("name")]
                let asked = message.joined(separator: " ")
                return .text(try await context.elicit(asked, ElicitationSchema(fields)).action.rawValue)
            }
            try await HostPage.with([server]) { page in
                try await page.call("asks")
                #expect(try await page.question().contains("⟨90 marks⟩"))
                let isInside = """
                    const edge = document.querySelector('#questions').getBoundingClientRect().right;
                    return document.querySelector('.question').getBoundingClientRect().right <= edge + 1;
                    """
                #expect(try await page.run(isInside) == true)
                // On a page that was just loaded, nothing was pressed too early.
                try await page.browser.open("about:blank")
                try await page.browser.open(page.host.address)
                try await page.wait("return document.querySelector('.question .yes')?.ariaDisabled === null")
                #expect(try await page.run("return document.querySelector('.question').dataset.why") == "")
                try await page.answer("no")
            }
        }
    }
}
