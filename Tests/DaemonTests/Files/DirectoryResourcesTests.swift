import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct DirectoryResourcesTests {
    private func makeFiles() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for name in ["docs", "docs/sub", "docs/.git", "docs-evil"] { try directory.makeDirectory(name) }
        try directory.write("docs/a.md", "# A\n")
        try directory.write("docs/sub/ü b.txt", "text")
        try directory.write("docs/.env", "secret")
        try directory.write("docs/.git/config", "secret")
        try directory.write("docs/data.bin", [0xFF, 0x00, 0x01])
        try directory.write("docs/big.txt", [UInt8](repeating: 0x61, count: 2_000))
        try directory.write("docs-evil/x.md", "evil")
        try directory.link("docs/passwd", to: "/etc/passwd")
        try directory.link("docs/evil.md", to: "../docs-evil/x.md")
        try directory.link("docs/inside.md", to: "a.md")
        try directory.makeFIFO("docs/fifo")
        return directory
    }

    private func server(_ directory: TemporaryDirectory, _ more: String = "") throws -> ConfiguredServer {
        try ConfiguredServer(
            #"{ "files": { "docs": { "root": "docs", "maxBytes": "1KiB"\#(more) } } }"#, in: directory.path)
    }

    private func uris(_ server: ConfiguredServer) async throws -> [String] {
        let result = try #require(try await server.request("resources/list")["result"])
        return result["resources"]?.arrayValue?.compactMap { $0["uri"]?.stringValue } ?? []
    }

    @Test func listsRegularFilesInOrder() async throws {
        let directory = try makeFiles()
        let server = try server(directory)
        #expect(
            try await uris(server) == [
                "docs:///a.md", "docs:///big.txt", "docs:///data.bin", "docs:///inside.md",
                "docs:///sub/%C3%BC%20b.txt",
            ])
        #expect(server.contents.files == 5)
    }

    /// A file that does not exist yet may be watched, one that is never shown may not, and none without `watch`.
    @Test(arguments: [true, false]) func whatCanBeWatched(_ isWatched: Bool) async throws {
        let directory = try makeFiles()
        let server = try server(directory, #", "exclude": ["*.bin"], "watch": \#(isWatched)"#)
        let client = try await MCPClient.connect(.inProcess(server.server))
        let shown = ["docs:///a.md", "docs:///later/b.md", "docs:///%C3%A9.md"]
        let hidden = [
            "docs:///data.bin", "docs:///.env", "docs:///../docs-evil/x.md", "docs:///sub//x", "nope:///a.md",
            "docs:///%61.md", "docs:///é.md", "docs:///%c3%a9.md",
        ]
        let subscription = try await client.listen(SubscriptionFilter(resourceURIs: shown + hidden))
        #expect(subscription.accepted.resourceURIs == (isWatched ? shown : []))
        await subscription.cancel()
        await client.close()
    }

    @Test func filtersDecideListAndRead() async throws {
        let directory = try makeFiles()
        let server = try server(directory, #", "include": ["**/*.md", ".env"], "exclude": ["inside.*"]"#)
        #expect(try await uris(server) == ["docs:///.env", "docs:///a.md"])
        let answer = try await server.request("resources/read", ["uri": "docs:///inside.md"])
        #expect(answer["error"]?["code"] == -32602)
    }

    @Test func readsTextAndBytes() async throws {
        let directory = try makeFiles()
        let server = try server(directory)
        let text = try await server.request("resources/read", ["uri": "docs:///sub/%C3%BC%20b.txt"])
        #expect(text["result"]?["contents"]?[0]?["text"] == "text")
        #expect(text["result"]?["contents"]?[0]?["mimeType"] == "text/plain")
        // Fault row 100.
        let bytes = try await server.request("resources/read", ["uri": "docs:///data.bin"])
        #expect(bytes["result"]?["contents"]?[0]?["blob"] == "/wAB")
        #expect(bytes["result"]?["contents"]?[0]?["mimeType"] == "application/octet-stream")
    }

    // Fault rows 96 to 98; the answer does not tell what exists outside.
    @Test(arguments: [
        "docs:///../docs-evil/x.md", "docs:///..%2Fdocs-evil%2Fx.md", "docs:///passwd", "docs:///evil.md",
        "docs:////etc/passwd", "docs:///.env", "docs:///.git/config", "docs:///fifo", "docs:///sub",
        "docs:///none",
        "docs:///./a.md", "docs:///sub//x", "docs:///a.md%00", "docs:///",
    ])
    func neverLeavesTheRoot(uri: String) async throws {
        let directory = try makeFiles()
        let answer = try await server(directory).request("resources/read", ["uri": .string(uri)])
        #expect(answer["error"]?["code"] == -32602, "\(answer)")
        #expect(answer["error"]?["message"] == "Resource not found")
    }

    @Test func refusesWhatIsTooLarge() async throws {
        let directory = try makeFiles()
        let answer = try await server(directory).request("resources/read", ["uri": "docs:///big.txt"])
        #expect(answer["error"]?["message"] == "docs:///big.txt is larger than the limit of 1 KiB")
    }

    @Test func pagesComeFromOneLook() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("docs")
        for index in 100 ..< 350 { try directory.write("docs/f\(index)", "x") }
        let server = try server(directory)
        var seen: [String] = []
        var cursor: JSONValue?
        repeat {
            var parameters: JSONObject = [:]
            parameters["cursor"] = cursor
            let result = try #require(try await server.request("resources/list", parameters)["result"])
            seen += result["resources"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
            cursor = result["nextCursor"]
            // What comes and goes between two pages changes nothing of this list.
            try directory.write("docs/f2\(seen.count)x", "x")
        } while cursor != nil && seen.count < 1_000
        #expect(seen == (100 ..< 350).map { "f\($0)" })
    }
}
