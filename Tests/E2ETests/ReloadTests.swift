import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What a reload of the page keeps.
    @Suite struct ReloadTests {
        /// What was typed, unless it is a secret, and the log with its times.
        @Test func aReloadKeepsTheFormAndTheLog() async throws {
            try await Self.keepsTheFormAndTheLog(in: nil)
        }

        /// - Parameter own: the browser; nil for the one that all tests share.
        static func keepsTheFormAndTheLog(in own: Browser?) async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            let text: JSONValue = ["type": "string"]
            try server.add(
                "order",
                schema: [
                    "type": "object",
                    "properties": [
                        "name": text, "api_token": text, "tags": ["type": "array", "items": text], "any": [:],
                    ],
                ]
            ) { _, _ in .text("") }
            try await HostPage.with([server.url], in: own) { page in
                _ = try await page.show("show")
                try await page.choose("order")
                try await page.browser.type("Ann", into: "[data-path=\"/name\"]")
                try await page.browser.type("hush", into: "[data-path=\"/api_token\"]")
                try await page.browser.click("[data-path=\"/tags\"] > .small")
                try await page.browser.type("red", into: "[data-path=\"/tags\"] .item textarea")
                // What cannot be read is lost, and nothing else.
                try await page.browser.type("{", into: "[data-path=\"/any\"]")
                let log = "return [...document.querySelectorAll('#lines > li')].map(one => one.textContent)"
                let logged = try await page.run(log).arrayValue ?? []
                #expect(!logged.isEmpty)
                func reload() async throws {
                    try await page.browser.reload()
                    try await page.wait("return document.querySelector('.compose')?.data.tool === 'order'")
                }
                try await reload()
                // The oldest is the last.
                #expect(try await page.run(log).arrayValue?.suffix(logged.count) == logged[...])
                #expect(
                    try await page.run(
                        "return ['/name', '/api_token', '/tags', '/any'].map(path => "
                            + "[...document.querySelectorAll(`[data-path=\"${path}\"]`)]"
                            + ".map(one => one.value ?? one.querySelector('textarea').value).join())")
                        == ["Ann", "", "red", ""])
                // JSON as it was typed.
                for (typed, kept) in [(#"{"name":"A"#, #"{"name":"A"#), (#"{"password":"hush"#, "")] {
                    if try await page.run("return document.querySelector('.raw').hidden") == true {
                        try await page.browser.click(".compose .swap")
                        try await page.wait("return !document.querySelector('.raw').hidden")
                    }
                    try await page.run("document.querySelector('.raw').value = arguments[0]", .string(typed))
                    try await reload()
                    #expect(
                        try await page.run(
                            "const raw = document.querySelector('.raw'); return [raw.value, raw.hidden]")
                            == [.string(kept), .bool(kept.isEmpty)])
                }
                #expect(
                    try await page.run("return JSON.stringify({ ...sessionStorage }).includes('hush')")
                        == false)
                // The address that the program prints begins anew.
                try await page.browser.open("about:blank")
                try await page.browser.open(page.host.address)
                try await page.wait("return !!document.querySelector('.pick[data-tool=order]')")
                #expect(try await page.run("return document.querySelector('.compose')") == nil)
            }
            await server.stop()
        }

        /// A call of a view stands in the card whose view made it, also after that view was closed and shown again.
        @Test func aCallOfAClosedViewStaysInItsCard() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                _ = try await view.request("tools/call", ["name": "hidden", "arguments": [:]])
                let isInside =
                    "return document.querySelector('[data-tool=show] .inner > [data-tool=hidden]') !== null"
                try await page.wait(isInside)
                try await page.browser.click("[data-view] .close")
                try await page.wait("return document.querySelector('[data-view]') === null")
                try await page.browser.click("[data-tool=show] [data-do$=view]")
                try await page.wait("return document.querySelector('[data-view]') !== null")
                try await page.browser.reload()
                try await page.wait("return document.querySelector('[data-view]') !== null")
                try await page.wait(isInside)
                #expect(try await page.run("return document.querySelectorAll('#cards > .card').length") == 1)
            }
        }
    }
}
