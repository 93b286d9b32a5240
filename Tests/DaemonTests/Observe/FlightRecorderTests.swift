import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The last exchanges, and the files that they are written to.
@Suite struct FlightRecorderTests {
    private struct Setting {
        let directory: TemporaryDirectory
        let recorder: FlightRecorder
        let secrets = HiddenSecrets()
        let server: MCPServer

        init(keep: Int, triggers: Set<RecorderSettings.Trigger>) throws {
            directory = try TemporaryDirectory()
            var settings = RecorderSettings(directory: directory.path)
            settings.keep = keep
            settings.triggers = triggers
            recorder = FlightRecorder(settings, hiding: secrets, log: .disabled)
            var options = ServerOptions()
            options.middleware = [
                Observer(
                    metrics: nil, audit: nil, recorder: recorder, errors: nil, calls: .none, log: .disabled)
            ]
            server = MCPServer("m", version: "1", options: options)
            server.addTool("echo", "Echoes", Argument("text"), Argument("token")) {
                (text: String, _: String) in text
            }
        }

        func call(_ text: String, tool: String = "echo") async {
            let message: JSONValue = [
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": [
                    "name": .string(tool), "arguments": ["text": .string(text), "token": "S3CRET"],
                    "_meta": [
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientCapabilities": [:],
                    ],
                ],
            ]
            _ = await server.handle(Array(message.serialized().utf8))
        }

        var files: [String] {
            ((try? Files.names(in: directory.path))?.names ?? []).sorted()
        }

        func lines(_ name: String) throws -> [JSONValue] {
            try Files.read("\(directory.path)/\(name)", maxBytes: 1 << 26).split(separator: 0x0A).map {
                try JSONValue(parsing: Array($0))
            }
        }
    }

    @Test func theLastExchangesWithoutSecrets() async throws {
        let setting = try Setting(keep: 3, triggers: [.signal])
        for number in 1 ... 5 { await setting.call("t\(number)") }
        setting.recorder.dump("test")
        setting.recorder.finish()
        let file = try #require(setting.files.first)
        let lines = try setting.lines(file)
        #expect(lines.map { $0["request"]?["params"]?["arguments"]?["text"] } == ["t3", "t4", "t5"])
        #expect(lines.map { $0["response"]?["result"]?["content"]?[0]?["text"] } == ["t3", "t4", "t5"])
        #expect(lines.allSatisfy { $0["request"]?["params"]?["arguments"]?["token"] == "[redacted]" })
        #expect(try Files.info("\(setting.directory.path)/\(file)").permissions == 0o600)
    }

    /// Secrets of servers behind this one are left out wherever they are; what remains is JSON.
    @Test func secretsOfServersAreLeftOut() async throws {
        let setting = try Setting(keep: 9, triggers: [.signal])
        setting.secrets.hide([#"hunter"22"#, "result", "123", "the first line\nthe last line"])
        for text in [#"a hunter"22 b"#, "result", "123", "plain", "see the last line"] {
            await setting.call(text)
        }
        setting.recorder.dump("test")
        setting.recorder.finish()
        let lines = try setting.lines(try #require(setting.files.first))
        let texts: [JSONValue?] = ["a [redacted] b", "[redacted]", "123", "plain", "see [redacted]"]
        #expect(lines.map { $0["request"]?["params"]?["arguments"]?["text"] } == texts)
        #expect(lines.map { $0["response"]?["result"]?["content"]?[0]?["text"] } == texts)
    }

    /// The first failure writes a file; those within a minute after it do not.
    @Test func anErrorWritesAFile() async throws {
        let setting = try Setting(keep: 10, triggers: [.error])
        await setting.call("fine")
        setting.recorder.finish()
        #expect(setting.files.isEmpty)
        for _ in 0 ..< 3 { await setting.call("x", tool: "nosuch") }
        setting.recorder.finish()
        #expect(setting.files.count == 1)
    }

    #if os(Linux)
    /// What a program in production has recorded is a server for its clients elsewhere.
    @Test func theFileOfAProgramIsAServer() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("flight")
        try directory.write(
            "mcp.jsonc",
            """
            { "observe": { "recorder": { "dir": "flight", "dumpOn": ["SIGUSR1"] } },
              "tools": { "t": { "input": { "a": { "type": "string" } }, "exec": ["echo", "{a}"] } } }
            """)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        #expect(try await client.callTool("t", ["a": "hello"]).text == "hello\n")
        await client.close()
        program.signal(SIGUSR1)
        #expect(await program.logs(#""event":"exchanges recorded""#))
        await program.stop()
        let names = try Files.names(in: "\(directory.path)/flight").names
        let file = try #require(names.first { $0.hasPrefix("flight-") })
        let mock = try await MCPClient.connect(
            .command(
                BuiltProgram.path("mcp-client"), ["mock", "\(directory.path)/flight/\(file)"],
                environment: WatchedProgram.environment))
        #expect(try await mock.callTool("t", ["a": "hello"]).text == "hello\n")
        await mock.close()
    }
    #endif
}
