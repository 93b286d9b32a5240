import TestSupport
import Testing

@testable import MCPCore

@Suite(.timeLimit(.minutes(5))) struct RegistrationTests {
    private static var server: MCPServer { MCPServer("s", version: "1") }

    private static func refused(_ body: () throws(RegistrationError) -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return error.description
        }
    }

    @Test func takenNames() throws {
        let server = MCPServer("s", version: "1")
        try server.register(Tool("a")) { _, _ in .text("1") }
        try server.register(Resource("x:a", name: "a")) { _ in [] }
        try server.register(ResourceTemplate("x:{a}", name: "a")) { _, _, _ in [] }
        try server.register(Prompt("a")) { _, _ in GetPromptResult([]) }
        let errors = [
            Self.refused { () throws(RegistrationError) in
                try server.register(Tool("a")) { _, _ in .text("2") }
            },
            Self.refused { () throws(RegistrationError) in try server.registerRaw(Tool("a")) { _, _, _ in } },
            Self.refused { () throws(RegistrationError) in
                try server.registerBlocking(Tool("a")) { _, _ in .text("2") }
            },
            Self.refused { () throws(RegistrationError) in
                try server.register(Resource("x:a", name: "b")) { _ in [] }
            },
            Self.refused { () throws(RegistrationError) in
                try server.register(ResourceTemplate("x:{a}", name: "b")) { _, _, _ in [] }
            },
            Self.refused { () throws(RegistrationError) in
                try server.register(Prompt("a")) { _, _ in GetPromptResult([]) }
            },
        ]
        for error in errors { #expect(error?.contains("already registered") == true) }
        // Names are compared byte by byte (TOOL-08).
        try server.register(Tool("A")) { _, _ in .text("3") }
    }

    // TOOL-08
    @Test(arguments: ["", "a b", "ä", "a/b", "a\n", String(repeating: "x", count: 129)])
    func namesThatAreNone(_ name: String) {
        #expect(throws: RegistrationError.self) { try Self.server.register(Tool(name)) { _, _ in .text("") } }
    }

    @Test(arguments: ["a", "A-z_0.9", String(repeating: "x", count: 128)]) func names(_ name: String) throws {
        try MCPServer("s", version: "1").register(Tool(name)) { _, _ in .text("") }
    }

    // TOOL-05, SCH-02, SCH-04, SCH-07
    @Test(arguments: [
        #"{"type":"string"}"#, "{}", "true", "[]", #"{"type":"object","properties":5}"#,
        #"{"type":"object","$ref":"https://example.com/s"}"#, #"{"type":"object","$schema":"urn:unknown"}"#,
        #"{"type":"object","properties":{"a":{"pattern":"("}}}"#,
    ]) func inputSchemas(_ schema: String) throws {
        let tool = Tool("bad", inputSchema: try JSONValue(parsing: schema))
        let error = #expect(throws: RegistrationError.self) {
            try Self.server.register(tool) { _, _ in .text("") }
        }
        #expect(error?.description.contains("bad") == true)
    }

    @Test func outputSchemas() throws {
        #expect(throws: RegistrationError.self) {
            try Self.server.register(Tool("bad", outputSchema: ["type": "nonsense"])) { _, _ in .text("") }
        }
    }

    /// Registering goes on while the server serves; a cursor of the old list is noticed.
    @Test func whileServing() async throws {
        let server = MCPServer("s", version: "1")
        for number in 0 ..< 101 { try server.register(Tool("t\(number)")) { _, _ in .text("") } }
        try await withClient(.inMemory(), server) { client in
            let cursor = try #require(await client.request("tools/list").result?["nextCursor"]?.value)
            #expect(
                await client.request("tools/list", ["cursor": cursor]).result?["tools"]?.elements?.count == 1)
            try server.register(Tool("new")) { _, _ in .text("new") }
            #expect(await client.call("new").text == "new")
            let stale = await client.request("tools/list", ["cursor": cursor])
            #expect(stale.errorCode == -32602)
            #expect(stale.errorMessage?.contains("start again") == true)
        }
    }

    // PAGE-07, JRPC-28: instances that share the key and the list take each other's cursors.
    @Test func cursorsOfAnotherInstance() async throws {
        func make(_ key: UInt8) throws -> MCPServer {
            var options = ServerOptions()
            options.stateKey = [UInt8](repeating: key, count: 32)
            options.limits.pageSize = 2
            let server = MCPServer("s", version: "1", options: options)
            for number in 0 ..< 3 { try server.register(Tool("t\(number)")) { _, _ in .text("") } }
            return server
        }
        var cursor = JSONValue.null
        try await withClient(.inMemory(), try make(1)) { client in
            cursor = try #require(await client.request("tools/list").result?["nextCursor"]?.value)
        }
        try await withClient(.inMemory(), try make(1)) { client in
            let page = await client.request("tools/list", ["cursor": cursor]).result
            #expect(page?["tools"]?[0]?["name"]?.string == "t2")
        }
        try await withClient(.inMemory(), try make(2)) { client in
            #expect(await client.request("tools/list", ["cursor": cursor]).errorCode == -32602)
        }
    }

    /// A cursor is checked against the whole list, which is not read for that each time.
    @Test func aPageOfALongListIsQuick() throws {
        var draft = Registry.Draft()
        for number in 0 ..< 500 {
            let entry = try ToolEntry(
                Tool("t\(number)"), timeout: nil, handler: .asynchronous { _, _ in CallToolResult() })
            draft.tools.append(entry)
        }
        let registry = Registry(draft)
        let first = threadTime { _ = registry.digest(of: .toolsList) }
        let others = threadTime { for _ in 0 ..< 1_000 { _ = registry.digest(of: .toolsList) } }
        #expect(others < first * 100)
    }

    // MARK: Providers

    /// Resources of a directory that is not known one by one.
    private struct Shelf: ResourceProvider {
        let name: String
        let count: Int

        func resources(after cursor: String?, limit: Int) async throws -> (page: [Resource], next: String?) {
            guard let start = Int(cursor ?? "0") else { throw MCPError.invalidParams("not mine") }
            let end = min(count, start + limit)
            let page = (start ..< end).map { Resource("\(name)://\($0)", name: "\($0)") }
            return (page, end < count ? "\(end)" : nil)
        }

        func templates() -> [ResourceTemplate] { [ResourceTemplate("\(name)://{n}", name: name)] }

        func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]? {
            guard uri.hasPrefix("\(name)://") else { return nil }
            guard let number = Int(uri.dropFirst(name.count + 3)), number < count else {
                throw MCPError.resourceNotFound(uri)
            }
            return [.text("\(name) \(number)", uri: uri)]
        }
    }

    /// A provider without templates may have any address.
    private struct Plain: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) { ([], nil) }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? { nil }
    }

    @Test func whatProvidersReport() {
        #expect(Shelf(name: "one", count: 1).reportsChanges(of: "one://99"))
        #expect(!Shelf(name: "one", count: 1).reportsChanges(of: "two://0"))
        #expect(Plain().reportsChanges(of: "two://0"))
    }

    @Test(arguments: [(0, 0), (1, 0), (0, 5), (3, 4), (4, 4), (7, 1)])
    func chainOfProviders(_ first: Int, _ second: Int) async throws {
        var options = ServerOptions()
        options.limits.pageSize = 2
        let server = MCPServer("s", version: "1", options: options)
        try server.register(Resource("own://a", name: "a")) { _ in [.text("a", uri: "own://a")] }
        server.register(Shelf(name: "one", count: first))
        server.register(Shelf(name: "two", count: second))
        try await withClient(.inMemory("2025-11-25"), server) { client in
            var uris: [String] = []
            var cursor: JSONValue?
            var pages = 0
            repeat {
                let reply = await client.request("resources/list", cursor.map { ["cursor": $0] } ?? [:])
                uris += reply.result?["resources"]?.elements?.compactMap { $0["uri"]?.string } ?? []
                cursor = reply.result?["nextCursor"]?.value
                pages += 1
            } while cursor != nil && pages < 20
            let expected = (0 ..< first).map { "one://\($0)" } + (0 ..< second).map { "two://\($0)" }
            #expect(uris == ["own://a"] + expected)
            for cursor in ["", "1:", "zz"] as [JSONValue] {
                #expect(await client.request("resources/list", ["cursor": cursor]).errorCode == -32602)
            }
            let templates = await client.request("resources/templates/list").result?["resourceTemplates"]
            #expect(templates?.elements?.compactMap { $0["name"]?.string } == ["one", "two"])
            let missing = await client.request("resources/read", ["uri": "two://99"])
            #expect(missing.errorCode == -32002)
            if second > 0 {
                let read = await client.request("resources/read", ["uri": "two://0"])
                #expect(read.result?["contents"]?[0]?["text"]?.string == "two 0")
            }
        }
    }
}
