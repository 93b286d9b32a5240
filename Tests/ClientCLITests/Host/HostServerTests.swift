import MCPApps
import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// The two listeners of `host`, without a browser.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HostServerTests {
    private static let scripts = [
        "/app.js", "/api.js", "/cards.js", "/dom.js", "/form.js", "/guard.js", "/questions.js", "/relay.js",
    ]
    private static let paths = ["/", "/app.css"] + scripts

    // MARK: Who may ask

    // A44, A20
    @Test func aForeignHostOrOriginIsTurnedAway() async throws {
        try await HostFixture.with { (fixture: HostFixture) async throws in
            let body: JSONValue = ["target": .string(fixture.url)]
            let port = fixture.pagePort
            for host in ["evil.example", "evil.example:\(port)", "localhost:\(port)", "v1.localhost:\(port)"]
            {
                #expect(try await fixture.send("POST", "/api/servers", body, host: host).status == 403)
                #expect(try await fixture.send("GET", "/", host: host).status == 403)
            }
            for origin in [
                "http://evil.example", "null", "http://127.0.0.1:1", "http://v1.localhost:\(port)",
            ] {
                #expect(try await fixture.send("POST", "/api/servers", body, origin: origin).status == 403)
            }
            let token = fixture.server.token.text
            for wrong in ["", "wrong", "\(token.dropLast())x", "\(token)0"] {
                #expect(try await fixture.send("POST", "/api/servers", body, token: wrong).status == 401)
                #expect(try await EventReader(fixture, token: wrong).status == 401)
            }
            // No side effect: nothing was added. With all three in order it is.
            #expect(await fixture.host.snapshot().isEmpty)
            let own = fixture.server.origin
            #expect(try await fixture.send("POST", "/api/servers", body, origin: own).status == 204)
            #expect(await !fixture.host.snapshot().isEmpty)
        }
    }

    // Each run has another port, so another origin, for which a browser keeps nothing.
    @Test func theChosenColoursOutlastTheRun() async throws {
        let folder = TemporaryDirectory()
        let themes = ThemeFile(directory: folder.path + "/state")
        func begins(with theme: JSONValue, _ flag: HostSettings.Theme? = nil, thenChooses chosen: JSONValue)
            async throws
        {
            var settings = HostSettings()
            settings.theme = flag
            try await HostFixture.with(settings, themes: themes) { (fixture: HostFixture) async throws in
                let reader = try await EventReader(fixture)
                #expect(try await reader.next("hello")?.json["theme"] == theme)
                let body: JSONValue = ["theme": "light", "chosen": chosen]
                #expect(try await fixture.send("POST", "/api/context", body).status == 204)
                let next = try await EventReader(fixture)
                let kept = themes.theme.map { JSONValue.string($0.rawValue) }
                #expect(try await next.next("hello")?.json["theme"] == kept)
            }
        }
        try await begins(with: "auto", thenChooses: "dark")
        try await begins(with: "dark", thenChooses: "pink")
        try await begins(with: "dark", thenChooses: .null)
        try await begins(with: "light", .light, thenChooses: "auto")
        try await begins(with: "auto", thenChooses: "light")
        // What is none of ours counts for nothing.
        try Files.replace(folder.path + "/state/host-theme", with: Array(repeating: 0x61, count: 100_000))
        try await begins(with: "auto", thenChooses: "dark")
        #expect(themes.theme == .dark)
    }

    // A25
    @Test func theTokenStandsInTheFragmentAlone() async throws {
        try await HostFixture.with { (fixture: HostFixture) async throws in
            let token = fixture.server.token.text
            #expect(fixture.server.address == "\(fixture.server.origin)/#\(token)")
            #expect(token.count == 32 && HostToken().text != token)
            for (target, status) in [
                ("/?token=\(token)", 200), ("/api/history?access_token=\(token)", 400),
                ("/api/history?token=\(token)", 401),
            ] {
                let answer = try await PlainHTTP.send("GET", target, port: fixture.pagePort)
                #expect(answer.status == status && !answer.text.contains(token))
            }
        }
    }

    // MARK: The page

    // Section 5.3
    @Test func thePageHasAPolicy() async throws {
        try await HostFixture.with { (fixture: HostFixture) async throws in
            for path in Self.paths {
                let answer = try await PlainHTTP.send("GET", path, port: fixture.pagePort)
                #expect(answer.status == 200 && !answer.body.isEmpty)
                let policy = try #require(answer.headers["content-security-policy"])
                #expect(policy.contains("; frame-src http://*.localhost:"))
                for part in [
                    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                    "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
                ] { #expect(policy.contains(part)) }
                #expect(!policy.contains("unsafe"))
                #expect(answer.headers["cache-control"] == "no-store")
                #expect(answer.headers["x-content-type-options"] == "nosniff")
                #expect(answer.headers["referrer-policy"] == "no-referrer")
                #expect(answer.headers["set-cookie"] == nil)
                #expect(answer.headers["cross-origin-opener-policy"] == "same-origin")
                let head = try await PlainHTTP.send("HEAD", path, port: fixture.pagePort)
                #expect(head.status == 200 && head.headers["content-length"] == "\(answer.body.count)")
                #expect(try await PlainHTTP.send("POST", path, port: fixture.pagePort).status == 405)
            }
            #expect(try await PlainHTTP.send("GET", "/sandbox.html", port: fixture.pagePort).status == 404)
        }
    }

    // A45: all of it is there without the network
    @Test func theAssetsReferToNothingElse() throws {
        for path in Self.paths {
            let asset = try #require(HostAssets.asset(atPath: path))
            let text = String(decoding: asset.bytes, as: UTF8.self)
            let parts = Array(text.utf8).split(separator: UInt8(ascii: "\n")).map {
                String(decoding: $0, as: UTF8.self)
            }.filter { $0.contains("://") }
            for line in parts { #expect(line.contains("http://localhost:3001/mcp"), "\(path): \(line)") }
            for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"] {
                #expect(!text.contains(word), "\(path): \(word)")
            }
        }
    }

    /// Small enough to be read: 47 KiB of code, comments left out.
    @Test func theScriptsAreSmall() throws {
        let sandbox = HostAssets.sandbox(host: "http://127.0.0.1:1", allow: "camera")
        let document = String(decoding: sandbox, as: UTF8.self)
        #expect(document.contains("host = \"http://127.0.0.1:1\", allow = \"camera\""))
        #expect(!document.contains("{{"))
        var text = document[(document.firstRange(of: "<script>")?.upperBound ?? document.endIndex)...]
        for path in Self.scripts {
            text += String(decoding: try #require(HostAssets.asset(atPath: path)).bytes, as: UTF8.self)
        }
        let code = text.split(separator: "\n").filter { line in
            let words = line.drop { $0 == " " }
            return !words.hasPrefix("//") && !words.hasPrefix("/**")
        }
        #expect(code.count > 300)
        #expect(code.reduce(0) { $0 + $1.utf8.count + 1 } < 47 << 10)
    }

    // MARK: Events

    // A03, A28
    @Test func eventsGoOnWhereTheyWere() async throws {
        try await HostFixture.with { (fixture: HostFixture) async throws in
            let first = try await EventReader(fixture)
            #expect(first.status == 200 && first.type == "text/event-stream")
            let hello = try #require(try await first.next())
            #expect(hello.json["type"] == "hello" && hello.json["limit"] == 1_048_576)
            _ = try await fixture.connect()
            let added = try #require(try await first.next("server.state"))
            let tools = try #require(try await first.next("tools"))
            #expect(tools.json["tools"]?[0]?["tool"] == "show")
            #expect(tools.json["tools"]?[0]?["badge"] == "view")
            // A reader that comes back misses nothing and gets nothing twice.
            let second = try await EventReader(fixture, after: added.id)
            var types: [String] = []
            while let event = try await second.next() {
                #expect(event.id != added.id)
                types.append(event.json["type"]?.stringValue ?? "")
                if event.id == tools.id { break }
            }
            #expect(types.last == "tools" && !types.contains("hello"))
            #expect(try await first.next("never") == nil)
            // Ids of another page, or of nothing, begin a new page.
            for id in ["other-1", "x", "\(added.id)0000"] {
                let other = try await EventReader(fixture, after: id)
                let begin = try #require(try await other.next())
                #expect(begin.json["type"] == "hello" && begin.json["page"] != hello.json["page"])
                #expect(try await other.next("server.state")?.json["state"] == "connected")
            }
        }
    }

    // A44: the page before is told that another one took over
    @Test func oneAtATime() async throws {
        try await HostFixture.with { (fixture: HostFixture) async throws in
            let first = try await EventReader(fixture)
            _ = try await first.next("hello")
            let second = try await EventReader(fixture)
            _ = try await second.next("hello")
            #expect(try await first.next("replaced") != nil)
            #expect(try await first.next() == nil)
        }
    }

    /// The end of the program is nobody who took over: the page tries again.
    @Test func theEndOfTheHostIsNoReplacement() async throws {
        try await HostFixture.with { (fixture: HostFixture) async throws in
            let reader = try await EventReader(fixture)
            _ = try await reader.next("hello")
            await fixture.server.stop()
            #expect(try await reader.next("replaced") == nil)
        }
    }

    // MARK: Messages of views

    // A07, A24; section 5.3, `seq`
    @Test func messagesAreNumbered() async throws {
        try await HostFixture.with { (fixture: HostFixture) async throws in
            let reader = try await EventReader(fixture)
            let page = try #require(try await reader.next("hello")?.json["page"])
            let view = try await fixture.show(try await fixture.connect())
            let path = "/api/views/\(view.id)/messages"
            // The page passes on what it received as text.
            func post(_ number: Int, _ messages: [JSONValue], page: JSONValue) async throws -> Int {
                let texts = messages.map { JSONValue.string($0.stringValue ?? $0.serialized()) }
                let body: JSONValue = ["page": page, "seq": JSONValue(number), "messages": .array(texts)]
                return try await fixture.send("POST", path, body).status
            }
            let ready: JSONValue = [
                "jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": [:],
            ]
            #expect(try await post(2, [ready], page: page) == 409)
            #expect(try await post(1, [ready], page: "other") == 409)
            #expect(try await post(1, [ready], page: page) == 204)
            // The other way, too: only the sandbox reads it.
            func next() async throws -> JSONValue {
                let event = try #require(try await reader.next("view.msg"))
                return try JSONValue(parsing: try #require(event.json["message"]?.stringValue))
            }
            let sent = try await next()
            #expect(sent["method"] == "ui/notifications/sandbox-resource-ready")
            #expect(sent["params"]?["html"] == "<p>view</p>")
            // Once more: its answer was lost. It is not taken twice.
            #expect(try await post(1, [ready], page: page) == 204)
            let ping: JSONValue = ["jsonrpc": "2.0", "id": 7, "method": "no/such"]
            #expect(try await post(2, [nil, ["oversize": 5_000_000], ping], page: page) == 204)
            #expect(try await next()["id"] == 7)
            #expect(try await post(4, [ping], page: page) == 409)
            // What cannot be read and has an id is answered.
            let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
            let lost: [JSONValue] = [
                .string(
                    #"{"jsonrpc": "2.0", "params": {"id": 1, "s": "\\\"]}", "a": "# + deep
                        + #"}, "id": "te]n", "method": "x"}"#),
                #"{"jsonrpc": "2.0", "id": 8, "method": "\ud800"}"#, ["oversize": 5_000_000, "id": "nine"],
            ]
            #expect(try await post(3, lost, page: page) == 204)
            for (id, word) in [
                ("te]n", "deeper than 64 levels"), (8, "not readable JSON"), ("nine", "5000000 characters"),
            ]
                as [(JSONValue, String)]
            {
                let answer = try await next()
                #expect(answer["id"] == id && answer["error"]?["code"] == -32600)
                #expect(answer["error"]?["message"]?.stringValue?.contains(word) == true)
            }
            for body: JSONValue in [
                ["seq": 3], ["messages": []], ["page": page, "seq": "x", "messages": []], 5,
            ] { #expect(try await fixture.send("POST", path, body).status == 400) }
            #expect(try await fixture.send("POST", "/api/views/none/messages", [:]).status == 404)
        }
    }

    // MARK: The sandbox

    // A17, A21; section 5.4
    @Test func theSandboxServesOneDocument() async throws {
        let meta: JSONObject = ["csp": ["connectDomains": ["https://api.example", "bad; script-src *"]]]
        try await HostFixture.with(meta: meta) { (fixture: HostFixture) async throws in
            let reader = try await EventReader(fixture)
            let view = try await fixture.show(try await fixture.connect())
            let open = try #require(try await reader.next("view.open")?.json)
            let origin = try #require(open["origin"]?.stringValue)
            #expect(origin.hasPrefix("http://\(view.id).localhost:"))
            #expect(open["src"] == .string("\(origin)/sandbox"))
            #expect(open["warning"]?.stringValue?.contains("https://api.example") == true)
            #expect(open["about"]?.stringValue?.contains("SHA-256 \(view.resource.hash)") == true)
            let port = try #require(UInt16(origin.split(separator: ":").last ?? ""))
            let name = "\(view.id).localhost:\(port)"
            let answer = try await PlainHTTP.send("GET", "/sandbox", port: port, host: name)
            #expect(answer.status == 200 && answer.text.contains(fixture.server.origin))
            let policy = try #require(answer.headers["content-security-policy"])
            #expect(policy == view.csp.header(hostOrigin: fixture.server.origin))
            #expect(policy.contains("connect-src https://api.example;") && !policy.contains("script-src *"))
            #expect(policy.contains("frame-ancestors \(fixture.server.origin);"))
            #expect(policy.contains("sandbox allow-scripts allow-same-origin allow-forms"))
            for (field, value) in [
                ("origin-agent-cluster", "?1"), ("cache-control", "no-store"),
                ("x-content-type-options", "nosniff"), ("cross-origin-resource-policy", "same-origin"),
                ("referrer-policy", "no-referrer"),
            ] { #expect(answer.headers[field] == value) }
            let features = try #require(answer.headers["permissions-policy"])
            #expect(features.hasPrefix("picture-in-picture=(), ") && features.hasSuffix("=()"))
            #expect(open["allow"]?.stringValue?.contains("picture-in-picture 'none'") == true)
            #expect(answer.headers["set-cookie"] == nil)
            #expect(answer.headers["access-control-allow-origin"] == nil)
            for (path, host, status) in [
                ("/", name, 404), ("/sandbox/", name, 404), ("/probe", name, 404),
                ("/sandbox", "other.localhost:\(port)", 404), ("/sandbox", "127.0.0.1:\(port)", 403),
                ("/sandbox", "localhost:\(port)", 403), ("/sandbox", "\(view.id).evil.example", 403),
                ("/probe", "probe.localhost:\(port)", 200),
            ] {
                let answer = try await PlainHTTP.send("GET", path, port: port, host: host)
                #expect(answer.status == status, "\(path) \(host)")
            }
            #expect(try await PlainHTTP.send("POST", "/sandbox", port: port, host: name).status == 405)
            // A view that is closed is not served any more.
            #expect(try await fixture.send("DELETE", "/api/views/\(view.id)").status == 204)
            _ = try await reader.next("view.close")
            #expect(try await PlainHTTP.send("GET", "/sandbox", port: port, host: name).status == 404)
        }
    }

    // Section 3.2
    @Test func portsTakeThePlaceOfNames() async throws {
        try await HostFixture.with { (fixture: HostFixture) async throws in
            #expect(try await fixture.send("POST", "/api/ports", [:]).status == 204)
            let policy = try await fixture.send("GET", "/").headers["content-security-policy"] ?? ""
            let sources = policy.split(separator: " ").filter { $0.hasPrefix("http://127.0.0.1:") }
            #expect(sources.count == SandboxPorts.maxPorts)
            let reader = try await EventReader(fixture)
            #expect(try await reader.next("hello")?.json["probe"] == .null)
            let view = try await fixture.show(try await fixture.connect())
            let open = try #require(try await reader.next("view.open")?.json)
            let origin = try #require(open["origin"]?.stringValue)
            let path = "/views/\(view.id)/sandbox"
            #expect(open["src"] == .string("\(origin)\(path)"))
            // Only at the port of its server.
            for (index, source) in sources.enumerated() {
                let digits = source.split(separator: ":").last?.filter { $0.isNumber } ?? ""
                let answer = try await PlainHTTP.send("GET", path, port: try #require(UInt16(digits)))
                #expect(answer.status == (index == 0 ? 200 : 404))
            }
        }
    }

    // MARK: Commands

    // A05, A20, A24
    @Test func whatCannotBeDoneIsSaid() async throws {
        var settings = HostSettings()
        settings.allowedHosts = ["127.0.0.1"]
        try await HostFixture.with(settings) { (fixture: HostFixture) async throws in
            let server = try await fixture.connect()
            for (target, word) in [
                ("ftp://127.0.0.1/x", "not an MCP transport"), ("http://evil.example/mcp", "evil.example"),
                ("http://127.0.0.1@evil.example/mcp", "evil.example"), ("/bin/sh", "not a target"),
                ("", "missing"),
            ] {
                let answer = try await fixture.send("POST", "/api/servers", ["target": .string(target)])
                #expect([400, 422].contains(answer.status), "\(target)")
                #expect(answer.text.contains(word), "\(target): \(answer.text)")
            }
            let call: JSONValue = ["server": .string(server.rawValue), "tool": "show", "arguments": ["n": 0]]
            let checked = try await fixture.send("POST", "/api/validate", call)
            #expect(try JSONValue(parsing: checked.text)["violations"]?[0]?["path"] == "/n")
            let form = try JSONValue(parsing: try await fixture.send("POST", "/api/form", call).text)
            #expect(form["form"]?["members"]?[0]?["value"] == 0)
            #expect(form["client"] == .null)
            for (path, body, status) in [
                ("/api/calls", ["server": .string(server.rawValue), "tool": "none"], 404),
                ("/api/calls", ["server": .string(server.rawValue), "tool": "show", "client": "a"], 404),
                ("/api/form", ["server": .string(server.rawValue), "tool": "show", "arguments": [1]], 404),
                ("/api/form", ["server": .string(server.rawValue), "tool": "show", "arguments": .null], 404),
                ("/api/calls/c99/retry", [:], 404), ("/api/chat", ["text": "hello"], 404),
                ("/api/approvals/q9", ["decision": "allow"], 404),
                ("/api/approvals/q9", ["decision": "perhaps"], 400), ("/api/nothing", [:], 404),
            ] as [(String, JSONValue, Int)] {
                let answer = try await fixture.send("POST", path, body)
                #expect(answer.status == status && answer.text.contains("error"), "\(path) \(answer.text)")
            }
            #expect(try await fixture.send("PUT", "/api/calls", [:]).status == 404)
            // Nothing runs that could be stopped, and that is no error.
            #expect(try await fixture.send("POST", "/api/chat/stop", [:]).status == 204)
            #expect(try await fixture.send("GET", "/api/chat/stop").status == 404)
            let plain = try await PlainHTTP.send(
                "POST", "/api/context", port: fixture.pagePort,
                headers: [
                    ("Authorization", "Bearer \(fixture.server.token.text)"),
                    ("Content-Type", "text/plain"),
                ], body: "{}")
            #expect(plain.status == 415)
            #expect(try await fixture.send("GET", "/api/history").text == "[]")
        }
    }
}
