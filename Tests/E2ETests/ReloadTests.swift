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
                        "word": ["type": "string", "title": "Password"],
                    ],
                ]
            ) { _, _ in .text("") }
            try server.add("note", schema: ["type": "object", "properties": ["name": text]]) { _, _ in
                .text("")
            }
            try await HostPage.with([server.url], in: own) { page in
                _ = try await page.show("show")
                try await page.choose("order")
                try await page.browser.type("Ann", into: "[data-path=\"/name\"]")
                for path in ["/api_token", "/word"] {
                    try await page.browser.type("hush", into: "[data-path=\"\(path)\"]")
                }
                try await page.browser.click("[data-path=\"/tags\"] > .small")
                try await page.browser.type("red", into: "[data-path=\"/tags\"] .item textarea")
                // What cannot be read is lost, and nothing else.
                try await page.browser.type("{", into: "[data-path=\"/any\"]")
                let log = "return [...document.querySelectorAll('#lines > li')].map(one => one.textContent)"
                let logged = try await page.run(log).arrayValue ?? []
                #expect(!logged.isEmpty)
                func reload(_ tool: String) async throws {
                    try await page.browser.reload()
                    try await page.wait("return document.querySelector('.compose')?.data.tool === '\(tool)'")
                }
                try await reload("order")
                // The oldest is the last.
                #expect(try await page.run(log).arrayValue?.suffix(logged.count) == logged[...])
                #expect(
                    try await page.run(
                        "return ['/name', '/api_token', '/word', '/tags', '/any'].map(path => "
                            + "[...document.querySelectorAll(`[data-path=\"${path}\"]`)]"
                            + ".map(one => one.value ?? one.querySelector('textarea').value).join())")
                        == ["Ann", "", "", "red", ""])
                // JSON as it was typed, of a tool without a field for a secret.
                for (tool, typed, kept) in [
                    ("note", #"{"name":"A"#, #"{"name":"A"#), ("note", #"{"password":"hush"#, ""),
                    ("order", #"{"word":"hush"#, ""),
                ] {
                    try await page.choose(tool)
                    if try await page.run("return document.querySelector('.raw').hidden") == true {
                        try await page.browser.click(".compose .swap")
                        try await page.wait("return !document.querySelector('.raw').hidden")
                    }
                    try await page.run("document.querySelector('.raw').value = arguments[0]", .string(typed))
                    try await reload(tool)
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

        /// The names by which JSON is not kept, as a script of the page tells them.
        @Test func jsonThatNamesASecretIsNotKept() async throws {
            let server = try ViewServer("one")
            let secret: [JSONValue] = [
                #"{"pin_code":1"#, #"{"otpCode":1"#, #"{"userPin":1"#, #"{"PIN":1"#, #"{"cvv":1"#,
                #"{"CVC": 1"#,
                #"["credit_card""#, #"{"cardNumber":"#, "Bearer x", "API-KEY", "passPhrase",
            ]
            let others: [JSONValue] = [#"{"name":"shopping","spin":1,"opinion":"topic"}"#, "", "{"]
            try await HostPage.with([server]) { page in
                try await page.choose("echo")
                let found = try await page.run(
                    "const names = RegExp(document.querySelector('.compose').data.form.secrets);"
                        + "return arguments[0].map(text => names.test(text))", .array(secret + others))
                #expect(found == .array(secret.map { _ in true } + others.map { _ in false }))
            }
        }

        /// The form of a tool that is away waits for it, until another one is chosen.
        @Test func aFormThatIsKeptWaitsForItsTool() async throws {
            let server = try ViewServer("one")
            func addNote() throws {
                try server.add(
                    "note", schema: ["type": "object", "properties": ["name": ["type": "string"]]]
                ) { _, _ in .text("") }
            }
            try addNote()
            try await HostPage.with([server]) { page in
                try await page.choose("note")
                try await page.browser.type("Ann", into: "[data-path=\"/name\"]")
                server.server.unregisterTool("note")
                try await page.wait("return !document.querySelector('.pick[data-tool=note]')")
                try await page.browser.reload()
                try await page.waitForText(
                    "The form of note opens when its server offers it.", in: "#notices")
                // In a narrow window, what is typed elsewhere is in a part that is shown alone.
                _ = try await page.run(
                    "document.getElementById('show-tools').checked = true;"
                        + "document.getElementById('filter').focus(); return 0")
                try addNote()
                try await page.wait("return document.querySelector('[data-path=\"/name\"]')?.value === 'Ann'")
                try await page.wait(
                    "return document.getElementById('show-tools').checked && document.activeElement.id === 'filter'"
                )
            }
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
