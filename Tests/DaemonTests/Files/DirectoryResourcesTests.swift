import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

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
        #expect(server.contents.description == "1 directory of files")
    }

    #if os(Linux)
    /// Names that no address can contain are left out; the log and `check` say how many, once.
    @Test func namesThatAreNotUTF8() async throws {
        let directory = try TemporaryDirectory()
        for name in ["docs", "docs/sub", "docs/hidden"] { try directory.makeDirectory(name) }
        try directory.write("docs/a.md", "x")
        var paths: [[CChar]] = []
        for folder in ["docs", "docs/sub", "docs/hidden"] {
            let start = "\(directory.path)/\(folder)/x".utf8.map { CChar(bitPattern: $0) }
            let path = start + [CChar(bitPattern: 0xE4), 0]
            let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(file >= 0)
            close(file)
            paths.append(path)
        }
        defer { for path in paths { unsafe unlink(path) } }
        let text = #"{ "files": { "docs": { "root": "docs", "exclude": ["hidden/**"] } } }"#
        let outcome = ConfigurationLoader(environment: [:], purpose: .checking).load(
            SourceText(name: "mcp.jsonc", text: text), directory: directory.path, Diagnostics())
        let warning = "2 names not in UTF-8 are left out: no address can contain them"
        #expect(outcome.diagnostics.sorted.map(\.text) == ["files.docs: \(warning)"])
        let log = "\(directory.path)/log"
        let definition = try #require(outcome.configuration.files.first)
        let files = try DirectoryResources(definition, log: Log(sink: try LogSink(path: log, format: .text)))
        for _ in 0 ..< 3 {
            #expect(try await files.resources(after: nil, limit: 10).page.map(\.uri) == ["docs:///a.md"])
        }
        let lines = String(decoding: try Files.read(log, maxBytes: 10_000), as: UTF8.self)
        #expect(lines.split(separator: "\n").count == 1 && lines.contains(warning), "\(lines)")
    }
    #endif

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

    private func pages(
        _ server: ConfiguredServer, limit: Int = 2_000, between: (Int) throws -> Void = { _ in }
    ) async throws -> [String] {
        var seen: [String] = []
        var cursor: JSONValue?
        repeat {
            var parameters: JSONObject = [:]
            parameters["cursor"] = cursor
            let result = try #require(try await server.request("resources/list", parameters)["result"])
            seen += result["resources"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
            cursor = result["nextCursor"]
            try between(seen.count)
        } while cursor != nil && seen.count < limit
        return seen
    }

    /// What is there all the time is listed once, whatever comes and goes between two pages.
    @Test func pagesListWhatStaysOnce() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("docs")
        var stays: [String] = []
        for index in 100 ..< 350 {
            let name = "f\(index)\(index % 3 == 0 ? "/x" : "")"
            if index % 3 == 0 { try directory.makeDirectory("docs/f\(index)") }
            try directory.write("docs/\(name)", "x")
            stays.append(name)
        }
        try directory.write("docs/f100-goes", "x")
        let seen = try await pages(server(directory)) { count in
            try directory.write("docs/f2\(count)x", "x")
            _ = unsafe unlink("\(directory.path)/docs/f100-goes")
        }
        #expect(seen.count == Set(seen).count)
        #expect(seen.filter { stays.contains($0) } == stays)
    }

    /// The order is that of the paths, in which `a.md` comes before `a/b.md`.
    @Test func pagesBeginAnywhere() async throws {
        let directory = try TemporaryDirectory()
        let paths = [
            "a-b/x", "a.md", "a/a/1", "a/a/2", "a/b.md", "a/c/d/e", "a0", "b/1", "b/2", "b/3", "c", "é/ü",
        ]
        for name in ["", "/a-b", "/a", "/a/a", "/a/c", "/a/c/d", "/b", "/empty", "/é"] {
            try directory.makeDirectory("docs\(name)")
        }
        for path in paths { try directory.write("docs/\(path)", "x") }
        let definition = FilesDefinition(
            name: "docs", root: "\(directory.path)/docs", template: try FileURITemplate("docs:///{+path}"))
        let files = try DirectoryResources(definition, log: .disabled)
        #expect(paths == paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        for limit in 1 ... paths.count + 1 {
            var seen: [String] = []
            var cursor: String?
            repeat {
                let (page, next) = try await files.resources(after: cursor, limit: limit)
                #expect(page.count <= limit && (next == nil || page.count == limit))
                seen += page.map(\.name)
                cursor = next
            } while cursor != nil
            #expect(seen == paths, "\(limit)")
        }
        // A cursor whose file is gone, is a directory now, or never was.
        for cursor in ["a/b.md/gone", "a/b", "a/c/d/d", "..", "/", "a/", "\u{0}", "zzz", "a//", ""] {
            let (page, _) = try await files.resources(after: cursor, limit: 100)
            let rest = paths.filter { cursor.utf8.lexicographicallyPrecedes($0.utf8) }
            #expect(page.map(\.name) == rest, "\(cursor.debugDescription)")
        }
    }

    /// A page looks at a limited number of names; with filters that leave them out, it may be empty.
    @Test(.ownThreads) func pagesOfFilesThatAreHardToFind() throws {
        var names: [String] = (0 ..< FileWalk.maxLooks).map { "d\($0 + 100_000)/" } + ["f"]
        names += (0 ..< FileWalk.maxLooks).map { "h\($0)" } + ["z"]
        var children = RootChildren()
        children.entries = names.map { name in
            RootChild(name: name.replacing("/", with: ""), isDirectory: name.hasSuffix("/"))
        }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var cursor: String?
        var found: [String] = []
        var count = 0
        let info = try RootDirectory("/proc/self").info("stat")
        repeat {
            var walk = FileWalk(
                FileFilter(exclude: [try #require(GlobPattern("h*"))]), limit: 10,
                children: { $0.isEmpty ? children : RootChildren() }, info: { _ in info })
            try walk.run(after: cursor)
            found += walk.files.map(\.path)
            cursor = walk.next
            count += 1
        } while cursor != nil && count < 10
        #expect(found == ["f", "z"] && count == 3)
    }

    @Test func pathsAreCompleted() async throws {
        let directory = try makeFiles()
        let server = try server(directory, #", "exclude": ["big.*"]"#)
        let rows: [(String, [String])] = [
            ("", ["a.md", "data.bin", "inside.md", "sub/"]), ("a", ["a.md"]), ("s", ["sub/"]),
            ("sub/", ["sub/ü b.txt"]), ("sub/x", []), ("none/", []), (".", []), (".git/", []), ("../", []),
            ("/etc/", []), ("b", []), ("sub//", []), ("evil", []), ("passwd", []), ("\u{0}/", []),
        ]
        for (text, wanted) in rows {
            let answer = try await server.request(
                "completion/complete",
                [
                    "ref": ["type": "ref/resource", "uri": "docs:///{+path}"],
                    "argument": ["name": "path", "value": .string(text)],
                ])
            let values = answer["result"]?["completion"]?["values"]?.arrayValue?.compactMap(\.stringValue)
            #expect(values == wanted, "\(text.debugDescription): \(answer)")
        }
    }
}
