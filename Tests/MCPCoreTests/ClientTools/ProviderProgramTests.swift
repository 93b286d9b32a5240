import Synchronization
import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Programs behind a provider, when the connection that they serve ends.
@Suite(.timeLimit(.minutes(5))) struct ProviderProgramTests {
    /// Lets connections in and ends them at once.
    private final class ClosingHandler: HTTPRequestHandler {
        let connections = Counter()

        func handles(path: String) -> Bool { path == "/providers" }

        func respond(to request: HTTPRequest) async -> HTTPResponse {
            .upgrade(to: "mcp") { [connections] socket in
                _ = FileDescriptor(owning: socket.release())
                connections.increment()
            }
        }
    }

    /// Says its number in a file and reads nothing, whatever happens to its input.
    private static func stubborn(_ file: String) -> ProcessLaunch {
        ProcessLaunch("sh", ["-c", "trap '' TERM; echo $$ >>\(file); while :; do sleep 10; done"])
    }

    private static func numbers(_ file: String) -> [Int32] {
        let text = (try? Files.read(file, maxBytes: 1_000)).map { String(decoding: $0, as: UTF8.self) }
        return text?.split(separator: "\n").compactMap { Int32($0) } ?? []
    }

    /// Waits until the program has begun this many times, for 20 s at most.
    private static func begun(_ file: String, _ count: Int) async -> Bool {
        for _ in 0 ..< 4_000 {
            if numbers(file).count >= count { return true }
            await pause()
        }
        return false
    }

    /// Runs a program on one end of a connection, and ends this from the other side or by cancellation.
    private static func status(
        of launch: ProcessLaunch, grace: Duration, isCancelled: Bool, whenBegun: () async -> Bool
    ) async throws -> ProcessExit? {
        let (one, end) = try Syscalls.socketPair()
        let other = FileDescriptor(owning: end)
        let loop = try EventLoop(label: "test.program")
        loop.start()
        defer { loop.stop() }
        let program = try ProviderProgram(launch, on: FileDescriptor(owning: one), loop: loop, grace: grace)
        let run = Task { await program.run() }
        #expect(await whenBegun())
        if isCancelled { run.cancel() } else { shutdown(other.rawValue, Int32(SHUT_WR)) }
        return await run.value
    }

    // C12
    @Test func aProgramThatIgnoresTheEndHoldsNothingUp() async throws {
        let folder = TemporaryDirectory()
        let file = folder.path + "/pids"
        let handler = ClosingHandler()
        var options = HTTPServerOptions()
        options.loops = 1
        let running = try HTTPServer(on: [.unix(path: folder.path + "/s")], options: options)
        try running.start(handler)
        let provider = ClientToolProvider(
            .program(Self.stubborn(file)), channel: "a", clientID: "p",
            address: .unix(path: folder.path + "/s"), token: { nil }, firstPause: .milliseconds(10),
            programGrace: .milliseconds(50), onEvent: nil)
        let run = Task { try await provider.run() }
        #expect(await Self.begun(file, 2))
        // The one before is gone, and reaped.
        let first = try #require(Self.numbers(file).first)
        #expect(kill(first, 0) == -1 && errno == ESRCH)
        run.cancel()
        try await run.value
        for number in Self.numbers(file) { #expect(kill(number, 0) == -1) }
        await running.stop()
    }

    @Test(arguments: [false, true])
    func aProgramThatEndsWithItsInputIsLeftAlone(_ isCancelled: Bool) async throws {
        let start = ContinuousClock.now
        let status = try await Self.status(
            of: ProcessLaunch("cat"), grace: .seconds(20), isCancelled: isCancelled, whenBegun: { true })
        #expect(status == nil)
        #expect(ContinuousClock.now - start < .seconds(15))
    }

    @Test(arguments: [false, true])
    func aProgramThatIgnoresEverythingIsKilled(_ isCancelled: Bool) async throws {
        let folder = TemporaryDirectory()
        let file = folder.path + "/pids"
        let status = try await Self.status(
            of: Self.stubborn(file), grace: .milliseconds(50), isCancelled: isCancelled,
            whenBegun: { await Self.begun(file, 1) })
        #expect(status == nil)
        let number = try #require(Self.numbers(file).first)
        #expect(kill(number, 0) == -1 && errno == ESRCH)
    }

    // MARK: Once

    static func daemon(_ folder: TemporaryDirectory) throws -> (ClientToolHub, RunningServer) {
        let hub = ClientToolHub { _ in MCPServer("d", version: "1") }
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .seconds(1)
        let endpoints = ClientToolEndpoints(hub, token: nil)
        let transport = ServerTransport.http(
            .unix(path: folder.path + "/s"), servers: endpoints, handler: endpoints, options: options)
        return (hub, try hub.server().start([transport]))
    }

    private static func provider(_ offer: ClientToolProvider.Offer, _ folder: TemporaryDirectory)
        -> ClientToolProvider
    {
        ClientToolProvider(
            offer, channel: "a", clientID: "p", address: .unix(path: folder.path + "/s"), token: { nil },
            programGrace: .milliseconds(50), onEvent: nil)
    }

    @Test func onceUntilTheDaemonEndsTheConnection() async throws {
        let folder = TemporaryDirectory()
        let (hub, running) = try Self.daemon(folder)
        let provider = Self.provider(.server(try HubFixture.provider([HubFixture.tool("t")])), folder)
        let run = Task { try await provider.runOnce() }
        for _ in 0 ..< 4_000 where await hub.counts.tools == 0 { await pause() }
        await hub.stop()
        let error = await clientError { try await run.value }
        #expect(error?.kind == .connectionClosed)
        #expect(error?.message.hasSuffix("closed the connection") == true)
        await running.stop()
        let nobody = await clientError { try await provider.runOnce() }
        #expect(nobody?.kind == .cannotConnect)
    }

    // D9: it was the program that ended, not the daemon.
    @Test func theEndOfTheProgramIsNamed() async throws {
        let folder = TemporaryDirectory()
        let (_, running) = try Self.daemon(folder)
        let (failures, tell) = AsyncStream.makeStream(of: ClientError.self)
        let provider = ClientToolProvider(
            .program(ProcessLaunch("sh", ["-c", "exit 7"])), channel: "a", clientID: "p",
            address: .unix(path: folder.path + "/s"), token: { nil }, firstPause: .milliseconds(10),
            programGrace: .milliseconds(50),
            onEvent: { if case .disconnected(let error, _) = $0 { tell.yield(error) } })
        let run = Task { try await provider.run() }
        for await error in failures {
            #expect(error.message == "the offered program sh exited with status 7")
            break
        }
        run.cancel()
        try await run.value
        await running.stop()
    }

    /// Answers as a server of the handshake revisions without tools.
    private static func serverWithoutTools(_ file: String) -> ProcessLaunch {
        let script = #"""
            echo $$ >>'FILE'
            while read -r line; do
                id=${line#*\"id\":}; id=${id%%,*}
                case "$line" in
                *\"initialize\"*) result='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}' ;;
                *\"tools/list\"*) result='"result":{"tools":[]}' ;;
                *\"id\":*) result='"error":{"code":-32601,"message":"Method not found"}' ;;
                *) continue ;;
                esac
                echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$result}"
            done
            """#
        return ProcessLaunch("sh", ["-c", script.replacing("FILE", with: file)])
    }

    // D9: a server whose tools were listed worked, although it has none: it may end, and is started again.
    @Test func aServerWithoutToolsThatEnds() async throws {
        let folder = TemporaryDirectory()
        let file = folder.path + "/pids"
        let (_, running) = try Self.daemon(folder)
        let (events, tell) = AsyncStream.makeStream(of: ClientToolProvider.Event.self)
        let provider = ClientToolProvider(
            .program(Self.serverWithoutTools(file)), channel: "a", clientID: "p",
            address: .unix(path: folder.path + "/s"), token: { nil }, firstPause: .milliseconds(10),
            programGrace: .milliseconds(50), onEvent: { tell.yield($0) })
        let run = Task { try await provider.run() }
        var reports = 0
        for await event in events {
            switch event {
            case .connected: continue
            case .registered(let report):
                #expect(report.tools.isEmpty && report.problem == nil)
                reports += 1
                if reports == 1 { kill(try #require(Self.numbers(file).last), SIGKILL) }
            case .disconnected(let error, _):
                #expect(error.message.hasPrefix("the offered program sh "), "\(error)")
                #expect(reports == 1 && !error.isEndOfProgram)
            }
            if reports == 2 { break }
        }
        #expect(reports == 2 && Self.numbers(file).count == 2)
        run.cancel()
        try await run.value
        await running.stop()
    }

    @Test func onceUntilItIsStopped() async throws {
        let folder = TemporaryDirectory()
        let (hub, running) = try Self.daemon(folder)
        let provider = Self.provider(.server(try HubFixture.provider([HubFixture.tool("t")])), folder)
        let run = Task { try await provider.runOnce() }
        for _ in 0 ..< 4_000 where await hub.counts.tools == 0 { await pause() }
        #expect(await hub.counts.tools == 1)
        run.cancel()
        try await run.value
        await running.stop()
    }

    @Test(arguments: [(0, nil), (3, "the offered program sh exited with status 3")])
    func onceUntilTheProgramEnds(_ status: Int, _ message: String?) async throws {
        let folder = TemporaryDirectory()
        let (_, running) = try Self.daemon(folder)
        let provider = Self.provider(
            .program(ProcessLaunch("sh", ["-c", "read line; exit \(status)"])), folder)
        let error = await clientError { try await provider.runOnce() }
        #expect(error?.message == message)
        #expect(error?.kind == (message == nil ? nil : .connectionClosed))
        await running.stop()
    }
}
