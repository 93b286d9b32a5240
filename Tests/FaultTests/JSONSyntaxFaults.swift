import MCPCore
import TestSupport
import Testing

/// Bytes that are no JSON text. Every one is answered -32700 without an id, and the next message is served.
@Suite("faults: JSON syntax", .ownThreads) struct JSONSyntaxFaults {
    /// A text that no reader may accept.
    struct Broken: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }

        init(_ text: String) { self.init(text, Array(text.utf8)) }

        /// A request that is valid but for `bytes`, in the argument or in a member that is ignored.
        init(_ name: String, inString bytes: [UInt8], ignored: Bool = false) {
            let parts =
                ignored
                ? Message.modern(id: "1", "tools/list", #""x":{"y":"%"}"#).split(separator: "%")
                : Message.echo(id: "1", "%").split(separator: "%")
            self.init(name, Array(parts[0].utf8) + bytes + Array(parts[1].utf8))
        }

        init(argument text: String) {
            self.init(text, Array(Message.call(id: "1", "add", #"{"a":\#(text),"b":1}"#).utf8))
        }
    }

    /// Sends each line and a valid request behind it.
    private func expectParseErrors(_ lines: [Broken], on server: StdioProcess) throws {
        for line in lines {
            try server.send(line.bytes + [0x0A])
            let answer = try server.answer()
            #expect(answer.code == -32700, "\(line.name)")
            // JRPC-11: without a readable id the member is left out.
            #expect(!answer.hasID, "\(line.name)")
            try server.expectAlive()
        }
    }

    private func expectParseErrors(_ bodies: [Broken], on connection: WireConnection) throws {
        for body in bodies {
            let response = try connection.ask(Post(body.bytes))
            #expect(response.status == 400, "\(body.name)")
            #expect(response.message?.code == -32700, "\(body.name)")
            #expect(response.message?.hasID == false, "\(body.name)")
            try connection.expectAlive()
        }
    }

    private func expectParseErrors(_ texts: [Broken]) throws {
        let process = try StdioProcess()
        try expectParseErrors(texts, on: process)
        try process.finish()
        try expectParseErrors(texts, on: HTTPDaemon.shared().connect())
    }

    static let whole = Message.echo(id: "1", "text")

    @Test("fault 1: a truncated line") func fault1() throws {
        let cuts = [1, 2, 10, 17, 40, Self.whole.utf8.count / 2, Self.whole.utf8.count - 1]
        try expectParseErrors(cuts.map { Broken(String(Self.whole.prefix($0))) })
    }

    @Test("fault 2: a line of text that is not JSON") func fault2() throws {
        let lines = [
            "hello", "GET / HTTP/1.1", "<xml/>", "{", "}", "tru", "nul", "\"open", "Content-Length: 5",
        ]
        try expectParseErrors(lines.map { Broken($0) })
    }

    @Test("fault 3: an empty line, or one of white space, is nothing") func fault3() throws {
        let process = try StdioProcess()
        for line in ["", " ", "\t\t", "\r", "  \r"] { try process.send(line: line) }
        try process.expectAlive()
        #expect(try process.finish().isEmpty)
    }

    @Test("fault 4: an empty HTTP body") func fault4() throws {
        let connection = try HTTPDaemon.shared().connect()
        try expectParseErrors([Broken("", []), Broken(" \r\n")], on: connection)
        // Without any framing there is no body either.
        try connection.send(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\r\n")
        let response = try #require(try connection.response())
        #expect(response.status == 400)
        #expect(response.message?.code == -32700)
        try connection.expectAlive()
    }

    @Test("fault 5: two documents, or junk behind one") func fault5() throws {
        let tails = [" {}", Self.whole, "]", "}", ",", "x", "\u{0}", " null", "\u{A0}"]
        try expectParseErrors(tails.map { Broken(Self.whole + $0) })
    }

    @Test("fault 6: extensions of the grammar") func fault6() throws {
        let arguments = [
            "NaN", "Infinity", "-Infinity", "0x1F", "+1", "01", "-01", ".5", "1.", "1.e1", "1e", "- 1", "'1'",
        ]
        let texts = [
            #"{"jsonrpc":"2.0","id":1,"method":"ping",}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"ping","x":[1,]}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"ping"/* comment */}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"ping"}//"#,
            #"{'jsonrpc':'2.0','id':1,'method':'ping'}"#, #"{jsonrpc:"2.0",id:1,method:"ping"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"ping","x":[1 2]}"#, #"{"jsonrpc":"2.0",,"id":1}"#,
            #"{"jsonrpc" "2.0"}"#, #"{"jsonrpc":"2.0","x":True}"#, #"{"jsonrpc":"2.0","x":"\x41"}"#,
            #"{"jsonrpc":"2.0","x":"\u12"}"#,
        ]
        try expectParseErrors(arguments.map { Broken(argument: $0) } + texts.map { Broken($0) })
    }

    @Test("fault 7: a byte order mark") func fault7() throws {
        try expectParseErrors([Broken("UTF-8 BOM", [0xEF, 0xBB, 0xBF] + Array(Self.whole.utf8))])
    }

    @Test("fault 8: UTF-16 and UTF-32") func fault8() throws {
        let little = Self.whole.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = Self.whole.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let wide = Self.whole.unicodeScalars.flatMap { [UInt8($0.value & 0xFF), 0, 0, 0] }
        try expectParseErrors([
            Broken("UTF-16LE", little), Broken("UTF-16LE with BOM", [0xFF, 0xFE] + little),
            Broken("UTF-16BE", big), Broken("UTF-16BE with BOM", [0xFE, 0xFF] + big),
            Broken("UTF-32LE", wide), Broken("UTF-32LE with BOM", [0xFF, 0xFE, 0, 0] + wide),
        ])
    }

    @Test("fault 9: invalid UTF-8, also in what is ignored") func fault9() throws {
        let sequences: [(String, [UInt8])] = [
            ("FF", [0xFF]), ("FE", [0xFE]), ("a stray continuation byte", [0x80]),
            ("overlong NUL", [0xC0, 0x80]),
            ("overlong slash", [0xE0, 0x80, 0xAF]), ("a surrogate", [0xED, 0xA0, 0x80]),
            ("above U+10FFFF", [0xF4, 0x90, 0x80, 0x80]), ("F5", [0xF5, 0x80, 0x80, 0x80]),
            ("a cut sequence", [0xE2, 0x82]), ("five bytes", [0xF8, 0x88, 0x80, 0x80, 0x80]),
        ]
        let texts = sequences.flatMap { name, bytes in
            [Broken(name, inString: bytes), Broken("\(name), ignored", inString: bytes, ignored: true)]
        }
        try expectParseErrors(texts)
    }

    @Test("fault 10: an escape of half a surrogate pair") func fault10() throws {
        let escapes = [
            #"\ud800"#, #"\udc00"#, #"\ud800\u0041"#, #"\ud800x"#, #"\udc00\ud800"#, #"\uD83D\uD83D"#,
        ]
        try expectParseErrors(escapes.map { Broken($0, inString: Array($0.utf8)) })
    }
}
