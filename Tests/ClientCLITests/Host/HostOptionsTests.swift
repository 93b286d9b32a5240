import Foundation
import MCPCore
import TestSupport
import Testing

@testable import MCPApps
@testable import MCPClientCLI

/// The command line of `host`, and what it reads.
struct HostOptionsTests {
    private func parse(_ words: String...) throws -> Invocation {
        guard case .run(let invocation) = try InvocationParser.parse(["host"] + words) else {
            throw Failure.usage("no run")
        }
        return invocation
    }

    // A27
    @Test func serversAndFlags() throws {
        let invocation = try parse(
            "--port", "8123", "--csp", "compat", "--csp", "allow-wildcards", "--allow-domains",
            "a.example, b.example",
            "--allow-hosts", "LOCALHOST", "--approve", "ask", "--grant", "camera,clipboardWrite", "--theme",
            "dark",
            "--history", "calls.jsonl", "--scan", "3101-3110", "--config", "mcp.json", "--timeout", "5",
            "--server", "docs=localhost:3000", "localhost:3001", "--", "prog", "arg")
        let host = invocation.options.host
        #expect(host.settings.port == 8123 && host.settings.theme == .dark)
        #expect(host.isCompatible && host.allowsWildcards && host.approval == .ask)
        #expect(host.allowedDomains == ["a.example", "b.example"])
        #expect(host.settings.allowedHosts == ["localhost"])
        #expect(host.grants == [.camera, .clipboardWrite] && !host.opensBrowser)
        #expect(host.scannedPorts == 3101 ... 3110 && host.configFile == "mcp.json")
        #expect(invocation.options.timeout == .seconds(5) && invocation.operands.isEmpty)
        #expect(invocation.servers.map(\.name) == ["docs", "server1", "server2"])
        #expect(try parse().servers.isEmpty)
        #expect(try parse("--open").options.host.opensBrowser)
    }

    @Test(arguments: [
        ["--port", "70000"], ["--csp", "none"], ["--approve", "maybe"], ["--grant", "everything"],
        ["--theme", "pink"], ["--scan", "9-1"], ["--scan", "1-5000"], ["--scan", "0"], ["--scan", "x"],
        ["--rounds", "3"], ["--policy", "ask"], ["--trust", "x"], ["ftp://x/y"],
    ])
    func whatMeansNothingIsRefused(words: [String]) {
        #expect(throws: Failure.self) { try InvocationParser.parse(["host"] + words) }
    }

    /// Both would ask under that name.
    @Test(arguments: [
        ["--server", "evil=localhost:2"], ["--server", "evil=localhost:2", "--server", "more=localhost:3"],
    ])
    func twoServersOfOneName(words: [String]) async throws {
        var harness = CommandHarness(server: MCPServer("s", version: "1"))
        harness.files = ["servers.json": #"{"mcpServers": {"evil": {"url": "http://localhost:1/mcp"}}}"#]
        let outcome = await harness.run(["host", "--config", "servers.json"] + words)
        #expect(outcome.code == .usage && outcome.connections == 0, "\(outcome.stderr)")
        #expect(
            outcome.stderr.hasPrefix(
                "error: two servers are named \"evil\"\n  one of them is in servers.json\n"),
            "\(outcome.stderr)")
    }

    // A20
    @Test(arguments: [
        ("http://Example.com:80/x", "example.com"), ("https://[::1]:5/", "[::1]"),
        ("http://a@evil.example/", "evil.example"), ("http://ok#@evil", "ok"), ("http://ok?x=@evil/", "ok"),
        ("http://evil.example/\u{301}@ok/", "evil.example"), ("http://ok@\u{301}evil/", "\u{301}evil"),
    ])
    func hostsOfAddresses(url: String, host: String) { #expect(ServerTargets.host(of: url) == host) }

    // A33, A25
    @Test func theHistoryIsPrivateAndSurvivesHalfALine() throws {
        let path = NSTemporaryDirectory() + "mcp-history-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let line =
            #"{"id":"1","time":"2026-01-01T00:00:00.000Z","server":"s","tool":"t","arguments":{"a":null}}"#
        try "\(line)\n{\"half\n\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let file = try HistoryFile(path)
        let entry = try #require(file.entries.first)
        #expect(file.entries.count == 1 && entry.tool == "t" && entry.arguments == ["a": nil])
        #expect(file.strangeLines == 1)
        #expect(file.append(entry))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try HistoryFile(path).entries.count == 2)
        #expect(throws: Failure.self) { try HistoryFile("/nowhere/at/all") }
        // The half of a line at the end takes no other with it.
        let half = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try half.seekToEnd()
        try half.write(contentsOf: Data(#"{"id":"3","ti"#.utf8))
        try half.close()
        let broken = try HistoryFile(path)
        #expect(broken.append(entry) && broken.append(entry))
        let again = try HistoryFile(path)
        #expect(again.entries.count == 4 && again.strangeLines == 2)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(
            text.hasSuffix("\"ti\n\(text.split(separator: "\n")[2])\n\(text.split(separator: "\n")[2])\n"))
    }

    /// Neither what a view sends nor what a server answers brings a secret into the file.
    @Test func theHistoryHasNoSecrets() throws {
        let folder = TemporaryDirectory()
        let file = try HistoryFile(
            folder.path + "/h.jsonl", secrets: ["Bearer sesame-sesame", "sesame-sesame"])
        let entry = try JSONValue(
            parsing: #"""
                {"id":"1","server":"s","tool":"t","by":"view","view":"chart",
                "arguments":{"password":"p4ss","note":"with sesame-sesame"},
                "result":{"content":[{"type":"text","text":"{\"token\":\"t0k\"}"}],"structuredContent":{"token":"t0k"}},
                "problem":"cannot reach https://ann:s3cret@h/"}
                """#)
        #expect(file.append(try #require(HistoryEntry(json: entry))))
        let text = try String(contentsOfFile: folder.path + "/h.jsonl", encoding: .utf8)
        for secret in ["p4ss", "sesame-sesame", "t0k", "s3cret"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        let read = try #require(try HistoryFile(folder.path + "/h.jsonl").entries.first)
        #expect(read.json["by"] == "view" && read.json["view"] == "chart")
        #expect(read.arguments["note"] == "with [redacted]")
    }

    /// A view that calls without end fills neither the file nor the places of the user's calls.
    @Test(.ownThreads) func theHistoryIsBounded() throws {
        let folder = TemporaryDirectory()
        let path = folder.path + "/h.jsonl"
        func line(_ number: Int, by: String, _ size: Int) -> String {
            let fill = String(repeating: "x", count: size)
            return #"{"id":"\#(number)","server":"s","tool":"t","by":"\#(by)","result":"\#(fill)"}"#
        }
        let mine = (0 ..< 10).map { line($0, by: "user", 10) }
        let views = (10 ..< 910).map { line($0, by: "view", 20 << 10) }
        try folder.write("h.jsonl", (mine + views).joined(separator: "\n") + "\n")
        let (file, other) = (try HistoryFile(path), try HistoryFile(path))
        func entry(_ number: Int, by: String = "view", _ size: Int) throws -> HistoryEntry {
            try #require(HistoryEntry(json: try JSONValue(parsing: line(number, by: by, size))))
        }
        #expect(file.append(try entry(910, 10)))
        // What the user called is there, and of the calls by views the last ones.
        let ids = try HistoryFile(path).entries.map(\.id)
        #expect(ids == (Array(0 ..< 10) + Array(661 ... 910)).map { String($0) })
        // Another program goes on with the same file.
        #expect(other.append(try entry(911, 10)))
        #expect(file.append(try entry(912, 10)))
        let read = try HistoryFile(path)
        #expect(read.entries.count == 262 && read.strangeLines == 0)
        #expect(read.entries.suffix(3).map(\.id) == ["910", "911", "912"])
        // Calls of the user that are large themselves: the last ones stay.
        for number in 1_000 ..< 1_016 { #expect(file.append(try entry(number, by: "user", 1 << 20))) }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        #expect(size <= HistoryFile.maxBytes && size > 1 << 20)
        #expect(try HistoryFile(path).entries.last?.id == "1015")
        #expect(file.append(try entry(2_000, by: "user", HistoryFile.maxBytes)))
        #expect(try HistoryFile(path).entries.map(\.id) == ["2000"])
    }

    /// A file of somebody else is left alone, with its permissions.
    @Test(arguments: [
        "precious\n", "{\n  \"name\": \"x\"\n}\n", "\n", #"{"name":"x"}"#, #"{"name":"x"}"# + "\n",
        #"{"id":"1","name":"x"}"#, #"{"id":"1","na"# + "\n", #"{"mcpServers":{"#,
        #"{"a":1}"# + "\n" + #"{"b":2}"# + "\n",
    ])
    func aFileThatIsNoHistory(content: String) throws {
        let path = NSTemporaryDirectory() + "mcp-history-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try content.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let failure = #expect(throws: Failure.self) { try HistoryFile(path) }
        #expect(failure?.details == ["nothing was written to it"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o644)
        #expect(throws: Failure.self) { try HistoryFile("/dev/null") }
    }

    /// The first entry was cut off by a full disk: the file is a history.
    @Test(arguments: ["{", #"{"i"#, #"{"id":"1","ti"#]) func halfOfTheFirstEntry(content: String) throws {
        let folder = TemporaryDirectory()
        try folder.write("h.jsonl", content)
        let file = try HistoryFile(folder.path + "/h.jsonl")
        #expect(file.entries.isEmpty && file.strangeLines == 1)
        let line = try JSONValue(parsing: #"{"id":"2","server":"s","tool":"t"}"#)
        #expect(file.append(try #require(HistoryEntry(json: line))))
        #expect(try HistoryFile(folder.path + "/h.jsonl").entries.map(\.id) == ["2"])
    }

    // Section 3.2
    @Test func aServerThatIsRemovedLeavesItsPort() {
        let ports = SandboxPorts(port: 1)
        ports.use([11, 12])
        #expect(ports.address(ofView: "v", server: "s1")?.origin == "http://127.0.0.1:11")
        #expect(ports.address(ofView: "v", server: "s2")?.origin == "http://127.0.0.1:12")
        #expect(ports.address(ofView: "v", server: "s3") == nil)
        var writer = HostEventWriter(ports: ports)
        _ = writer.json(.serverRemoved(server: "s1"))
        #expect(!ports.serves(server: "s1", atPort: 11))
        #expect(ports.address(ofView: "v", server: "s3")?.origin == "http://127.0.0.1:11")
        #expect(ports.serves(server: "s3", atPort: 11) && ports.serves(server: "s2", atPort: 12))
    }

    /// More than is kept cannot be gone on with; what is kept is bounded.
    @Test func theLogIsBounded() async {
        var log = EventLog(page: "p")
        let count = EventLog.maxEvents + 10
        for number in 1 ... count { log.append(["n": JSONValue(number)]) }
        #expect(log.resume(after: "p-9") == nil && log.resume(after: "p-\(count + 1)") == nil)
        #expect(log.resume(after: "q-\(count)") == nil && log.resume(after: "p-x") == nil)
        let rest = log.resume(after: "p-\(count - 2)")
        log.end()
        var ids: [String?] = []
        if let rest { for await event in rest { ids.append(event.id) } }
        #expect(ids == ["p-\(count - 1)", "p-\(count)", "p-\(count + 1)"])
        var large = EventLog(page: "p")
        let text = JSONValue.string(String(repeating: "x", count: EventLog.maxBytes / 2 - 10))
        for _ in 1 ... 3 { large.append(text) }
        #expect(large.resume(after: "p-0") == nil && large.resume(after: "p-1") != nil)
    }

    // A19
    @Test func resultsAreShownAsTheyAre() throws {
        let result = CallToolResult(
            content: [
                .text("<b>"), .image([1], mimeType: "text/html"),
                .image([1], mimeType: "image/png\" onload=\"x"),
                .resourceLink(Resource("javascript:alert(1)", name: "x")),
            ])
        let blocks = ContentJSON.blocks(result)
        #expect(blocks[0] == ["kind": "text", "text": "<b>"])
        #expect(blocks[1]["kind"] == "text" && blocks[2]["kind"] == "text")
        #expect(blocks[3]["kind"] == "link" && blocks[3]["href"] == .null)
        let twice = CallToolResult(content: [.text(#"{"a":1}"#)], structuredContent: ["a": 1])
        #expect(ContentJSON.blocks(twice).map { $0["kind"] } == ["json"])
        #expect(ContentJSON.blocks(CallToolResult(content: [])) == [["kind": "nothing"]])
    }

    /// What turns the order of letters around would show another address than that of the link.
    @Test func ofALinkNothingIsHidden() throws {
        let link = Resource("https://a.example/\u{202E}x", name: "\u{202E}gnp.exe", mimeType: "a/\u{2066}b")
        let block = ContentJSON.blocks(CallToolResult(content: [.resourceLink(link)]))[0]
        #expect(block["label"] == "⟨U+202E⟩gnp.exe")
        #expect(block["about"] == "https://a.example/⟨U+202E⟩x · a/⟨U+2066⟩b")
        let css = try #require(HostAssets.asset(atPath: "/app.css"))
        #expect(
            String(decoding: css.bytes, as: UTF8.self).contains(
                ".resource > *, .notice > span > * { unicode-bidi"))
    }

    /// Half a character would be shown as one that nobody wrote.
    @Test func noCharacterIsCut() {
        for text in ["xxxx", "xé", "éé", "x€", "€", "x𝄞", "𝄞𝄞"] {
            for limit in 0 ... 9 {
                let shown = ContentJSON.beginning(of: text, limit)
                #expect(shown.utf8.count <= limit && shown.utf8.count > limit - 4 || shown == text)
                #expect(text.unicodeScalars.starts(with: shown.unicodeScalars), "\(text) \(limit)")
            }
        }
        #expect(ContentJSON.clipped("x€", 3) == "x… (4 bytes)")
    }

    /// A version or a title of a megabyte would fill the page.
    @Test func namesAreShort() {
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        let cut = "… (1000000 bytes)"
        for (count, ending) in [(64, text(64)), (1_000_000, text(64) + cut)] {
            var server = HostedServer(id: "s1", name: "one", target: "x")
            server.info = Implementation(name: text(count), version: text(count))
            #expect(writer.json(.server(server))?["line"] == .string("\(ending) · \(ending)"))
        }
        for (count, shown) in [(256, text(256)), (1_000_000, text(256) + cut)] {
            let list = writer.json(.tools(server: "s1", [Tool("t", title: text(count))]))
            #expect(list?["tools"]?[0]?["title"] == .string(shown))
            let schema: JSONValue = [
                "type": "object",
                "properties": [
                    "a": ["type": "string", "title": .string(text(count))],
                    "b": ["enum": [.string(text(count))]],
                    "c": ["const": .string(text(count))],
                ],
            ]
            let members = FormSpec.json(for: schema)["members"]
            #expect(members?[0]?["label"] == .string("\(shown) (a)"))
            #expect(members?[1]?["options"]?[0]?["label"] == .string(shown))
            #expect(members?[1]?["options"]?[0]?["value"] == .string(text(count)))
            #expect(members?[2]?["shown"] == .string(shown))
        }
    }

    /// One event must not be more than a page can take.
    @Test func ofALongResultTheBeginningIsShown() throws {
        let long = String(repeating: "é", count: 1 << 20)
        let image = ContentBlock.image(Array(repeating: 1, count: 5 << 20), mimeType: "image/png")
        let content = [.text(long), image, image] + Array(repeating: ContentBlock.text("x"), count: 300)
        let blocks = ContentJSON.blocks(CallToolResult(content: content))
        #expect(blocks.count == 201 && blocks[200]["text"] == "… and 103 more")
        let text = try #require(blocks[0]["text"]?.stringValue)
        #expect(text.utf8.count < 66_000 && text.hasPrefix("éé") && text.hasSuffix("… (2097152 bytes)"))
        #expect(blocks[1]["kind"] == "image")
        #expect(blocks[2]["text"] == "image of the type image/png, too long to be shown")
        let said = ContentJSON.blocks(Array(repeating: .text(long), count: 9), maxBytes: 100_000)
        #expect(said.count == 3 && JSONValue.array(said).serialized().utf8.count < 110_000)
        // Indented, this would be a hundred times as long.
        var deep: JSONValue = .array(Array(repeating: 1, count: 20_000))
        for _ in 1 ... 50 { deep = [deep] }
        let structured = ContentJSON.blocks(CallToolResult(content: [], structuredContent: ["a": deep]))
        #expect(try #require(structured[0]["text"]?.stringValue).utf8.count < 70_000)
    }

    /// Names on the page have nothing that nobody sees.
    @Test func namesOnThePageHideNothing() throws {
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        let json: JSONValue = ["id": "a", "tool": "t\u{202E}x", "server": "s\u{200B}\nb", "by": "user"]
        let entry = try #require(HistoryEntry(json: json))
        let event = writer.json(.history(entry))
        let shown = try #require(event)
        #expect(shown["shown"] == "t⟨U+202E⟩x" && shown["tool"] == "t\u{202E}x")
        #expect(shown["line"]?.stringValue == "s⟨U+200B⟩⏎b · by you")
    }

    // A history of somebody else must not end the host.
    @Test func theTimeOfAnEntryMayBeAnything() throws {
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        for time in ["-1e300", "1e300", "-5", "0"] {
            let json = try JSONValue(
                parsing: #"{"id":"a","tool":"t","server":"s","milliseconds":\#(time)}"#)
            let entry = try #require(HistoryEntry(json: json))
            #expect(writer.json(.history(entry))?["line"]?.stringValue?.hasPrefix("s · ") == true)
        }
    }
}
