import MCPCore
import Testing

/// What the patterns of a server let through, in all spellings of its URIs.
@Suite(.timeLimit(.minutes(5))) struct UpstreamFilterTests {
    /// Has an answer for every address, as a server that decodes what it is asked for.
    private struct Everything: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) {
            (
                ["kb:///pub/a.md", "kb:///secret/x.md", "kb:///pub/%62.md"].map { Resource($0, name: "r") },
                nil
            )
        }
        func templates() -> [ResourceTemplate] {
            [
                "kb:///{+path}", "kb:///secret/{+path}", "kb:///find{?q}", "logs:///{id}",
                "https://h:443/{+path}", "https://h/{+path}", "https://{host}/x", "kb:///{p}?f={f}",
                "kb:///x{.ext}", "kb:///pub/../{p}",
            ].map { ResourceTemplate($0, name: "t") }
        }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? {
            [.text("found", uri: uri)]
        }
    }

    private func connected(_ patterns: [String]) async throws -> (MCPClient, UpstreamGroup) {
        let far = MCPServer("far", version: "1")
        far.register(Everything())
        let values = ["pub/a.md", "secret/x.md", "secret/", "pub/../secret/x.md", "%73ecret/x.md"]
        far.addCompletion(.resource("kb:///{+path}"), "path", values)
        far.addCompletion(.resource("kb:///find{?q}"), "q", ["a", "b"])
        for argument in ["p", "f", "q"] {
            far.addCompletion(.resource("kb:///{p}?f={f}"), argument, ["a.key", "a", "../a"])
        }
        far.addCompletion(.resource("kb:///x{.ext}"), "ext", ["key", "md"])
        var options = UpstreamOptions()
        options.resources = patterns
        let (client, group) = try await UpstreamGroupTests.connected([("far", .inProcess(far), options)])
        _ = try await client.listResources()
        return (client, group)
    }

    /// Some patterns, and the URIs that they let through and that they do not.
    struct Case: Sendable, CustomTestStringConvertible {
        let patterns: [String]
        let offered: [String]
        let leftOut: [String]
        var testDescription: String { patterns.joined(separator: " ") }
    }

    static let cases = [
        Case(patterns: [], offered: ["kb:///a/../b", "kb:///%73ecret/x.md"], leftOut: []),
        Case(patterns: ["*"], offered: ["kb:///a/../b", "kb:///a%2Fb"], leftOut: []),
        Case(
            patterns: ["!kb:///secret/*"],
            offered: [
                "kb:///pub/a.md", "kb:///pub/a%20b.md", "kb:///%70ub/a.md", "kb:///pub//a.md", "kb:///a%2Fb",
                "kb:///pub/secret/x.md", "kb:///pub/a?q=1#x", "kb:///secretary", "kb://host/secret/x.md",
            ],
            leftOut: [
                "kb:///secret/x.md", "kb:///%73ecret/x.md", "kb:///secret%2Fx.md", "kb:///secret%5Cx.md",
                #"kb:///secret\x.md"#, "kb:////secret/x.md", "kb:///secret//x.md", "kb://secret/x.md",
                "kb:/secret/x.md", "kb:secret/x.md", "KB:///secret/x.md", "kb:///%2573ecret/x.md",
                "kb:///pub/../secret/x.md", "kb:///./secret/x.md", "kb:///pub/%2e%2e/secret/x.md",
                "kb:///pub/a?/../../secret/x.md", "kb:///pub/a#/../../secret/x.md", "kb:///pub/a%00",
            ]),
        Case(
            patterns: ["*", "!kb:///*.key", "!kb:///a%20b/*", "!KB://Host/x/", "!kb:///[*]%2A/*"],
            offered: ["kb:///a.keys", "kb:///b/a.md", "kb://host/xy", "kb:///cd/e"],
            leftOut: [
                "kb:///a.key", "kb:///a.key?x", "kb:///a.key#x", "kb:///a.key/", "kb:///a%2Ekey",
                "kb:///a%20b/c", "kb:///%61%2520b/c", "kb://host/x", "kb://HOST//x//", "kb:///**/e",
                "kb:///%2A%2A/e",
            ]),
        Case(
            patterns: ["kb:///pub/*", "!*.key"],
            offered: ["kb:///pub/a.md", "kb:///pub/a%20b.md?c=1", "kb:///pub/https://example.com/x"],
            leftOut: [
                "kb:///secret/x.md", "kb:///pub/../secret/x.md", "kb:///pub/%2e%2e/secret/x.md",
                "kb:///pub/..%2fsecret/x.md", "kb:///pub//x.md", "kb:///pub/%61.md", "kb:///pub%2Fa",
                "kb:///pub/a%5Cb", "kb:///pub/a?/../../secret/x.md", "kb:///pub/a?%2F..%2F..%2Fsecret/x.md",
                "kb:///pub/a#/../../secret/x.md", "kb:///pub/a.key", "kb:///pub/a.k%65y",
            ]),
        Case(
            patterns: ["!https://in.example.com/*", "!WS://H:080/x", "!vault://v/*", "!https://h:8443/*"],
            offered: [
                "https://in.example.com:80/x", "https://in.example.com:8443/x", "https://out.example.com",
                "http://in.example.com:443/x", "ws://h:81/x", "kb:///é", "kb://É:/x", "https://h/x?u=a@b:",
                "https://out.example.com/é", "file://host/é", "https://[::1]/", "vault://u:p@w:1/x",
                "https://10.0.0.1:81/x", "https://a_b-c.1a/", "http://HOST:80", "https://h:8444/x",
            ],
            leftOut: [
                "https://in.example.com:443/x", "https://in.example.com:/x", "https://in.example.com",
                "https://in.example.com:0443/x", "https://in.example.com:443?x", "HTTPS://in.example.com/x",
                "https:in.example.com/x", "https:///in.example.com/x", "https://in.example.com./x",
                #"https:\\in.example.com:443\x"#, "https:/%2Fin.example.com:443/x",
                "https://@in.example.com/",
                "https://\u{FF49}n.example.com/x", "https://i\u{AD}n.example.com/x", "ws://h/x", "ws://h:/x",
                "https://%69n.example.com/x", "https://xn--in-.example.com/", "https://out.example.com:443/",
                "https://h:08443/x", "https://h:8443/x", "vault://v:/x", "vault://@v/x", "vault://:@v/x",
                " https://in.example.com/x", "https://in.example.com/x ", "\u{FEFF}vault://v/x",
                "https://in.example.com%3A443/x", "https://u:@h:8443/x", "https://in.example.com:4%343/x",
            ]),
        Case(
            patterns: [
                "!http://127.1/*", "!https://[0:0::1]:443/*", "!ws://[[]::1]/*", "!file://localhost/s/*",
            ],
            offered: [
                "http://127.0.0.2/x", "http://1.2.3.4a/x", "https://[::2]/", "https://127.0.0.1/", "file:/a",
                "file:///a", "ws://127.0.0.1/x",
            ],
            leftOut: [
                "http://127.0.0.1/x", "http://127.1/x", "http://0x7f.1/x", "http://2130706433/", "http://0x/",
                "http://0177.0.0.1/x", "http://127.0.0.1./x", "http://127.0.0.01/x", "http://1.2.3.4.5/x",
                "https://[::1]/", "https://[0::1]/", "https://[::0.0.0.1]/", "https://[::1%25lo]/",
                "https://[::A]/", "ws://[::1]/", "ws://[::1]:80/", "file:///s/x", "file://localhost/s/x",
                "file://127.0.0.1/s/x", "file:/s/x", #"file:\\localhost\s\x"#, "file:/%2Flocalhost/s/x",
            ]),
        Case(
            patterns: ["!https://*.example.com./*", "!file:///C:/s/*", "!*://in.example.org/*"],
            offered: ["https://example.com/x", "https://example.org/", "file:///C:/t", "file:///CD|/s/x"],
            leftOut: [
                "https://a.example.com/x", "https://a.example.com./x", "file:///C:/s/x", "file:/C|/s/x",
                "file:c|/s/x", "file:///C%7C/s/x", "https://in.example.org/x", "ws://in.example.org/",
            ]),
        Case(
            patterns: ["!*://h:443/*", "!ws*://10.7/*", "!*s://H.example./x", "!f*://localhost/e/*"],
            offered: [
                "http://h/x", "http://10.0.0.7/x", "kb://h:8443/x", "https://h.example/y", "file:///x",
            ],
            leftOut: [
                "https://h/x", "http://h:443/x", "wss://h:443/x", "kb://h:443/x", "ws://10.0.0.7/x",
                "wss://10.0.0.7/x", "https://h.example/x", "wss://h.example/x", "file:///e/x",
            ]),
        Case(
            patterns: ["https://*.example.com/*", "!*.key"],
            offered: ["https://a.example.com/x", "https://a.b.example.com/x"],
            leftOut: [
                "https://A.example.com/x", "https://a.example.com/x.key", "https://a.example.com/x%2Ekey",
                "https://\u{E9}.example.com/x",
            ]),
        Case(
            patterns: ["https://*.example.com/*"],
            offered: ["https://A.example.com/x", "https://\u{E9}.example.com/x"],
            leftOut: ["https://example.com/x", "https://a.example.com"]),
    ]

    @Test(arguments: cases) func reading(_ test: Case) async throws {
        let (client, group) = try await connected(test.patterns)
        for (uris, isOffered) in [(test.offered, true), (test.leftOut, false)] {
            for uri in uris {
                let found = try? await client.request("resources/read", ["uri": .string(uri)])
                #expect((found != nil) == isOffered, "\(uri)")
            }
        }
        await client.close()
        await group.stop()
    }

    @Test func lists() async throws {
        let web = ["https://h:443/{+path}", "https://h/{+path}", "https://{host}/x"]
        let more = ["kb:///{p}?f={f}", "kb:///x{.ext}"]
        for (patterns, uris, templates) in [
            (
                ["!kb:///secret/*"], ["kb:///pub/a.md", "kb:///pub/%62.md"],
                ["kb:///{+path}", "kb:///find{?q}", "logs:///{id}"] + web + more
            ),
            (["kb:///pub/*"], ["kb:///pub/a.md"], ["kb:///{+path}", "kb:///{p}?f={f}"]),
            (
                ["!https://H:443/*", "!kb:*"], [], ["logs:///{id}", "https://{host}/x"]
            ),
        ] {
            let (client, group) = try await connected(patterns)
            #expect(try await client.listResources().map(\.uri) == uris)
            #expect(try await client.listResourceTemplates().map(\.uriTemplate) == templates)
            await client.close()
            await group.stop()
        }
    }

    @Test func completions() async throws {
        let all = ["pub/a.md", "secret/x.md", "secret/", "pub/../secret/x.md", "%73ecret/x.md"]
        for (patterns, paths, finds) in [
            ([], all, ["a", "b"]), (["!kb:///secret/*"], ["pub/a.md"], ["a", "b"]),
            (["kb:///pub/*", "kb:///find*"], ["pub/a.md"], ["a", "b"]),
            (["kb:///find?q=a", "kb:///pub/*"], ["pub/a.md"], []),
            (["!kb:///find*b"], ["pub/a.md", "secret/x.md", "secret/", "%73ecret/x.md"], []),
        ] {
            let (client, group) = try await connected(patterns)
            let path = try await client.complete(
                .resource("kb:///{+path}"), argument: "path", value: "")
            #expect(path.values == paths, "\(patterns)")
            let find = try await client.complete(.resource("kb:///find{?q}"), argument: "q", value: "")
            #expect(find.values == finds, "\(patterns)")
            await client.close()
            await group.stop()
        }
    }

    /// A value is proposed only if it is told where it leads.
    @Test func openCompletions() async throws {
        for (patterns, firsts, extensions) in [
            ([], ["a.key", "a", "../a"], ["key", "md"]), (["!*.key"], ["a"], []),
            (["!kb:///a"], ["a.key"], ["key", "md"]), (["!kb:///x.key"], ["a.key", "a"], []),
            (["kb:///a?*"], ["a.key", "a"], []), (["kb:///x*"], [], ["key", "md"]),
        ] {
            let (client, group) = try await connected(patterns)
            func values(
                _ template: String, _ argument: String, _ given: [String: String] = [:]
            ) async throws -> [String]? {
                try? await client.complete(
                    .resource(template), argument: argument, value: "", context: given
                ).values
            }
            let template = "kb:///{p}?f={f}"
            #expect(try await values(template, "p") ?? [] == firsts, "\(patterns)")
            #expect(try await values("kb:///x{.ext}", "ext") ?? [] == extensions, "\(patterns)")
            for (argument, given) in [("q", [:]), ("q", ["p": "a", "f": "a"]), ("f", [:])] {
                let found = try await values(template, argument, given) ?? []
                #expect(found == (patterns.isEmpty ? ["a.key", "a", "../a"] : []), "\(patterns) \(argument)")
            }
            await client.close()
            await group.stop()
        }
    }

    /// A resource that a tool links to need not be listed.
    @Test func unlistedResources() async throws {
        let far = MCPServer("far", version: "1")
        far.register(Unlisted())
        var options = UpstreamOptions()
        options.resources = ["!kb:///secret/*"]
        let (client, group) = try await UpstreamGroupTests.connected([("far", .inProcess(far), options)])
        #expect(try await client.listResources().isEmpty)
        #expect(try await client.readResource("kb:///pub/1").first?.text == "found")
        await #expect(throws: (any Error).self) { try await client.readResource("kb:///secret/1") }
        await client.close()
        await group.stop()
    }

    /// A failure is not taken for the absence of a resource, and hides no resource of the next server.
    @Test func failuresAtUnlistedResources() async throws {
        let failing = MCPServer("failing", version: "1")
        failing.register(Failing())
        let empty = MCPServer("empty", version: "1")
        empty.register(Empty())
        let far = MCPServer("far", version: "1")
        far.register(Unlisted())
        var options = UpstreamOptions()
        options.resources = ["kb:///pub/*"]
        let (client, group) = try await UpstreamGroupTests.connected([
            ("failing", .inProcess(failing), UpstreamOptions()),
            ("empty", .inProcess(empty), UpstreamOptions()),
            ("far", .inProcess(far), options),
        ])
        _ = try await client.listResources()
        #expect(try await client.readResource("kb:///pub/1").first?.text == "found")
        do {
            _ = try await client.readResource("kb:///other/1")
            Issue.record("there is no such resource")
        } catch let error as MCPError {
            #expect(error.code == MCPError.internalErrorCode && error.message.contains("boom"), "\(error)")
        }
        await client.close()
        await group.stop()
    }

    /// What a server behind this one is asked has the time of that server, by which it is known to hang.
    @Test func slowResources() async throws {
        let far = MCPServer("far", version: "1")
        far.register(Slow())
        var limits = ServerOptions()
        limits.limits.requestDeadline = .milliseconds(1)
        let near = MCPServer("near", version: "1", options: limits)
        let (client, group) = try await UpstreamGroupTests.connected(
            [("far", .inProcess(far), UpstreamOptions())], own: near)
        var contents = try? await client.readResource("kb:///a")
        // The first lists wait for the server, within the limit of one request.
        while contents == nil, !Task.isCancelled { contents = try? await client.readResource("kb:///a") }
        #expect(contents?.first?.text == "slow")
        await client.close()
        await group.stop()
    }

    private struct Slow: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) { ([], nil) }
        func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]? {
            try await Task.sleep(for: .milliseconds(50))
            return [.text("slow", uri: uri)]
        }
    }

    private struct Failing: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) { ([], nil) }
        func read(_ uri: String, _ context: RequestContext) throws -> [ResourceContents]? {
            throw MCPError.internalError("boom")
        }
    }

    private struct Empty: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) { ([], nil) }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? { [] }
    }

    /// What is listed and cannot be read is left out, and named.
    @Test func resourcesWithoutAScheme() async throws {
        let far = MCPServer("far", version: "1")
        far.register(Bare())
        let upstream = Upstream("far", .inProcess(far))
        let group = UpstreamGroup()
        group.set([upstream])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        #expect(try await client.listResources().map(\.uri) == ["kb:///a"])
        let notes = upstream.status.notes
        #expect(notes.count { $0.contains("is left out: it is no URI") } == 2, "\(notes)")
        await client.close()
        await group.stop()
    }

    private struct Bare: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) {
            (["config", "kb:///my file", "kb:///a"].map { Resource($0, name: "r") }, nil)
        }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? { nil }
    }

    private struct Unlisted: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) { ([], nil) }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? {
            [.text("found", uri: uri)]
        }
    }

    @Test func subscriptions() async throws {
        let (client, group) = try await connected(["!kb:///secret/*"])
        let uris = ["kb:///%73ecret/x.md", "kb:///pub/../secret/x.md", "kb:///pub/a.md"]
        let subscription = try await client.listen(SubscriptionFilter(resourceURIs: uris))
        #expect(subscription.accepted.resourceURIs == ["kb:///pub/a.md"])
        await subscription.cancel()
        await client.close()
        await group.stop()
    }
}
