import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What callers see and may use: scopes, their implications, static tokens and nobody.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AccessRulesTests {
    private static let rules = AccessRules(
        [
            .init(scope: "docs:read", allow: ["docs:*", "search", "help"]),
            .init(scope: "tools:run", allow: ["run_*"]),
        ], anonymous: ["help"])

    private static func verifier() -> TestVerifier {
        TestVerifier([
            "reader": TestVerifier.user("reader", scopes: ["docs:read"]),
            "runner": TestVerifier.user("runner", scopes: ["tools:run"]),
            "owner": TestVerifier.user("owner", scopes: ["all"]),
            "none": TestVerifier.user("none", scopes: []),
            "static": .success(Principal(kind: .token, subject: "static", allowedNames: ["run_a"])),
            "static-all": .success(Principal(kind: .token, subject: "static-all", allowedNames: ["*"])),
            "static-scope": .success(
                Principal(kind: .token, subject: "static-scope", scopes: ["docs:read"], allowedNames: [])),
        ])
    }

    private final class Provider: ResourceProvider {
        func resources(after cursor: String?, limit: Int) async throws -> (page: [Resource], next: String?) {
            ([Resource("docs:///p", name: "p"), Resource("logs:///p", name: "p")], nil)
        }
        func templates() -> [ResourceTemplate] {
            [ResourceTemplate("docs:///{+path}", name: "d"), ResourceTemplate("logs:///{+path}", name: "l")]
        }
        func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]? {
            [ResourceContents(uri: uri, text: uri)]
        }
    }

    private static func server(pageSize: Int = 100) throws -> MCPServer {
        var options = ServerOptions()
        options.limits.pageSize = pageSize
        let server = MCPServer("rules", version: "1", options: options)
        for name in ["search", "run_a", "run_b", "secret"] {
            server.addTool(name, "A tool", schema: #"{"type":"object"}"#) { _, _, out in out.text("done") }
        }
        server.addTool("run_c", "A tool", schema: #"{"type":"object"}"#, scopes: ["deploy"]) { _, _, out in
            out.text("done")
        }
        for name in ["help", "run_prompt"] {
            try server.register(Prompt(name)) { _, _ in GetPromptResult([.user("x")]) }
        }
        server.register(Provider())
        return server
    }

    private static func authorization(
        _ verifier: TestVerifier, onAccess: (@Sendable (AccessEvent) -> Void)? = nil
    ) throws -> ServerAuthorization {
        try ServerAuthorization(
            resource: Protected.resource, authorizationServers: ["https://id.example.com"],
            verifier: verifier, impliedScopes: ["all": ["tools:run", "docs:read", "deploy"]], rules: rules,
            onAccess: onAccess)
    }

    private static func names(
        _ port: UInt16, _ method: String, _ member: String, _ token: String?, by key: String = "name"
    ) async throws -> [String] {
        let answer = try await Protected.answer(port, Protected.post(method, token: token))
        let items = try #require(answer.json?["result"]?[member]?.elements, "\(answer)")
        return items.compactMap { $0[key]?.string }
    }

    // Section 4.3: OAuth callers see what any scope could reach, all others what they have.
    @Test func lists() async throws {
        let reachable = ["search", "run_a", "run_b", "run_c"]
        let tools: [(String?, [String])] = [
            ("reader", reachable), ("owner", reachable), ("none", reachable), ("static", ["run_a"]),
            ("static-all", ["search", "run_a", "run_b", "secret"]), ("static-scope", ["search"]), (nil, []),
        ]
        try await Protected.serve(try Self.server(), try Self.authorization(Self.verifier())) { port in
            for (token, expected) in tools {
                #expect(
                    try await Self.names(port, "tools/list", "tools", token) == expected, "\(token ?? "-")")
            }
            for (token, prompts) in [
                ("none", ["help", "run_prompt"]), ("static", ["help"]), (nil, ["help"]),
            ] {
                #expect(try await Self.names(port, "prompts/list", "prompts", token) == prompts)
            }
            for (token, uris) in [
                ("runner", ["docs:///p"]), ("static", []), ("static-scope", ["docs:///p"]),
                ("static-all", ["docs:///p", "logs:///p"]),
            ] {
                let resources = try await Self.names(port, "resources/list", "resources", token, by: "uri")
                #expect(resources == uris)
                let templates = try await Self.names(
                    port, "resources/templates/list", "resourceTemplates", token, by: "uriTemplate")
                #expect(templates == uris.map { $0.replacing("p", with: "{+path}") })
            }
        }
    }

    private static func read(_ uri: String, _ token: String?) -> String {
        Protected.post("resources/read", #""uri":"\#(uri)""#, name: uri, token: token)
    }

    private static func prompt(_ name: String, _ token: String?) -> String {
        Protected.post("prompts/get", #""name":"\#(name)""#, name: name, token: token)
    }

    @Test func use() async throws {
        // The request, its token, the status, and what the challenge or the error names.
        let rows: [(String, Int, String)] = [
            (Protected.call("search", token: "reader"), 200, "done"),
            (Protected.call("search", token: "owner"), 200, "done"),
            (Protected.call("search", token: "runner"), 403, #"scope="docs:read""#),
            (Protected.call("run_a", token: "none"), 403, #"scope="tools:run""#),
            // All scopes of the operation are in one challenge (AUTH-34).
            (Protected.call("run_c", token: "none"), 403, #"scope="tools:run deploy""#),
            (Protected.call("run_c", token: "runner"), 403, #"scope="deploy""#),
            (Protected.call("run_c", token: "owner"), 200, "done"),
            // Nobody's scope reaches it.
            (Protected.call("secret", token: "owner"), 200, "Unknown tool: secret"),
            (Protected.call("secret", token: "static-all"), 200, "done"),
            (Protected.call("run_a", token: "static"), 200, "done"),
            (Protected.call("run_b", token: "static"), 200, "Unknown tool: run_b"),
            (Protected.call("run_c", token: "static-all"), 200, "Unknown tool: run_c"),
            (Protected.call("search", token: nil), 200, "Unknown tool: search"),
            (Self.prompt("help", nil), 200, "x"), (Self.prompt("help", "static"), 200, "x"),
            (Self.prompt("run_prompt", "static"), 200, "Unknown prompt: run_prompt"),
            (Self.prompt("run_prompt", "reader"), 403, #"scope="tools:run""#),
            (Self.read("docs:///a/b", "reader"), 200, "docs:///a/b"),
            (Self.read("docs:///a", "static-scope"), 200, "docs:///a"),
            (Self.read("docs:///a", "runner"), 403, #"scope="docs:read""#),
            (Self.read("logs:///a", "owner"), 200, "not found"),
            // A server could resolve it to a name that does not fit.
            (Self.read("docs:///a/%2E%2e/b", "reader"), 200, "not found"),
            (Self.read("docs:///../b", "static-scope"), 200, "not found"),
            (Self.read("docs:///a?/../../b", "reader"), 200, "not found"),
            (Self.read("docs:///a?%2F..%2Fb", "static-scope"), 200, "not found"),
            (Self.read("docs:///a#/../b", "reader"), 200, "not found"),
            (Self.read("docs:///%61", "reader"), 200, "not found"),
            (Self.read("docs:///a%252Fb", "reader"), 200, "not found"),
            (Self.read("docs:///a//b", "static-scope"), 200, "not found"),
            (Self.read("docs:///a%20b?c=d.e#..f", "reader"), 200, "docs:///a%20b?c=d.e#..f"),
            (Self.read("docs:///a%2Fb/../c", "static-all"), 200, "docs:///a%2Fb/../c"),
        ]
        try await Protected.serve(try Self.server(), try Self.authorization(Self.verifier())) { port in
            for (request, status, text) in rows {
                let answer = try await Protected.answer(port, request)
                #expect(answer.status == status, "\(request)\n\(answer)")
                let place =
                    status == 403
                    ? answer.headers["www-authenticate"] : answer.json.map { String($0.bytes) }
                #expect(place?.contains(text) == true, "\(place ?? "nothing"): \(text)")
            }
        }
    }

    // A subscription does not tell of what its caller may not read, nor does a completion.
    @Test func subscriptionsAndCompletions() async throws {
        try await Protected.serve(try Self.server(), try Self.authorization(Self.verifier())) { port in
            let filter = #""notifications":{"resourceSubscriptions":["docs:///a","logs:///a"]}"#
            for (token, count) in [("reader", 1), ("runner", 0), ("static-all", 2)] {
                let stream = try WireStream(
                    port: port, Protected.post("subscriptions/listen", filter, token: token))
                let heard = await stream.heard("notifications/subscriptions/acknowledged")
                let uris = heard?.json?["params"]?["notifications"]?["resourceSubscriptions"]?.elements
                #expect(uris?.count ?? 0 == count, "\(token)")
                stream.close()
            }
            for (token, status) in [("reader", 200), ("runner", 403), ("static", 400)] {
                let session = try await WireSession(
                    port: port, version: "2025-11-25", more: ["Authorization: Bearer \(token)"])
                let answer = try await session.request("resources/subscribe", #"{"uri":"docs:///a"}"#)
                let isRefused = answer?.json?["error"] != nil
                #expect(isRefused == (status != 200))
                #expect((answer?.status == 403) == (status == 403))
            }
        }
    }

    private final class Searches: ResourceProvider {
        func resources(after cursor: String?, limit: Int) async throws -> (page: [Resource], next: String?) {
            ([], nil)
        }
        func templates() -> [ResourceTemplate] {
            ["docs", "logs"].map { ResourceTemplate("\($0):///find{?q}", name: $0) }
        }
        func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]? { nil }
    }

    // What a template leads to that this library cannot fill is not known: a caller is told of values only if it may
    // use all that it may lead to.
    @Test func completionsOfOtherTemplates() async throws {
        let server = MCPServer("rules", version: "1")
        server.register(Searches())
        for scheme in ["docs", "logs"] {
            server.addCompletion(.resource("\(scheme):///find{?q}"), "q", ["a", "b"])
        }
        let part = Principal(kind: .token, subject: "part", allowedNames: ["docs:///find?q=a", "logs:///*"])
        let verifier = TestVerifier(["part": .success(part)])
        try await Protected.serve(server, try Self.authorization(verifier)) { port in
            for (scheme, values) in [("docs", []), ("logs", ["a", "b"])] {
                let params =
                    #""ref":{"type":"ref/resource","uri":"\#(scheme):///find{?q}"},"argument":{"name":"q","value":""}"#
                let answer = try await Protected.answer(
                    port, Protected.post("completion/complete", params, token: "part"))
                let shown = answer.json?["result"]?["completion"]?["values"]?.elements?.compactMap(\.string)
                #expect(shown == values, "\(answer)")
            }
        }
    }

    // A cursor belongs to the principal that it was given to.
    @Test func cursors() async throws {
        try await Protected.serve(
            try Self.server(pageSize: 1), try Self.authorization(Self.verifier())
        ) { port in
            for method in ["tools/list", "resources/list"] {
                let first = try await Protected.answer(port, Protected.post(method, token: "reader"))
                let cursor = try #require(
                    first.json?["result"]?["nextCursor"]?.string ?? (method == "tools/list" ? nil : "-"))
                for (token, status) in [("reader", 200), ("owner", 400), ("static-all", 400)]
                where cursor != "-" {
                    let answer = try await Protected.answer(
                        port, Protected.post(method, #""cursor":"\#(cursor)""#, token: token))
                    #expect((answer.json?["error"] == nil) == (status == 200), "\(method) \(token)")
                }
            }
        }
    }

    @Test func audit() async throws {
        let lines = Mutex<[String]>([])
        let authorization = try Self.authorization(Self.verifier()) { event in
            let parts = [
                event.isAllowed ? "allow" : "deny", event.principal?.subject, event.method, event.name,
                event.reason,
            ]
            lines.withLock { $0.append(parts.compactMap { $0 }.joined(separator: " ")) }
        }
        try await Protected.serve(try Self.server(), authorization) { port in
            for (tool, token) in [("search", "reader"), ("search", "runner"), ("run_b", "static")] {
                _ = try await Protected.answer(port, Protected.call(tool, token: token))
            }
            _ = try await Protected.answer(port, Self.read("docs:///a", "reader"))
            _ = try await Protected.answer(port, Protected.call("search", token: "planted-secret"))
            _ = try await Protected.answer(port, Protected.post("tools/list", token: "reader"))
        }
        #expect(
            lines.withLock { $0 } == [
                "allow reader tools/call search",
                "deny runner tools/call search needs the scopes docs:read",
                "deny static tools/call run_b not among the caller's names",
                "allow reader resources/read docs:///a", "deny the token is not known",
            ])
    }

    // Two callers with the same rights share a view, and only so many are remembered.
    @Test static func numberOfViews() throws {
        let server = try server()
        let registry = server.dispatcher.registry.current
        func caller(_ names: [String]) -> Caller {
            Caller(
                Caller.Identity(
                    Principal(kind: .token, subject: "x", allowedNames: names), grantedScopes: [],
                    rules: rules))
        }
        #expect(registry.view(of: nil) === registry)
        #expect(registry.view(of: caller(["a"])) === registry.view(of: caller(["a"])))
        for number in 0 ..< Registry.maxViews + 3 { _ = registry.view(of: caller(["a\(number)"])) }
        #expect(registry.views.withLock { $0.count } == Registry.maxViews)
    }

    // A tool is decided about once, and never by the decision about another one, however many there are.
    @Test static func manyTools() throws {
        func caller(_ names: [String], _ scopes: Set<String> = []) -> Caller.Identity {
            Caller.Identity(
                Principal(kind: .token, subject: "x", scopes: scopes, allowedNames: names),
                grantedScopes: scopes, rules: rules)
        }
        let callers = [caller(["t1*"]), caller(["*"]), caller(["*"], ["deploy"]), caller(["u*"], ["deploy"])]
        let entries = try (0 ..< 300).map { number in
            try ToolEntry(
                Tool("t\(number)", inputSchema: ["type": "object"]), timeout: nil,
                scopes: number % 7 == 0 ? ["deploy"] : [], handler: .synchronous { _, _, _ in })
        }
        #expect(Set(entries.map(\.number)).count == entries.count)
        for _ in 0 ..< 2 {
            for entry in entries {
                for caller in callers {
                    let decision = caller.rights.decision(on: entry.tool.name, scopes: entry.scopes)
                    #expect(caller.mayCall(entry) == (decision == .allowed), "\(entry.tool.name)")
                }
            }
        }
    }

    // One address may try only so many wrong tokens; tokens that are known to be good still work.
    @Test static func failedAttempts() async throws {
        let clock = ManualClock()
        let attempts = FailedAttempts()
        let address: [UInt8] = [192, 0, 2, 1]
        for _ in 0 ..< FailedAttempts.maxFailures {
            #expect(!attempts.areTooMany(from: address, at: clock.now))
            #expect(!attempts.add(address, at: clock.now))
        }
        #expect(attempts.areTooMany(from: address, at: clock.now))
        #expect(attempts.add(address, at: clock.now))
        #expect(!attempts.areTooMany(from: [192, 0, 2, 2], at: clock.now))
        clock.advance(by: FailedAttempts.period)
        #expect(!attempts.areTooMany(from: address, at: clock.now))
        #expect(!attempts.add(address, at: clock.now))
        for number in 0 ..< FailedAttempts.maxAddresses {
            _ = attempts.add([1, UInt8(number >> 8), UInt8(number & 255)], at: clock.now)
        }
        #expect(attempts.addresses == FailedAttempts.maxAddresses)
        let tokens = verifier()
        try await Protected.serve(try server(), try authorization(tokens)) { port in
            _ = try await Protected.answer(port, Protected.call("search", token: "reader"))
            var statuses: [Int] = []
            // Until a second has had enough of them, however slow the machine is.
            for number in 0 ..< 5_000 where statuses.last != 429 {
                let answer = try await Protected.answer(
                    port, Protected.call("search", token: "bad-\(number)"))
                statuses.append(answer.status)
            }
            #expect(statuses.last == 429)
            #expect(statuses.dropLast().allSatisfy { $0 == 401 })
            #expect(statuses.count > FailedAttempts.maxFailures)
            let good = try await Protected.answer(port, Protected.call("search", token: "reader"))
            #expect(good.status == 200)
            // One that was good a moment ago is verified again, whatever others send.
            tokens.changeGeneration()
            let again = try await Protected.answer(port, Protected.call("search", token: "reader"))
            #expect(again.status == 200)
        }
    }
}
