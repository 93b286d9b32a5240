import MCPCore
import TestSupport
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

        /// The page of a call, when it has run its checks.
        private func page(of call: String, _ page: HostPage) async throws -> ShownView {
            let id = try await page.wait(
                "return document.querySelector('[data-call=\"\(call)\"] [data-view]')?.dataset.view")
            return ShownView(page: page, id: id.stringValue ?? "")
        }

        private func checks(
            _ tool: String, _ arguments: String, _ page: HostPage
        ) async throws -> (view: ShownView, rows: [String: String]) {
            let call = try await page.call(tool, arguments)
            let view = try await self.page(of: call, page)
            try await page.wait(for: "completed", of: call)
            return (view, try await rows(of: view))
        }

        /// State and detail of each row, once all checks are done.
        private func rows(of view: ShownView) async throws -> [String: String] {
            let end = """
                const summary = document.getElementById('summary');
                return summary.dataset.state !== 'running' && summary.dataset.state
                """
            #expect(try await view.wait(end, atMost: .seconds(60)) == "done")
            let rows = try await view.run(
                """
                return Object.fromEntries([...rows].map(
                  ([id, row]) => [id, row.dataset.state + ' ' + row.lastChild.textContent]))
                """)
            return (rows.objectValue ?? [:]).reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
        }

        private func press(
            _ button: String, for row: String, _ view: ShownView, answer: Bool = true
        ) async throws {
            try await view.run("document.getElementById(arguments[0]).click()", .string(button))
            if answer { try await view.page.answer("yes") }
            try await passes(row, view)
        }

        private func passes(_ row: String, _ view: ShownView) async throws {
            try await view.wait("return rows.get('\(row)').dataset.state === 'pass'")
        }

        // 7.2: no single run can show all, and the page remembers what the runs before it have shown
        @Test func theHostConforms() async throws {
            let recorder = try RequestRecorder()
            defer { recorder.stop() }
            let model = try PacedModel()
            defer { model.stop() }
            try await HostPage.with(["--model-command", model.command] + Self.demo) { page in
                try await declared(recorder, model, page)
                try await cancelled(page)
                try await written(by: model, page)
                let (view, rows) = try await checks("run_conformance_default", "{}", page)
                #expect(rows["security/csp-default-deny"]?.hasPrefix("pass") == true)
                #expect(rows.count == 29)
                for (id, state) in rows { #expect(state.hasPrefix("pass"), "\(id): \(state)") }
                let summary = try await view.run("return document.getElementById('summary').textContent")
                #expect(summary == "29 pass, 0 fail, 0 skipped, 0 need an outside action")
                try await page.run("document.getElementById('notices').replaceChildren()")
                try await page.picture("apps-conformance")
            }
        }

        /// With an origin that may be reached, and all that a person does; closed at the end.
        private func declared(
            _ recorder: RequestRecorder, _ model: PacedModel, _ page: HostPage
        ) async throws {
            let (view, rows) = try await checks(
                "run_conformance", #"{"origin": "\#(recorder.origin)/control", "seconds": 0.2}"#, page)
            let later = [
                "security/csp-default-deny", "lifecycle/tool-cancelled", "lifecycle/tool-input-partial",
                "lifecycle/teardown-notify", "lifecycle/teardown-await", "links/open-external",
                "messages/add-to-conversation", "model-context/last-wins",
            ]
            for (id, state) in rows where id != "context/context-changed" {
                #expect(state.hasPrefix("pass") != later.contains(id), "\(id): \(state)")
                #expect(!state.hasPrefix("fail"), "\(id): \(state)")
            }
            #expect(recorder.requests == ["GET /control"])
            try await page.browser.colours("dark")
            try await passes("context/context-changed", view)
            try await page.browser.colours("light")
            try await press("context", for: "model-context/last-wins", view, answer: false)
            try await press("message", for: "messages/add-to-conversation", view)
            // What it says before it is asked is no answer.
            _ = try await model.request(0)
            try model.says(["type": "text", "delta": "Hello, page."], ["type": "stop"])
            try await page.waitForText("Hello, page.", in: "#messages [data-author=model]")
            let before = try await page.browser.windows()
            try await press("open-link", for: "links/open-external", view)
            try await page.browser.closeWindows(except: before)
            try await page.browser.click("[data-view=\"\(view.id)\"] .close")
            try await page.wait("return !document.querySelector('[data-view=\"\(view.id)\"]')")
        }

        private func cancelled(_ page: HostPage) async throws {
            let call = try await page.call("run_conformance", #"{"seconds": 60}"#)
            let view = try await self.page(of: call, page)
            try await passes("lifecycle/tool-input", view)
            try await page.browser.click("[data-call=\"\(call)\"] .cancel")
            try await page.wait(for: "cancelled", of: call)
            try await passes("lifecycle/tool-cancelled", view)
            #expect(try await rows(of: view)["lifecycle/tool-result"] == "pass in an earlier run")
        }

        /// The view of a tool that is allowed for the run is there before the model has written all arguments,
        /// and not before that.
        private func written(by model: PacedModel, _ page: HostPage) async throws {
            try await page.browser.type("Check the host", into: "#text")
            try await page.browser.click("#chat form button")
            _ = try await model.request(1)
            try begins("c1", model)
            try finishes("c1", model)
            #expect(try await page.question().contains("Allow “run_conformance” to run?"))
            let first = try await newestCall(besides: nil, page)
            let frames = "return document.querySelectorAll('[data-call=\"\(first)\"] iframe').length"
            #expect(try await page.run(frames) == 0)
            try await page.answer("wide")
            let unwritten = try await rows(of: try await self.page(of: first, page))
            #expect(unwritten["lifecycle/tool-input-partial"]?.hasPrefix("pass") == false)
            _ = try await model.request(2)
            try begins("c2", model)
            let view = try await self.page(of: try await newestCall(besides: first, page), page)
            try await view.wait("return heard.partials > 0 && !heard.input")
            try finishes("c2", model)
            let rows = try await rows(of: view)
            #expect(rows["lifecycle/tool-input-partial"] == "pass 1 partial inputs")
            _ = try await model.request(3)
            try model.says(["type": "text", "delta": "All is well."], ["type": "stop"])
            try await page.waitForText("All is well.", in: "#messages [data-author=model]:last-child")
        }

        private func newestCall(besides other: String?, _ page: HostPage) async throws -> String {
            let call = try await page.wait(
                """
                const card = document.querySelector('#cards > .card');
                return card.textContent.includes('by the model') && card.dataset.call !== '\(other ?? "")'
                  && card.dataset.call
                """)
            return call.stringValue ?? ""
        }

        /// The model begins to write the arguments of a call.
        private func begins(_ id: String, _ model: PacedModel) throws {
            try model.says(
                [
                    "type": "tool_call_delta", "id": .string(id), "name": "run_conformance",
                    "arguments": #"{"seconds": 0."#,
                ])
        }

        private func finishes(_ id: String, _ model: PacedModel) throws {
            try model.says(
                [
                    "type": "tool_call", "id": .string(id), "name": "run_conformance",
                    "arguments": ["seconds": 0.1],
                ], ["type": "stop"])
        }
    }
}
