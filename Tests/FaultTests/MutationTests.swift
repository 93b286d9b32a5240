import MCPCore
import TestSupport
import Testing

/// SEC-09: valid messages with random damage, sent to the real process: it lives, and serves the next valid
/// request.
///
/// Seeded: a failure names the seed with which it comes again.
@Suite("mutations", .ownThreads) struct MutationTests {
    private static let messages = [
        Message.echo(id: "1", "text with \\u00e9 and \\\\ and 😀"),
        Message.call(id: "\"a\"", "add", #"{"a":1.5e3,"b":-2}"#),
        Message.modern(id: "2", "tools/list"), Message.modern(id: "3", "server/discover"),
        Message.modern(id: "4", "resources/read", #""uri":"demo:///greeting/x%20y""#),
        Message.modern(id: "5", "prompts/get", #""name":"summarize","arguments":{"text":"t"}"#),
        Message.legacy(id: "6", "ping"), Message.initialize("2025-03-26", id: "7"), Message.initialized,
        Message.cancel("1"),
        "[\(Message.legacy(id: "8", "ping")),\(Message.legacy(id: "9", "tools/list"))]",
        #"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
    ]

    private static let tokens: [[UInt8]] =
        [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "true", "-", "0", "1e999", "\\u0000", "\\ud800",
            "\r", "\n", "\r\n",
            "\"id\":", "\"params\":{}", "chunked", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
            " ", "\t", "=?base64?",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xEF, 0xBB, 0xBF], [0]]

    private static func mutated(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        Mutation.mutated(bytes, with: tokens, &random)
    }

    private static let seconds = 5

    @Test("mutations over stdio") func stdio() throws {
        let process = try StdioProcess()
        let end = ContinuousClock.now + .seconds(Self.seconds)
        var seed: UInt64 = 1
        while ContinuousClock.now < end {
            var random = SeededRandom(seed: seed)
            var burst: [UInt8] = []
            for _ in 0 ..< 100 {
                burst +=
                    Self.mutated(Array(Self.messages[random.below(Self.messages.count)].utf8), &random) + [
                        0x0A
                    ]
            }
            let mark = "alive \(seed)"
            burst += Array((Message.echo(id: "\"\(mark)\"", "x") + "\n").utf8)
            try process.send(burst)
            // Whatever comes before it is JSON-RPC, one message a line.
            while true {
                let line = try #require(try process.line(), "the server died of seed \(seed)")
                let message = try JSONValue(parsing: line)
                if message["id"] == .string(mark) {
                    #expect(message.text == "x")
                    break
                }
                for part in message.arrayValue ?? [message] {
                    #expect(
                        part["jsonrpc"] == "2.0" && (part["result"] != nil) != (part["error"] != nil),
                        "seed \(seed)")
                }
            }
            seed += 1
        }
        // Answers of tasks may still come.
        for message in try process.finish() { #expect(message["jsonrpc"] == "2.0") }
    }

    @Test("mutations over HTTP") func http() throws {
        let daemon = try HTTPDaemon()
        let end = ContinuousClock.now + .seconds(Self.seconds)
        var seed: UInt64 = 1
        while ContinuousClock.now < end {
            var random = SeededRandom(seed: seed)
            let connection = try daemon.connect()
            for _ in 0 ... random.below(5) {
                let text = Self.messages[random.below(Self.messages.count)]
                let post = Post(text, name: random.below(2) == 0 ? "echo" : nil)
                var bytes = post.bytes(port: daemon.port)
                if random.below(2) == 0 {
                    // Only the body: the head stays valid and fits it.
                    bytes = Post(Self.mutated(Array(text.utf8), &random), name: "echo").bytes(
                        port: daemon.port)
                } else {
                    bytes = Self.mutated(bytes, &random)
                }
                try connection.send(bytes)
            }
            try connection.finishWriting()
            // Every answer is a response of HTTP, until the server closes. A request that waits for more
            // ends with the half-close.
            while let response = try connection.response(hasBody: true) {
                #expect((100 ... 599).contains(response.status), "seed \(seed)")
            }
            if seed % 10 == 0 { try daemon.expectAlive() }
            guard daemon.isRunning else {
                Issue.record("the server died of seed \(seed): \(daemon.errors)")
                return
            }
            seed += 1
        }
        try daemon.expectAlive()
    }
}
