import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

#if os(Linux)
/// What a service manager is told, and the sockets that it passes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ServiceProgramTests {
    /// A socket like that of systemd.
    private final class Manager: Sendable {
        let descriptor: Int32

        /// - Parameter name: a path, or a name after `@`.
        init(_ name: String) throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(name.utf8)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
                unsafe room.copyBytes(from: bytes)
                if bytes.first == UInt8(ascii: "@") { unsafe room[0] = 0 }
            }
            let size = bytes.first == UInt8(ascii: "@") ? 2 + bytes.count : MemoryLayout<sockaddr_un>.size
            let status = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(size))
                }
            }
            try #require(status == 0)
            var time = timeval(tv_sec: 20, tv_usec: 0)
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        }

        deinit { close(descriptor) }

        /// The next message other than signs of life; empty after 20 s.
        func next(skipping skipped: String = "WATCHDOG=1") async throws -> String {
            try await Offload.run { [descriptor] in
                while true {
                    var buffer = [UInt8](repeating: 0, count: 4_096)
                    let count = uninterrupted {
                        unsafe buffer.withUnsafeMutableBytes {
                            unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
                        }
                    }
                    let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
                    if text != skipped { return text }
                }
            }
        }
    }

    private func program(
        _ directory: TemporaryDirectory, _ environment: [String: String]
    ) async throws -> WatchedProgram {
        try directory.write("mcp.jsonc", #"{ "tools": { "t": { "exec": ["true"] } } }"#)
        let all = WatchedProgram.environment.merging(environment) { $1 }
        return try await WatchedProgram(
            ["-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(directory.path)/s.sock"],
            socket: "\(directory.path)/s.sock", environment: all)
    }

    @Test(arguments: [false, true]) func notifications(isAbstract: Bool) async throws {
        let directory = try TemporaryDirectory()
        let name = isAbstract ? "@mcp-test-\(UInt64.random(in: .min ... .max))" : "\(directory.path)/notify"
        let manager = try Manager(name)
        let program = try await program(directory, ["NOTIFY_SOCKET": name])
        #expect(try await manager.next() == "READY=1\nSTATUS=1 tool")
        program.signal(SIGHUP)
        let reloading = try await manager.next()
        let time = reloading.split(separator: "=").last.flatMap { Int64($0) } ?? 0
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") && time > 0, "\(reloading)")
        #expect(try await manager.next() == "READY=1\nSTATUS=running")
        try directory.write("mcp.jsonc", "{")
        #expect(try await manager.next().hasPrefix("RELOADING=1\n"))
        // The first contents of the file may have been read once more before.
        var state = try await manager.next()
        while state.hasPrefix("RELOADING=1\n") || state == "READY=1\nSTATUS=running" {
            state = try await manager.next()
        }
        #expect(state.hasPrefix("READY=1\nSTATUS=running; not reloaded: "), "\(state)")
        program.signal(SIGTERM)
        // The change of the file may be seen twice, and read twice.
        var last = try await manager.next()
        while last.hasPrefix("RELOADING=1") || last.hasPrefix("READY=1") { last = try await manager.next() }
        #expect(last == "STOPPING=1\nSTATUS=draining")
        #expect(await program.wait() == .exited(0))
    }

    @Test func signsOfLife() async throws {
        let directory = try TemporaryDirectory()
        let manager = try Manager("\(directory.path)/notify")
        let program = try await program(
            directory, ["NOTIFY_SOCKET": "\(directory.path)/notify", "WATCHDOG_USEC": "100000"])
        #expect(try await manager.next(skipping: "").hasPrefix("READY=1"))
        var signs = 0
        while signs < 3 {
            let message = try await manager.next(skipping: "")
            if message == "WATCHDOG=1" {
                signs += 1
            } else {
                // The file has just been written, which the watch may see.
                try #require(
                    message.hasPrefix("RELOADING=1") || message.hasPrefix("READY=1"), "\(message)")
            }
        }
        await program.stop()
    }

    @Test func thoseOfAnotherProcessAreNotSent() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/notify"
        let manager = ServiceManager([
            "NOTIFY_SOCKET": path, "WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1",
        ])
        #expect(manager != nil && manager?.watchdog == nil)
        #expect(ServiceManager([:]) == nil && ServiceManager(["NOTIFY_SOCKET": "relative"]) == nil)
        // Nobody is there: no harm.
        manager?.ready("x")
    }

    /// Starts the program of a directory as systemd does it: with descriptors from 3 on, and variables that
    /// name the process.
    ///
    /// - Parameters:
    ///   - sockets: the names of the sockets' files, with those of the sockets.
    ///   - isReplaced: whether the first file is replaced by another one.
    private func start(
        _ directory: TemporaryDirectory, passing sockets: KeyValuePairs<String, String>,
        isReplaced: Bool = false
    ) async throws -> ChildProcess {
        let script = """
            import os, socket, sys
            directory, program, is_replaced, names = sys.argv[1:5]
            files = sys.argv[5:]
            made = []
            for name in files:
                made.append(socket.socket(socket.AF_UNIX))
                made[-1].bind(directory + "/" + name)
                made[-1].listen(8)
            if is_replaced == "true":
                os.rename(directory + "/" + files[0], directory + "/moved.sock")
                open(directory + "/" + files[0], "w").close()
            open(directory + "/made", "w").close()
            kept = [os.dup(each.fileno()) for each in made]
            # Out of the way of the numbers that they get.
            kept = [os.dup2(number, 50 + index) for index, number in enumerate(kept)]
            for index, number in enumerate(kept): os.dup2(number, 3 + index, inheritable=True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(files)), LISTEN_FDNAMES=names)
            os.execv(program, [program, "-c", directory + "/mcp.jsonc"])
            """
        try directory.write("manager.py", script)
        let names = sockets.map(\.value).joined(separator: ":")
        var launch = ProcessLaunch(
            "python3",
            [
                "\(directory.path)/manager.py", directory.path, try WatchedProgram.path(), "\(isReplaced)",
                names,
            ] + sockets.map(\.key), environment: WatchedProgram.environment)
        launch.input = .null
        launch.output = .null
        launch.errors = .null
        let child = try ChildProcess(launch)
        // The sockets listen before the program runs: a client waits in their queues.
        #expect(await eventually { (try? Files.info("\(directory.path)/made")) != nil })
        return child
    }

    /// The socket of providers is one of those that a manager can pass, and no further address for clients.
    @Test func aPassedSocketOfProviders() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            """
            { "listen": ["unix://\(directory.path)/s.sock"], "tools": { "t": { "exec": ["true"] } },
              "clientTools": { "providersSocket": "providers.sock", "tokenFile": "providers.token" } }
            """)
        let child = try await start(directory, passing: ["providers.sock": ""])
        for name in ["providers.sock", "s.sock"] {
            #expect(await eventually { (try? Files.info("\(directory.path)/\(name)")) != nil })
            let client = try await MCPClient.connect(.unix(path: "\(directory.path)/\(name)"))
            #expect(try await client.listTools().map(\.name) == ["t"])
            await client.close()
        }
        child.signal(SIGTERM)
        #expect(await child.wait() == .exited(0))
        // The one is the manager's, the other the server's own.
        #expect((try? Files.info("\(directory.path)/providers.sock")) != nil)
        #expect((try? Files.info("\(directory.path)/s.sock")) == nil)
    }

    /// The manager's sockets are used, in place of own ones at their addresses; they are not removed. What is at
    /// the paths, such as a socket of root, is no matter.
    @Test(arguments: [(true, false), (false, false), (true, true)])
    func passedSockets(isNamed: Bool, isReplaced: Bool) async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/passed.sock"
        let listen = isNamed ? "\"listen\": [\"unix://\(path)\"]," : ""
        try directory.write(
            "mcp.jsonc",
            "{ \(listen) \"admin\": {}, \"tools\": { \"t\": { \"exec\": [\"true\"] } } }")
        let child = try await start(
            directory, passing: ["passed.sock": "mcp", "operators.sock": "admin"], isReplaced: isReplaced)
        let client = try await MCPClient.connect(
            .unix(path: isReplaced ? "\(directory.path)/moved.sock" : path))
        #expect(try await client.listTools().map(\.name) == ["t"])
        await client.close()
        let address = try ConfiguredAddress(unixPath: "\(directory.path)/operators.sock")
        // It answers before it is ready.
        while try await AdminClient(address: address).send("GET", "/readyz").status == 503 {}
        #expect(try await AdminClient(address: address).send("GET", "/readyz").status == 200)
        child.signal(SIGTERM)
        #expect(await child.wait() == .exited(0))
        // They are the manager's.
        #expect(
            (try? Files.info(path)) != nil && (try? Files.info("\(directory.path)/operators.sock")) != nil)
    }

    @Test func whatIsNoSocketIsRefused() throws {
        #expect(throws: ListenError.self) { try ListenAddress.inherited(0) }
        #expect(try PassedSockets(["LISTEN_PID": "1", "LISTEN_FDS": "1"]).sockets.isEmpty)
        #expect(try PassedSockets([:]).sockets.isEmpty)
    }
}
#endif
