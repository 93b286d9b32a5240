import MCPCore
import TestHTTP
import Testing

extension E2E {
    /// The demo of the daemon: its clock, and the page that checks its host.
    @Suite struct ConformanceTests {
        private static let demo = ["--", HostProgram.server, "--demo", "--stdio"]

        // A01 (stdio), A02; the milestone: one command shows a view
        @Test func theClockOfTheDemo() async throws {
            try await HostPage.with(Self.demo) { page in
                try await page.waitForText("2026-07-28", in: "#servers")
                try await page.browser.resize(1280, 720)
                try await page.choose("clock")
                try await page.browser.type("In Berlin", into: "[data-path=\"/label\"]")
                try await page.browser.click(".compose .call")
                let id = try await page.wait("return document.querySelector('[data-view]')?.dataset.view")
                let view = ShownView(page: page, id: id.stringValue ?? "")
                try await view.wait(#"return /In Berlin[^]*\d:\d\d/.test(document.body.innerText)"#)
                try await page.wait("return document.querySelector('[data-view] iframe').clientHeight > 120")
                try await page.picture("apps-light")
                try await page.browser.colours("dark")
                try await view.wait("return matchMedia('(prefers-color-scheme: dark)').matches")
                try await page.picture("apps-dark")
                try await page.browser.resize(390, 844)
                #expect(try await page.run("return document.documentElement.scrollWidth") == 390)
                try await page.wait("return document.querySelector('.room').clientWidth < 390")
                try await page.picture("apps-phone")
            }
        }

        private func run(_ tool: String, _ arguments: String, _ page: HostPage) async throws -> [String:
            String]
        {
            let call = try await page.call(tool, arguments)
            let id = try await page.wait(
                "return document.querySelector('[data-call=\"\(call)\"] [data-view]')?.dataset.view")
            let view = ShownView(page: page, id: id.stringValue ?? "")
            try await page.wait(for: "completed", of: call)
            let script =
                "const summary = document.getElementById('summary'); return summary.dataset.state !== 'running' && summary.dataset.state"
            #expect(try await view.wait(script, atMost: .seconds(60)) == "done")
            let rows = try await view.run(
                "return Object.fromEntries([...rows].map(([id, row]) => [id, row.dataset.state + ' ' + row.lastChild.textContent]))"
            )
            return Dictionary(
                uniqueKeysWithValues: (rows.objectValue ?? [:]).map { ($0.key, $0.value.stringValue ?? "") })
        }

        // 7.2, all that a view can observe
        @Test func theHostConforms() async throws {
            let recorder = try RequestRecorder()
            defer { recorder.stop() }
            try await HostPage.with(Self.demo) { page in
                let declared = try await run(
                    "run_conformance", #"{"origin": "\#(recorder.origin)/control", "seconds": 0.2}"#, page)
                let skipped = [
                    "security/csp-default-deny", "lifecycle/tool-cancelled", "lifecycle/tool-input-partial",
                ]
                let later = [
                    "context/context-changed", "lifecycle/teardown-notify", "lifecycle/teardown-await",
                    "links/open-external", "messages/add-to-conversation", "model-context/last-wins",
                ]
                #expect(declared.count > 25)
                for (id, state) in declared where !skipped.contains(id) && !later.contains(id) {
                    #expect(state.hasPrefix("pass"), "\(id): \(state)")
                }
                for (id, state) in declared { #expect(!state.hasPrefix("fail"), "\(id): \(state)") }
                #expect(recorder.requests == ["GET /control"])
                try await page.picture("apps-conformance")
                let restricted = try await run("run_conformance_default", "{}", page)
                #expect(restricted["security/csp-default-deny"]?.hasPrefix("pass") == true)
                for (id, state) in restricted { #expect(!state.hasPrefix("fail"), "\(id): \(state)") }
            }
        }
    }
}
