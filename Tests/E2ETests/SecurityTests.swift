import MCPCore
import TestSupport
import Testing

extension E2E {
    /// What keeps a hostile view in its frame.
    @Suite struct SecurityTests {
        // A26; security/iframe-sandboxed, sandbox-proxy-required, sandbox-distinct-origin, sandbox-permissions,
        // sandbox-message-forwarding
        @Test func aViewStandsInTwoFramesOfAnotherOrigin() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let inside = try await view.run(
                    """
                    let top = "reached";
                    try { window.top.location.href } catch (error) { top = error.name }
                    let host = "reached";
                    try { window.top.document } catch (error) { host = error.name }
                    return [window.parent !== window.top, top, host, origin, location.href.endsWith("/sandbox") || location.href,
                      frameElement.getAttribute("sandbox"), document.cookie];
                    """)
                let origin = inside[3]?.stringValue ?? ""
                #expect(
                    inside == [
                        true, "SecurityError", "SecurityError", .string(origin), true,
                        "allow-scripts allow-same-origin allow-forms", "",
                    ])
                #expect(origin.hasPrefix("http://\(view.id).localhost:"))
                let outer = try await page.run(
                    "const f = document.querySelector('[data-view] iframe'); return [f.getAttribute('sandbox'), f.src, f.referrerPolicy]"
                )
                #expect(
                    outer == [
                        "allow-scripts allow-same-origin allow-forms", .string("\(origin)/sandbox"),
                        "no-referrer",
                    ])
            }
        }

        // A22; security/csp-allow-declared, csp-no-loosening, sandbox-csp-enforced, external-domain-warning
        @Test func onlyDeclaredOriginsAreReached() async throws {
            let (declared, other) = (try RequestRecorder(), try RequestRecorder())
            defer { declared.stop(); other.stop() }
            let meta: JSONObject = ["csp": ["connectDomains": [.string(declared.origin)]]]
            let server = try ViewServer("one", views: ["show": TestView.html()], meta: meta)
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let script =
                    "return fetch(arguments[0] + '/x').then(answer => answer.text(), error => error.name)"
                #expect(try await view.run(script, .string(other.origin)) == "TypeError")
                #expect(try await view.run(script, .string(declared.origin)) == "ok")
                #expect(declared.requests == ["GET /x"])
                #expect(other.requests.isEmpty)
                try await page.waitForText("its policy blocked “\(other.origin)", in: "#lines")
                try await page.waitForText(declared.origin, in: "[data-view] .warning")
                // security/csp-audit-log
                try await page.waitForText("policy: default-src 'none'", in: "#lines")
                #expect(page.host.errorText.contains("connect-src \(declared.origin)"))
            }
        }

        static let attacks: [(name: String, script: String)] = [
            ("fetch", "fetch(evil).catch(() => {})"), ("image", "new Image().src = evil"),
            ("script", "add('script', { src: evil })"), ("frame", "add('iframe', { src: evil })"),
            ("window", "window.opened = window.open(evil)"),
            ("top", "try { top.location = evil } catch {}"),
            ("top by the proxy", "try { parent.parent.location = evil } catch {}"),
            ("proxy", "try { parent.location.href = evil } catch {}"),
            ("beacon", "navigator.sendBeacon(evil)"),
            ("socket", "try { new WebSocket(evil.replace('http', 'ws')) } catch {}"),
            ("events", "try { new EventSource(evil) } catch {}"),
            ("worker", "try { new Worker('data:text/javascript,fetch(\"' + evil + '\")') } catch {}"),
            ("prefetch", "add('link', { rel: 'prefetch', href: evil })"),
            ("preload", "add('link', { rel: 'preload', as: 'script', href: evil })"),
            ("modulepreload", "add('link', { rel: 'modulepreload', href: evil })"),
            ("icon", "add('link', { rel: 'icon', href: evil })"),
            ("stylesheet", "add('link', { rel: 'stylesheet', href: evil })"),
            (
                "font",
                "add('style', { textContent: '@font-face { font-family: x; src: url(' + evil + ') } body { font-family: x }' })"
            ),
            ("import", "add('style', { textContent: '@import \"' + evil + '\";' })"),
            ("background", "document.body.style.background = 'url(' + evil + ')'"),
            ("video", "add('video', { src: evil })"), ("object", "add('object', { data: evil })"),
            ("ping", "add('a', { href: '#', ping: evil, textContent: 'x' }).click()"),
            (
                "frame of the proxy",
                "parent.document.body.append(Object.assign(document.createElement('iframe'), { src: evil }))"
            ),
            ("fetch of the proxy", "parent.fetch(evil).catch(() => {})"),
            ("base", "add('base', { href: evil })"),
        ]

        // A23: no request leaves, and the allowed one does
        @Test func noAttackReachesAForeignPort() async throws {
            let foreign = try RequestRecorder()
            defer { foreign.stop() }
            let meta: JSONObject = ["csp": ["connectDomains": [.string("\(foreign.origin)/allowed")]]]
            let server = try ViewServer("one", views: ["show": TestView.html()], meta: meta)
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                for attack in Self.attacks {
                    try await view.run(
                        """
                        const evil = arguments[0];
                        const add = (name, props) => document.body.appendChild(Object.assign(document.createElement(name), props));
                        \(attack.script);
                        """, .string("\(foreign.origin)/\(attack.name.replacing(" ", with: "-"))"))
                }
                #expect(try await view.run("return window.opened === null") == true)
                // The same port, by the way that was declared: had anything else left, it would be here by now.
                let allowed = try await view.run(
                    "return fetch(arguments[0]).then(answer => answer.text())",
                    .string("\(foreign.origin)/allowed"))
                #expect(allowed == "ok")
                #expect(foreign.requests == ["GET /allowed"])
                #expect(try await page.run("return location.origin") == .string(page.host.origin))
            }
        }

        /// The last one runs in the proxy, where a view can put a script, both being of one origin.
        static let departures = [
            "location.href = evil",
            "const f = document.createElement('form'); f.action = evil; f.method = 'post'; document.body.append(f); f.submit()",
            """
            const a = document.createElement('a'); a.href = evil; a.download = 'x'; document.body.append(a); a.click()
            """,
            """
            const s = parent.document.createElement('script'); s.textContent = 'location.href = ' + JSON.stringify(evil);
            parent.document.body.append(s)
            """,
        ]

        // A23: a view, or its proxy, that leaves its page is noticed, reaches nobody, and is loaded again
        @Test(arguments: departures)
        func aViewThatLeavesIsNoticed(script: String) async throws {
            let foreign = try RequestRecorder()
            defer { foreign.stop() }
            let meta: JSONObject = ["csp": ["connectDomains": [.string("\(foreign.origin)/allowed")]]]
            let server = try ViewServer("one", views: ["show": TestView.html()], meta: meta)
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                try await view.run(
                    "const evil = arguments[0]; setTimeout(() => { \(script) })",
                    .string("\(foreign.origin)/evil"))
                try await page.wait("return document.querySelector('.holder .problem').hidden === false")
                try await page.browser.click(".holder .reload")
                try await view.wait("return of('ui/notifications/tool-result').length === 1")
                _ = try await view.run(
                    "return fetch(arguments[0]).then(answer => answer.text())",
                    .string("\(foreign.origin)/allowed"))
                #expect(foreign.requests == ["GET /allowed"])
            }
        }

        // A12; links/open-external
        @Test func linksOpenWhenTheUserAgrees() async throws {
            let foreign = try RequestRecorder()
            defer { foreign.stop() }
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                for url in ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "nothing"] {
                    let answer = try await view.request("ui/open-link", ["url": .string(url)])
                    #expect(
                        answer["isError"] == true || answer["error"]?["code"] == -32000, "\(url) \(answer)")
                }
                let link = "\(foreign.origin)/page?a=1"
                try await view.begin("no", "ui/open-link", ["url": .string(link)])
                #expect(try await page.question().contains(link))
                try await page.answer("no")
                let denied = try await view.end(of: "no")
                #expect(denied["error"]?["code"] == -32000 || denied["result"]?["isError"] == true)
                #expect(foreign.requests.isEmpty)
                let before = try await page.browser.windows()
                try await view.begin("yes", "ui/open-link", ["url": .string(link)])
                try await page.answer("yes")
                #expect(try await view.end(of: "yes") == ["result": [:]])
                try await eventually { foreign.requests.contains("GET /page?a=1") }
                try await page.waitForText("If no tab has opened: \(link)", in: "#notices")
                try await page.browser.closeWindows(except: before) {
                    let traces = try await page.run("return [window.opener, document.referrer]")
                    #expect(traces == [nil, ""])
                }
            }
        }

        // A43, A38; visibility/app-tool-call-guard, tools/proxy-call
        @Test func aViewsCallsAreGuarded() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            let other = try ViewServer("two")
            try other.add("of_two") { _, _ in .text("") }
            try await HostPage.with([server, other]) { page in
                let view = try await page.show("show")
                let wipe: JSONValue = ["name": "wipe", "arguments": ["path": "/"]]
                try await view.begin("no", "tools/call", wipe)
                let question = try await page.question()
                #expect(
                    question.contains("wipe") && question.contains("a view of")
                        && question.contains("\"path\": \"/\""))
                // H16
                #expect(question.contains("change or delete something, possibly irreversibly"))
                try await page.answer("no")
                #expect(try await view.end(of: "no")["error"]?["code"] == -32000)
                #expect(server.calls(of: "wipe").isEmpty)
                try await view.begin("yes", "tools/call", wipe)
                try await page.picture("apps-question")
                try await page.answer("yes")
                #expect(try await view.end(of: "yes")["result"]?["content"]?[0]?["text"] == "wiped")
                #expect(server.calls(of: "wipe") == [#"{"path":"/"}"#])
                let hidden = try await view.request("tools/call", ["name": "hidden", "arguments": [:]])
                #expect(hidden["content"]?[0]?["text"] == "for views")
                let guarded = try await view.request("tools/call", ["name": "model_only", "arguments": [:]])
                #expect(guarded["error"] != nil && server.calls(of: "model_only").isEmpty)
                let foreign = try await view.request("tools/call", ["name": "of_two", "arguments": [:]])
                #expect(foreign["error"] != nil && other.calls(of: "of_two").isEmpty)
            }
        }

        // A45: nothing is fetched from anywhere but the host itself
        @Test func nothingComesFromElsewhere() async throws {
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let script = "return performance.getEntriesByType('resource').map(one => one.name)"
                let own = try await page.run(script).arrayValue?.compactMap(\.stringValue) ?? []
                #expect(own.contains("\(page.host.origin)/app.css"))
                for url in own where !url.hasPrefix("data:") {
                    let isOurs = url.hasPrefix(page.host.origin) || url.contains(".localhost:")
                    #expect(isOurs, "\(url)")
                    // A25: the token is in none of them.
                    #expect(!url.contains(page.host.token))
                }
                // security/sandbox-no-self-requests
                #expect(
                    try await view.run("return parent.performance.getEntriesByType('resource').length") == 0)
                // A25: nor in the address, and there are no cookies.
                #expect(
                    try await page.run("return [location.href, document.cookie]") == [
                        .string("\(page.host.origin)/"), "",
                    ])
                #expect(!page.host.errorText.contains(page.host.token))
            }
        }

        /// A web server with an empty page.
        private struct Blank: HTTPRequestHandler {
            func respond(to request: HTTPRequest) async -> HTTPResponse {
                let headers = (try? HeaderFields(["Content-Type": "text/html"])) ?? HeaderFields()
                return HTTPResponse(
                    status: 200, headers: headers, body: .bytes(Array("<!doctype html>".utf8)))
            }
        }

        // Another page in the same browser reads nothing, changes nothing, and does not hold on to the page
        @Test func anotherPageReachesNothing() async throws {
            let attacker = try HTTPServer(on: [.tcp(port: 0)])
            try attacker.start(Blank())
            let origin = "http://localhost:\(attacker.addresses.first?.port ?? 0)"
            let server = try ViewServer("one", views: ["show": TestView.html()])
            try await HostPage.with([server]) { page in
                let view = try await page.show("show")
                let place = try await view.run("return origin")
                let own = try await page.browser.windows()
                let made = try await page.browser.send("POST", "/window/new", ["type": "tab"])
                try await page.browser.select(window: made["handle"]?.stringValue ?? "")
                try await page.browser.open(origin + "/")
                let results = try await page.browser.run(
                    """
                    const [host, view] = arguments, post = { method: "POST", body: '{"server":"1","tool":"wipe"}' };
                    const load = (name, members) => new Promise((done, fail) => {
                      document.body.append(Object.assign(document.createElement(name), { onload: done, onerror: fail }, members));
                      setTimeout(fail, 2000);
                    });
                    const tries = {
                      page: () => fetch(host + "/"), history: () => fetch(host + "/api/history"),
                      call: () => fetch(host + "/api/calls", { ...post, headers: { "Content-Type": "application/json" } }),
                      blind: () => fetch(host + "/api/calls", { ...post, mode: "no-cors" }).then(() => { throw 0 }),
                      script: () => load("script", { src: host + "/app.js" }),
                      module: () => load("script", { type: "module", src: host + "/app.js" }),
                      style: () => load("link", { rel: "stylesheet", href: host + "/app.css" }),
                      sandbox: () => fetch(view + "/sandbox"), module2: () => import(host + "/relay.js"),
                      frame: () => load("iframe", { src: host + "/" }).then(({ target }) => {
                        if (target.contentWindow.length || target.contentDocument) return;
                        throw 0;
                      }),
                      opened: async () => {
                        const other = open(host + "/");
                        await new Promise(done => setTimeout(done, 2000));
                        if (!other || other.closed) throw 0;
                      },
                    };
                    return Promise.all(Object.entries(tries).map(([name, attempt]) =>
                      attempt().then(() => name, () => null))).then(all => all.filter(Boolean));
                    """, .string(page.host.origin), place)
                #expect(results == [])
                #expect(server.calls(of: "wipe").isEmpty)
                try await page.browser.select(window: own.first ?? "")
                try await page.browser.closeWindows(except: own)
                // The page is still the one that counts.
                #expect(try await view.request("ping") == [:])
            }
            await attacker.stop()
        }
    }
}
