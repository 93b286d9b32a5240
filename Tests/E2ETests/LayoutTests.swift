import MCPCore
import TestSupport
import Testing

extension E2E {
    /// Where things stand on the page, on a screen, on a phone and enlarged.
    @Suite struct LayoutTests {
        private static let long = String(repeating: "y", count: 160)
        private static let name = "department_03_list_quarterly_reports_of_all_the_subsidiaries_in_"

        /// A server whose names and addresses are long, and which asks for a form.
        private func server() throws -> ViewServer {
            let server = try ViewServer(
                "one", views: ["show": TestView.html(modes: ["inline", "fullscreen"])])
            for region in ["asia", "europe"] {
                try server.add(Self.name + region) { _, _ in
                    CallToolResult(content: [
                        .resourceLink(Resource("https://example.com/\(Self.long)", name: "A link"))
                    ])
                }
            }
            let fields = (0 ..< 9).map { ElicitationSchema.Field.string("field\($0)") }
            try server.add("ask") { _, context in
                .text(try await context.elicit("Where to?", ElicitationSchema(fields)).action.rawValue)
            }
            return server
        }

        /// The parts of the page that are wider than their place.
        private static let tooWide = """
            return [...document.querySelectorAll("body, main, .side, .activity, .card, .pick, .question")]
              .filter(one => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
              .map(one => `${one.tagName}.${one.className} ${one.scrollWidth} > ${one.clientWidth}`);
            """

        @Test(arguments: [1280, 640, 390]) func nothingIsTooWide(width: Int) async throws {
            let server = try server()
            try await HostPage.with([server]) { page in
                try await page.browser.resize(width, 844)
                try await page.run("document.getElementById('show-tools').checked = true")
                #expect(try await page.run(Self.tooWide) == [])
                let call = try await page.call(Self.name + "asia")
                try await page.wait(for: "completed", of: call)
                try await page.waitForText(Self.long, in: "[data-call=\"\(call)\"] .result")
                #expect(try await page.run(Self.tooWide) == [])
                // The name can be read to its end, so that it can be told from the other.
                #expect(
                    try await page.run(
                        "const name = document.querySelector('[data-call=\"\(call)\"] > header strong');"
                            + "return name.scrollWidth <= name.clientWidth + 1") == true)
                // A view that fills the window fills this one, with the way back.
                let view = try await page.show("show")
                try await page.run("document.querySelector('[data-view=\"\(view.id)\"] .enter').click()")
                try await page.wait(
                    "const box = document.querySelector('[data-mode=fullscreen] .leave')?.getBoundingClientRect();"
                        + "return box && box.right <= \(width) && box.width > 0")
                #expect(try await page.run("return document.documentElement.scrollWidth") == JSONValue(width))
            }
        }

        @Test func namesInTheListCanBeToldApart() async throws {
            let server = try server()
            try await HostPage.with([server]) { page in
                try await page.wait("return document.querySelectorAll('.pick').length > 3")
                #expect(
                    try await page.run(
                        "return [...document.querySelectorAll('.pick strong')]"
                            + ".filter(one => one.scrollHeight > one.clientHeight + 1).length") == 0)
            }
        }

        /// Its answers can be reached at any size, and the form of a tool stands below it.
        @Test(arguments: [(1280, 900), (640, 450), (390, 844)])
        func aQuestionOfAServerLeavesRoom(width: Int, height: Int) async throws {
            let server = try server()
            try await HostPage.with([server]) { page in
                try await page.browser.resize(width, height)
                for _ in 0 ..< 4 { try await page.call("echo") }
                let call = try await page.call("ask")
                _ = try await page.question()
                try await page.choose("echo")
                try await page.run("document.getElementById('show-calls').click()")
                let isSeen =
                    "const box = one.getBoundingClientRect();"
                    + "return one.contains(document.elementFromPoint(box.left + 5, box.top + box.height / 2))"
                #expect(
                    try await page.run("const one = document.querySelector('.compose h2'); \(isSeen)") == true
                )
                try await page.run(
                    "document.querySelector('.question .answers > button').scrollIntoView({ block: 'nearest' })"
                )
                #expect(
                    try await page.run(
                        "const one = document.querySelector('.question .answers > button'); \(isSeen)")
                        == true)
                try await page.browser.click(".question .answers > button")
                try await page.wait(for: "completed", of: call)
            }
        }

        /// Whether who asks and all answers can be seen.
        private static let showsAll = """
            return [...document.querySelectorAll('.question :is(.from, .answers > button)')].every(one => {
              const { left, width, top, height } = one.getBoundingClientRect();
              return one.closest('.words, .answers').contains(document.elementFromPoint(left + width / 2, top + height / 2));
            });
            """

        /// The count of questions leads to all of one: with any zoom who asks and all answers are in sight at once.
        @Test(arguments: [(1280, 400), (640, 450), (320, 256), (320, 150)])
        func aQuestionFitsIntoTheWindow(width: Int, height: Int) async throws {
            let server = try server()
            try await HostPage.with([server]) { page in
                let call = try await page.call("ask")
                _ = try await page.question()
                try await page.browser.resize(width, height)
                try await page.run("document.getElementById('asks').click()")
                try await page.wait(Self.showsAll)
                try await page.wait(
                    "\(HostPage.reading) return document.querySelector('.question .yes').ariaDisabled === null"
                )
                try await page.agree(".question .yes")
                try await page.wait(for: "completed", of: call)
            }
        }

        /// What a view asks has room in each of its modes, however small the window is and whatever else is said at
        /// the view.
        @Test(arguments: ["inline", "pip", "fullscreen"]) func aQuestionOfAViewHasRoom(mode: String)
            async throws
        {
            let html = TestView.html(modes: ["inline", "pip", "fullscreen"], tools: "{ a: () => 1 }")
            let domains = (1 ... 12).map { JSONValue.string("https://a\($0).example.com") }
            let server = try ViewServer(
                "one", views: ["show": html], meta: ["csp": ["connectDomains": .array(domains)]])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await page.waitForText("offers 1 tool", in: "[data-view] .offers")
                if mode != "inline" {
                    let request: JSONValue = ["mode": .string(mode)]
                    #expect(try await view.request("ui/request-display-mode", request) == request)
                    try await page.wait("return document.querySelector('[data-mode=\(mode)]')")
                }
                for (width, height) in [
                    (400, 420), (320, 480), (640, 450), (320, 256), (256, 160), (200, 700), (200, 420),
                    (200, 300),
                ] {
                    try await page.browser.resize(width, height)
                    try await view.begin("wipe", "tools/call", ["name": "wipe", "arguments": ["path": "/a"]])
                    _ = try await page.question()
                    try await page.run("document.getElementById('asks').click()")
                    // Three lines, who asks and all answers.
                    try await page.wait(
                        "return document.querySelector('.question .words').clientHeight >= \(height < 200 ? 16 : 60)"
                    )
                    try await page.wait(Self.showsAll)
                    try await page.wait(
                        "\(HostPage.reading) return document.querySelector('.question .yes').ariaDisabled === null"
                    )
                    try await page.agree(".question .yes")
                    #expect(try await view.end(of: "wipe")["result"] != nil)
                }
            }
        }

        /// Tab and Enter do what they do elsewhere in a form; Ctrl+Enter calls from a field of several lines.
        @Test func theKeyboardInAForm() async throws {
            let server = try ViewServer("one")
            let schema: JSONValue = [
                "type": "object", "properties": ["a": ["type": "string"], "b": ["type": "string"]],
            ]
            try server.add("order", schema: schema) { arguments, _ in .text(String(arguments.bytes)) }
            try await HostPage.with([server]) { page in
                try await page.choose("order")
                try await page.wait("return document.activeElement.dataset.path === '/a'")
                // With Tab and Enter.
                try await page.browser.press("x\u{E004}y\u{E007}z")
                try await page.run(
                    "document.activeElement.dispatchEvent("
                        + "new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }))")
                try await page.wait("return document.querySelector('#cards > .card')")
                #expect(server.calls(of: "order") == [#"{"a":"x","b":"y\nz"}"#])
                try await page.run("document.querySelector('.compose .call').focus()")
                try await page.browser.press("\u{E007}")
                try await page.wait("return document.querySelectorAll('#cards > .card').length === 2")
            }
        }

        /// A row of the history that stands for several keeps its form.
        @Test func aFoldedRowKeepsItsForm() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                for _ in 0 ..< 3 { _ = try await view.request("tools/call", ["name": "hidden"]) }
                try await page.run("document.getElementById('show-history').click()")
                try await page.waitForText("×3", in: "#entries")
                #expect(
                    try await page.run(
                        "const [state, badge] = ['.state', '.badge'].map(name => document.querySelector("
                            + "`#entries ${name}`).getBoundingClientRect());"
                            + "return state.width < 120 && Math.abs(state.top - badge.top) < 4") == true)
            }
        }
    }
}
