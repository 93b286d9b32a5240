import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MCPCore
@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `mcp-server --client-tools` as a process of its own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClientToolProgramTests {
    private final class Place {
        let directory: TemporaryDirectory
        var environment: [String: String]
        let port: UInt16

        init() throws {
            directory = try TemporaryDirectory()
            for name in ["run", "state"] { try directory.makeDirectory(name) }
            environment = [
                "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": "\(directory.path)/run",
                "XDG_STATE_HOME": "\(directory.path)/state",
            ]
            port = try freePort()
        }

        var providers: String { "\(directory.path)/run/mcpcore/providers.sock" }
        var tokenFile: String { "\(directory.path)/state/mcpcore/providers.token" }

        func start(_ arguments: String...) async throws -> WatchedProgram {
            try await WatchedProgram(
                arguments + ["--client-tools", "--listen", "127.0.0.1:\(port)"], environment: environment)
        }
    }

    /// The status and the body of the answer to one request.
    private static func ask(_ address: SocketAddress?, _ request: String) async throws -> (Int, String) {
        let address = try #require(address)
        let text = try await Offload.runLong { () -> String in
            let socket = try Syscalls.streamSocket(address.domain)
            _ = fcntl(socket.rawValue, F_SETFL, fcntl(socket.rawValue, F_GETFL) & ~O_NONBLOCK)
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            _ = unsafe setsockopt(
                socket.rawValue, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            _ = try Syscalls.connect(socket.rawValue, to: address)
            var bytes = Array(request.utf8)
            _ = unsafe bytes.withUnsafeBytes { unsafe send(socket.rawValue, $0.baseAddress, $0.count, 0) }
            var all: [UInt8] = []
            bytes = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = uninterrupted {
                    unsafe bytes.withUnsafeMutableBytes {
                        unsafe recv(socket.rawValue, $0.baseAddress, $0.count, 0)
                    }
                }
                guard count > 0 else { return String(decoding: all, as: UTF8.self) }
                all += bytes[..<count]
            }
        }
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let status = parts[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (status ?? 0, parts.count > 1 ? String(parts[1]) : "")
    }

    private static func registration(_ fields: [String] = []) -> String {
        let body = #"{"channel_id":"messaging:general","tools":[{"name":"greet","description":"Greets"}]}"#
        let head = [
            "POST /register-tools HTTP/1.1", "Host: 127.0.0.1", "Connection: close",
            "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
        ]
        return (head + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    private static func names(_ client: MCPClient) async throws -> [String] {
        try await client.listTools().map(\.name).sorted()
    }

    private static let demo = [
        "add", "clock", "clock_tick", "conformance_probe", "conformance_record", "echo", "model_only_probe",
        "now",
        "run_conformance",
        "run_conformance_default", "slow",
    ]

    // MARK: HTTP

    /// C18, C19: the token over TCP, none at the socket of the user, and Host and Origin always.
    @Test func tokensAndChannels() async throws {
        let place = try Place()
        let program = try await place.start("--demo")
        let tcp = SocketAddress(numeric: "127.0.0.1", port: place.port)
        let kept = String(decoding: try Files.read(place.tokenFile, maxBytes: 1_000), as: UTF8.self)
        let token = kept.filter { !$0.isNewline }
        // It is shown the first time, and the file after that.
        #expect(await program.logs("token      \(token)   new, kept in \(place.tokenFile)"))
        #expect(await program.logs("providers  unix://\(place.providers)"))
        let bearer = "Authorization: Bearer \(token)"
        #expect(try await Self.ask(tcp, Self.registration()).0 == 401)
        #expect(try await Self.ask(tcp, Self.registration([bearer + "x"])).0 == 401)
        #expect(
            try await Self.ask(tcp, Self.registration([bearer, "Origin: https://evil.example"])).0 == 403)
        let accepted = try await Self.ask(tcp, Self.registration([bearer]))
        #expect(accepted.0 == 200)
        #expect(accepted.1.contains(#""channel_id":"general""#))
        #expect(try await Self.ask(SocketAddress(unixPath: place.providers), Self.registration()).0 == 200)
        for version in [ProtocolVersion.v2026_07_28, .v2025_11_25] {
            var options = ClientOptions()
            options.protocol = .exactly(version)
            let url = "http://127.0.0.1:\(place.port)/mcp"
            let general = try await MCPClient.connect(.http(url + "/channels/general"), options: options)
            // A client that listens to nothing is forgotten after some seconds, which a busy machine may take.
            var names: [String] = []
            for _ in 0 ..< 10 where !names.contains("greet") {
                #expect(try await Self.ask(tcp, Self.registration([bearer])).0 == 200)
                names = try await Self.names(general)
            }
            #expect(names == (Self.demo + ["greet"]).sorted())
            // Calls that take long can become tasks, where there are such.
            let tasks = general.serverCapabilities.extensions["io.modelcontextprotocol/tasks"]
            #expect((tasks != nil) == (version == .v2026_07_28))
            let main = try await MCPClient.connect(.http(url), options: options)
            #expect(try await Self.names(main) == Self.demo)
            await general.close()
            await main.close()
        }
        await program.stop()
        // The second start finds the token again and does not show it.
        let again = try await place.start("--demo")
        #expect(await again.logs("token      in \(place.tokenFile)"))
        #expect(!again.output.contains(token))
        #expect(try await Self.ask(tcp, Self.registration([bearer])).0 == 200)
        await again.stop()
    }

    // C30
    @Test func aChannelWithATokenOfItsOwn() async throws {
        let place = try Place()
        let file = "\(place.directory.path)/mcp.jsonc"
        try place.directory.write(
            "mcp.jsonc", #"{"clientTools": {"channelTokenFiles": {"general": "general.token"}}}"#)
        let program = try await place.start("-c", file)
        let kept = try Files.read("\(place.directory.path)/general.token", maxBytes: 1_000)
        let token = String(decoding: kept, as: UTF8.self).filter { !$0.isNewline }
        #expect(token.utf8.count == 64)
        let name = "\(place.directory.path)/general.token"
        #expect(await program.logs("token      of general \(token)   new, kept in \(name)"))
        let tcp = SocketAddress(numeric: "127.0.0.1", port: place.port)
        let daemons = String(decoding: try Files.read(place.tokenFile, maxBytes: 1_000), as: UTF8.self)
        for (sent, status) in [(token, 200), (daemons.filter { !$0.isNewline }, 401)] {
            let bearer = "Authorization: Bearer \(sent)"
            #expect(try await Self.ask(tcp, Self.registration([bearer])).0 == status)
        }
        let get = "GET /mcp/channels/general HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        #expect(try await Self.ask(tcp, get).0 == 401)
        await program.stop()
        // It is shown once.
        let again = try await place.start("-c", file)
        #expect(await again.logs("token      of general in \(name)"))
        await again.stop()
        #expect(!again.output.contains(token))
    }

    @Test func withoutAToken() async throws {
        let place = try Place()
        let program = try await place.start("--demo", "--client-tools-auth", "none")
        let tcp = SocketAddress(numeric: "127.0.0.1", port: place.port)
        #expect(try await Self.ask(tcp, Self.registration()).0 == 200)
        #expect(try await Self.ask(tcp, Self.registration(["Origin: https://evil.example"])).0 == 403)
        #expect(await program.logs("warning    "))
        // Only what Stream's clients use is open.
        let upgrade = "Connection: Upgrade\r\nUpgrade: mcp\r\nContent-Length: 0\r\n\r\n"
        let provider = "POST /providers?channel=c&client=d HTTP/1.1\r\nHost: 127.0.0.1\r\n" + upgrade
        #expect(
            try await Self.ask(tcp, provider.replacing("Upgrade\r\nUp", with: "Upgrade, close\r\nUp")).0
                == 401)
        await program.stop()
    }

    /// Whoever does not ask for it gets none of it.
    @Test func offByDefault() async throws {
        let place = try Place()
        let socket = "\(place.directory.path)/s.sock"
        let program = try await WatchedProgram(
            ["--demo", "--listen", "unix://\(socket)"], socket: socket, environment: place.environment)
        #expect(try await Self.ask(SocketAddress(unixPath: socket), Self.registration()).0 == 404)
        #expect(try Files.names(in: "\(place.directory.path)/run").names == [])
        #expect(try Files.names(in: "\(place.directory.path)/state").names == [])
        await program.stop()
    }

    // Fault row 95, for the socket of providers.
    @Test func theSocketOfProviders() async throws {
        let place = try Place()
        let program = try await place.start("--demo")
        #expect(try Files.info(place.providers).permissions == 0o600)
        #expect(try Files.info("\(place.directory.path)/run/mcpcore").permissions == 0o700)
        // A live one is refused.
        let launch = ProcessLaunch(
            try WatchedProgram.path(),
            ["--demo", "--client-tools", "--listen", "unix://\(place.directory.path)/other.sock"],
            environment: place.environment)
        let second = try await Offload.run { try ProcessRunner.run(launch, input: []) }
        #expect(second.status == .exited(3))
        #expect(String(decoding: second.errors, as: UTF8.self).contains("another server is using it"))
        // One that a killed server left is replaced.
        program.signal(SIGKILL)
        await program.stop()
        #expect(throws: Never.self) { try Files.info(place.providers) }
        let again = try await place.start("--demo")
        #expect(try await Self.ask(SocketAddress(unixPath: place.providers), Self.registration()).0 == 200)
        await again.stop()
        // Nobody finds a socket that leads nowhere.
        #expect(throws: IOError.self) { try Files.info(place.providers) }
    }

    @Test func mistakes() async throws {
        let place = try Place()
        place.environment["XDG_STATE_HOME"] = nil
        for (arguments, text) in [
            (["--demo", "--client-tools"], "no place for the providers' token"),
            (
                ["--demo", "--client-tools", "--stdio", "--channel", "a/b"],
                "\"a/b\" is not a channel name"
            ),
            (
                ["--demo", "--client-tools", "--stdio", "--channel", "messaging:a"],
                "\"messaging:a\" is not a channel name"
            ),
            (
                ["--demo", "--stdio", "--listen", "127.0.0.1:1"],
                "--stdio and --listen cannot be combined without --client-tools"
            ),
            (["--demo", "--channel", "a", "--stdio"], "--channel has no effect without --client-tools"),
        ] {
            let launch = ProcessLaunch(try WatchedProgram.path(), arguments, environment: place.environment)
            let outcome = try await Offload.run { try ProcessRunner.run(launch, input: []) }
            #expect(outcome.status == .exited(2))
            #expect(String(decoding: outcome.errors, as: UTF8.self).hasPrefix("mcp-server: \(text)"))
        }
    }

    // MARK: Providers

    private static func provider(_ channel: String, at path: String) -> (
        ClientToolProvider, Task<Void, Never>
    ) {
        let server = MCPServer("app", version: "1")
        server.addTool("greet", "Greets", Argument("who")) { (who: String) in "Hello \(who)" }
        let provider = ClientToolProvider(
            server: server, channel: channel, clientID: "phone", address: .unix(path: path))
        return (provider, Task { try? await provider.run() })
    }

    private static func sees(_ tool: String, _ client: MCPClient) async -> Bool {
        for _ in 0 ..< 2_000 {
            if let names = try? await names(client), names.contains(tool) { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    private static func call(_ client: MCPClient) async throws -> String? {
        let result = try await client.callTool("greet", ["who": "you"])
        return result.text
    }

    /// A server on standard input and output opens a socket only when it is told to, and serves one channel.
    // C25
    @Test(arguments: [ProtocolVersion.v2026_07_28, .v2025_11_25]) func stdio(_ version: ProtocolVersion)
        async throws
    {
        let place = try Place()
        let socket = "\(place.directory.path)/deep/er/p.sock"
        var options = ClientOptions()
        options.protocol = .exactly(version)
        let client = try await MCPClient.connect(
            .command(
                try WatchedProgram.path(),
                [
                    "--demo", "--client-tools", "--stdio", "--channel", "general", "--providers-socket",
                    socket,
                ], environment: place.environment), options: options)
        #expect(try Files.info(socket).permissions == 0o600)
        let (_, other) = Self.provider("elsewhere", at: socket)
        let (_, running) = Self.provider("general", at: socket)
        #expect(await Self.sees("greet", client))
        #expect(try await Self.call(client) == "Hello you")
        let agent = try await MCPClient.connect(
            .unix(path: socket, endpoint: "/mcp/channels/elsewhere"), options: options)
        #expect(await Self.sees("greet", agent))
        await agent.close()
        for task in [other, running] { task.cancel() }
        await client.close()
        #expect(await eventually { (try? Files.info(socket)) == nil })
        // No token where nothing but the socket is listened on.
        #expect(try Files.names(in: "\(place.directory.path)/state").names == [])
    }

    /// Beside standard input and output programs come over TCP where it is asked for, and show the token.
    // C25
    @Test func stdioWithAnAddressForProviders() async throws {
        let place = try Place()
        let client = try await MCPClient.connect(
            .command(
                try WatchedProgram.path(),
                [
                    "--demo", "--client-tools", "--stdio", "--channel", "general", "--listen",
                    "127.0.0.1:\(place.port)",
                ], environment: place.environment))
        let tcp = SocketAddress(numeric: "127.0.0.1", port: place.port)
        #expect(try await Self.ask(tcp, Self.registration()).0 == 401)
        let token = String(decoding: try Files.read(place.tokenFile, maxBytes: 1_000), as: UTF8.self)
        let bearer = "Authorization: Bearer " + token.filter { !$0.isNewline }
        #expect(try await Self.ask(tcp, Self.registration([bearer])).0 == 200)
        #expect(await Self.sees("greet", client))
        await client.close()
    }

    /// A reload changes what every channel offers, and leaves the tools of programs alone.
    @Test func reload() async throws {
        let place = try Place()
        let file = "\(place.directory.path)/mcp.jsonc"
        try place.directory.write("mcp.jsonc", #"{"clientTools": {}, "tools": {"one": {"exec": ["true"]}}}"#)
        let program = try await WatchedProgram(
            ["-c", file, "--listen", "127.0.0.1:\(place.port)"], environment: place.environment)
        let (_, running) = Self.provider("general", at: place.providers)
        let url = "http://127.0.0.1:\(place.port)/mcp"
        let main = try await MCPClient.connect(.http(url))
        let general = try await MCPClient.connect(.http(url + "/channels/general"))
        #expect(await Self.sees("greet", general))
        #expect(try await Self.names(general) == ["greet", "one"])
        #expect(try await Self.names(main) == ["one"])
        try place.directory.write("mcp.jsonc", #"{"clientTools": {}, "tools": {"two": {"exec": ["true"]}}}"#)
        program.signal(SIGHUP)
        #expect(await program.logs("+tool two -tool one"))
        #expect(try await Self.names(general) == ["greet", "two"])
        #expect(try await Self.names(main) == ["two"])
        #expect(try await Self.call(general) == "Hello you")
        running.cancel()
        await main.close()
        await general.close()
        await program.stop()
    }
}
