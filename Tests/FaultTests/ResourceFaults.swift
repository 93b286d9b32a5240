import MCPCore
import TestSupport
import Testing

/// Addresses and lists.
@Suite("faults: resources and lists", .ownThreads) struct ResourceFaults {
    @Test("fault 43: addresses that lead elsewhere") func fault43() throws {
        let process = try StdioProcess()
        let addresses = [
            "", "hello", "/etc/passwd", "../../etc/passwd", "file:///etc/passwd", "demo:///../hello",
            "demo:///%2e%2e/hello", "demo:////hello", "demo:///hello/", "DEMO:///hello", "demo:///Hello",
            "demo:///greeting/a/b", "demo:///greeting/", "demo:///greeting/%zz", "demo:///greeting/%ff",
            "demo:///greeting/%2", "http://127.0.0.1/",
            "demo:///greeting/" + String(repeating: "a", count: 64 << 10),
            "demo:///hello ", " demo:///hello", #"demo:///hel\nlo"#, #"demo:///hello\u007f"#,
        ]
        for address in addresses {
            let answer = try process.ask(Message.modern(id: "1", "resources/read", #""uri":"\#(address)""#))
            #expect(answer.code == -32602, "\(address.prefix(40))")
            #expect(answer["id"] == 1)
        }
        for uri in ["7", "null", "[]", "{}"] {
            #expect(
                try process.ask(Message.modern(id: "1", "resources/read", #""uri":\#(uri)"#)).code == -32602,
                "\(uri)")
        }
        // DUAL-22: a missing resource has the code of the revision.
        let old = try StdioProcess()
        _ = try old.ask(Message.initialize("2025-11-25"))
        #expect(
            try old.ask(Message.legacy(id: "1", "resources/read", #"{"uri":"demo:///none"}"#)).code == -32002)
        // What stands in one segment is data, whatever it looks like.
        let quoted = try process.ask(
            Message.modern(id: "2", "resources/read", #""uri":"demo:///greeting/%2e%2e%2fx""#))
        #expect(quoted["result"]?["contents"]?[0]?["text"] == "Hello, ../x!")
        try process.expectAlive()
    }

    @Test("fault 44: templates with much repetition are matched in linear time") func fault44() throws {
        let template = try URITemplate("x:///{a}/{b}/{c}-{d}aab{+rest}/end")
        func time(_ count: Int) -> Duration {
            let addresses = [
                "x:///" + String(repeating: "a", count: count),
                "x:///" + String(repeating: "a/", count: count / 2),
                "x:///" + String(repeating: "-", count: count),
                "x:///a/b/c-" + String(repeating: "aa", count: count / 2),
                "x:///" + String(repeating: "%41", count: count / 3),
                "x:///a/b/c-aab" + String(repeating: "/end", count: count / 4) + "x",
            ]
            return threadTime {
                for address in addresses { #expect(template.match(address) == nil) }
            }
        }
        _ = time(8 << 10)
        let small = (0 ..< 5).map { _ in time(8 << 10) }.min() ?? .zero
        let large = (0 ..< 5).map { _ in time(128 << 10) }.min() ?? .zero
        // Sixteen times the length takes sixteen times as long; 256 times would be quadratic.
        #expect(large < small * 64, "\(small) and \(large)")
        let process = try StdioProcess()
        let nasty = "demo:///greeting/" + String(repeating: "%2f", count: 2_600) + "/"
        #expect(
            try process.ask(Message.modern(id: "1", "resources/read", #""uri":"\#(nasty)""#)).code == -32602)
        try process.expectAlive()
    }

    @Test("fault 47: a list that changes while a client pages") func fault47() async throws {
        var options = ServerOptions()
        options.limits.pageSize = 2
        let server = MCPServer("test", version: "1", options: options)
        for name in ["a", "b", "c"] { try server.registerRaw(Tool(name)) { _, _, out in out.text(name) } }
        try await LocalServer.serve(server) { port in
            let connection = try WireConnection(port: port)
            func list(_ cursor: String?) throws -> JSONValue? {
                let member = cursor.map { #""cursor":"\#($0)""# } ?? ""
                return try connection.ask(
                    Post(Message.modern(id: "1", "tools/list", member), method: "tools/list")
                ).message
            }
            let cursor = try #require(try list(nil)?["result"]?["nextCursor"]?.stringValue)
            #expect(try list(cursor)?["result"]?["tools"]?[0]?["name"] == "c")
            try server.registerRaw(Tool("d")) { _, _, out in out.text("d") }
            let changed = try #require(try list(cursor))
            #expect(changed.code == -32602)
            #expect(changed.errorText.contains("start again"))
            let again = try #require(try list(nil)?["result"]?["nextCursor"]?.stringValue)
            #expect(try list(again)?["result"]?["tools"]?.arrayValue?.count == 2)
        }
    }
}
