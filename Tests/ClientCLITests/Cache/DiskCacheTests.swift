import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// What is kept of servers between runs saves requests, and never changes what a command does.
@Suite struct DiskCacheTests {
    private let folder = TemporaryDirectory()
    private var place: String { folder.path + "/mcp-client" }

    private func harness(_ variables: [String: String] = [:]) throws -> CommandHarness {
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        harness.variables = ["XDG_CACHE_HOME": folder.path].merging(variables) { $1 }
        return harness
    }

    /// A server with the tool `t`, whose argument has a type, and how long its lists are fresh.
    private func server(
        argument: JSONValue, lifetime: Duration = .seconds(60), name: String = "t"
    ) throws -> MCPServer {
        var options = ServerOptions()
        options.listTTL = lifetime
        let server = MCPServer("s", version: "1", options: options)
        try server.register(
            Tool(
                name,
                inputSchema: [
                    "type": "object", "properties": ["x": argument], "additionalProperties": false,
                ])
        ) { call, _ in .structured(call.arguments.value) }
        return server
    }

    private func withServer(
        _ server: MCPServer, port: UInt16 = 0, authorization: ServerAuthorization? = nil,
        _ work: (String) async throws -> Void
    ) async throws {
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .milliseconds(200)
        let running = try server.start([
            .http(.tcp(port: port), options: options, authorization: authorization)
        ])
        let port = try #require(running.addresses.first?.port)
        do { try await work("127.0.0.1:\(port)") } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }

    private var files: [String] { (try? Files.names(in: place).names.sorted()) ?? [] }

    private func requests(_ outcome: CommandOutcome) -> String {
        outcome.stderr.split(separator: "·").last.map { $0.trimmingWhitespace() } ?? ""
    }

    @Test func aCallIsOneRequest() async throws {
        let harness = try harness()
        try await withServer(server(argument: ["type": "string"])) { target in
            let first = await harness.run("--timings", "--structured", "call", target, "t", "x=007")
            #expect(first.stdout == "{\"x\":\"007\"}\n" && requests(first) == "3 requests", "\(first.stderr)")
            let second = await harness.run("--timings", "--structured", "call", target, "t", "x=007")
            #expect(second.stdout == first.stdout && requests(second) == "1 request", "\(second.stderr)")
            let without = await harness.run("--timings", "--no-cache", "call", target, "t", "x=007")
            #expect(requests(without) == "3 requests")
        }
        let names = files
        let modes = try ([place] + names.map { "\(place)/\($0)" }).map {
            try Files.info($0).permissions & 0o777
        }
        #expect(names.count == 1 && modes == [0o700, 0o600])
    }

    /// `find` asks a server once for as long as its list is valid.
    @Test func findSavesRequests() async throws {
        let peer = try HTTPPeer { heard in
            let fresh = #""resultType":"complete","ttlMs":60000,"cacheScope":"public""#
            return switch heard.rpcMethod {
            case "server/discover":
                .result(
                    heard, "{\(fresh)," + #""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#)
            case "tools/list":
                .result(heard, "{\(fresh)," + #""tools":[{"name":"add","inputSchema":{"type":"object"}}]}"#)
            default: .status(404)
            }
        }
        defer { peer.stop() }
        try folder.write("c.json", #"{"mcpServers": {"one": {"url": "http://\#(peer.endpoint)/mcp"}}}"#)
        let harness = try harness(["MCP_CONFIG": folder.path + "/c.json"])
        for expected in [["server/discover", "tools/list"], []] {
            let before = peer.heard.count
            let outcome = await harness.run("find", "ad*")
            #expect(outcome.stdout.hasPrefix("one  add()"), "\(outcome.stderr)")
            let kept = expected.isEmpty ? " (1 in the cache; --no-cache asks again)" : ""
            #expect(outcome.stderr == "1 tool found; 1 of 1 servers searched\(kept)\n")
            #expect(peer.heard.dropFirst(before).map(\.rpcMethod) == expected)
        }
        let before = peer.heard.count
        _ = await harness.run("--no-cache", "find", "ad*")
        #expect(peer.heard.count == before + 2)
    }

    /// A person who looks at a server sees what it is now.
    @Test func listsAreAlwaysNew() async throws {
        let harness = try harness()
        let port = try freePort()
        try await withServer(server(argument: ["type": "string"]), port: port) { target in
            _ = await harness.run("call", target, "t", "x=1")
        }
        try await withServer(server(argument: ["type": "integer"]), port: port) { target in
            #expect(await harness.run("tools", target).stdout.hasPrefix("t(x?: int)"))
            let call = await harness.run("--structured", "--timings", "call", target, "t", "x=1")
            #expect(call.stdout == "{\"x\":1}\n" && requests(call) == "1 request", "\(call.stderr)")
        }
    }

    /// Arguments that fit an old schema alone are made anew, and so are those that fit the new one alone.
    @Test(arguments: ["text", "1"]) func anOldSchemaRefusesNothing(_ value: String) async throws {
        let harness = try harness()
        let (old, new): (JSONValue, JSONValue) =
            value == "1"
            ? (["type": "string"], ["type": "integer"]) : (["type": "integer"], ["type": "string"])
        let port = try freePort()
        try await withServer(server(argument: old), port: port) { target in
            _ = await harness.run("call", target, "t", "x=1")
        }
        try await withServer(server(argument: new), port: port) { target in
            let first = await harness.run("--structured", "call", target, "t", "x=\(value)")
            if value == "1" {
                // The tool may have run: it is not called again on its own.
                #expect(first.code == .toolError && first.stderr.contains("takes other arguments now"))
                let second = await harness.run("--structured", "call", target, "t", "x=1")
                #expect(second.stdout == "{\"x\":1}\n", "\(second.stderr)")
            } else {
                #expect(first.stdout == "{\"x\":\"text\"}\n", "\(first.stderr)")
            }
        }
    }

    @Test func aToolThatIsNew() async throws {
        let harness = try harness()
        let port = try freePort()
        try await withServer(server(argument: true), port: port) { target in
            _ = await harness.run("call", target, "t")
        }
        try await withServer(server(argument: true, name: "u"), port: port) { target in
            #expect(await harness.run("call", target, "u").code == .ok)
            let gone = await harness.run("call", target, "t")
            #expect(gone.code == .protocolError && gone.stderr.contains("s has no tool \"t\""))
        }
    }

    /// What one credential may see is not used for another one, and no token is written.
    @Test func eachCredentialHasItsOwn() async throws {
        let authorization = try ServerAuthorization(
            resource: "https://mcp.example.com/mcp", authorizationServers: ["https://id.example.com"],
            verifier: AnyToken())
        let server = try server(argument: ["type": "string"])
        try await withServer(server, authorization: authorization) { target in
            func call(_ token: String) async throws -> String {
                let harness = try harness(["T": token])
                return requests(
                    await harness.run("--timings", "--bearer-env", "T", "call", target, "t", "x=1"))
            }
            var counts: [String] = []
            for token in ["one", "one", "two"] { counts.append(try await call("secret-token-\(token)")) }
            #expect(counts == ["3 requests", "1 request", "3 requests"])
        }
        for file in files {
            let text = String(decoding: try Files.read("\(place)/\(file)", maxBytes: 1 << 20), as: UTF8.self)
            #expect(!text.contains("secret-token"))
        }
    }

    @Test func aServerThatAllowsNothing() async throws {
        let harness = try harness()
        try await withServer(server(argument: true, lifetime: .zero)) { target in
            _ = await harness.run("call", target, "t")
            #expect(requests(await harness.run("--timings", "call", target, "t")) == "3 requests")
        }
        #expect(files.isEmpty)
    }

    /// What others wrote, or could have written, is a miss and stays as it is.
    @Test(arguments: ["torn", "empty", "other", "deep", "link", "open", "folder", "future", "huge"])
    func aFileThatIsNotOurs(_ kind: String) async throws {
        let harness = try harness()
        try await withServer(server(argument: ["type": "string"])) { target in
            _ = await harness.run("call", target, "t", "x=1")
            let path = place + "/" + (try #require(files.first))
            let bytes = try Files.read(path, maxBytes: 1 << 20)
            switch kind {
            case "torn": try Files.replace(path, with: Array(bytes.dropLast(40)))
            case "empty": try Files.replace(path, with: [])
            case "other": try Files.replace(path, with: Array(#"{"format":2,"responses":[]}"#.utf8))
            case "deep": try Files.replace(path, with: [UInt8](repeating: 0x5B, count: 100_000))
            case "link":
                try Files.replace(folder.path + "/elsewhere", with: bytes)
                _ = try ProcessRunner.run(ProcessLaunch("ln", ["-sf", folder.path + "/elsewhere", path]))
            case "open": _ = try ProcessRunner.run(ProcessLaunch("chmod", ["666", path]))
            case "folder": _ = try ProcessRunner.run(ProcessLaunch("chmod", ["777", place]))
            case "huge": try Files.replace(path, with: [UInt8](repeating: 0x20, count: 9 << 20))
            default:
                let text = String(decoding: bytes, as: UTF8.self).split(separator: "\"keptAt\":")
                try Files.replace(path, with: Array(text.joined(separator: "\"keptAt\":9").utf8))
            }
            let call = await harness.run("--structured", "--timings", "call", target, "t", "x=1")
            #expect(call.stdout == "{\"x\":\"1\"}\n", "\(call.stderr)")
            #expect(requests(call) != "1 request", "\(call.stderr)")
        }
    }

    @Test func withoutAHomeNothingIsKept() async throws {
        var harness = try harness()
        harness.variables = [:]
        try await withServer(server(argument: true)) { target in
            _ = await harness.run("call", target, "t")
            #expect(requests(await harness.run("--timings", "call", target, "t")) == "3 requests")
        }
    }
}

/// Accepts every token, each as somebody else; what such a server lists is private.
private struct AnyToken: TokenVerifier {
    func verify(_ token: PresentedToken) async throws(TokenRefusal) -> Principal {
        Principal(kind: .token, issuer: "https://id.example.com", subject: token.value)
    }
}
