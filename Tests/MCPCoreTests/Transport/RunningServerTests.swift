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

/// The beginning and the end of a server: all of it or nothing, once.
@Suite(.timeLimit(.minutes(5))) struct RunningServerTests {
    private static func isReachable(_ path: String) -> Bool {
        guard let address = SocketAddress(unixPath: path),
            let socket = try? Syscalls.streamSocket(address.domain)
        else { return false }
        return (try? Syscalls.connect(socket.rawValue, to: address)) != nil
    }

    private static func http(_ path: String, loops: Int = 2) -> ServerTransport {
        var options = HTTPServerOptions()
        options.loops = loops
        options.drainTimeout = .seconds(2)
        return .http(.unix(path: path), options: options)
    }

    @Test func aStartThatFailsServesNothing() async throws {
        let folder = TemporaryDirectory()
        let (free, taken) = ("\(folder.path)/free", "\(folder.path)/taken")
        let other = try MCPServer("other", version: "1").start([Self.http(taken)])
        let server = MCPServer("s", version: "1")
        #expect(throws: ListenError.self) { try server.start([Self.http(free), Self.http(taken)]) }
        #expect(!Self.isReachable(free))
        await other.stop()
        let running = try server.start([Self.http(free), Self.http(taken)])
        #expect(Self.isReachable(free) && Self.isReachable(taken))
        await running.stop()
    }

    #if DEBUG
    /// The first call to go on fails as well.
    @Test func aListenerThatRestsGoesOn() async throws {
        let folder = TemporaryDirectory()
        let path = "\(folder.path)/s"
        let address = SocketAddress(unixPath: path)
        let running = try MCPServer("s", version: "1").start([Self.http(path, loops: 1)])
        let state = Mutex((changes: 0, failed: [String]()))
        try await FaultInjection.during { function, fd in
            let isChange = function == "epoll_ctl" || function == "kevent"
            guard isChange || function == "accept", fd >= 0, (try? Syscalls.localAddress(fd)) == address
            else { return nil }
            return state.withLock { state in
                if isChange { state.changes += 1 }
                // Accepting fails, the listener rests by the first change, and the second is to end that.
                let fails = isChange ? state.changes == 2 : state.failed.isEmpty
                if fails { state.failed.append(function) }
                return fails ? ENOBUFS : nil
            }
        } _: {
            let client = try await MCPClient.connect(.unix(path: path))
            _ = try await client.ping()
            await client.close()
        }
        #expect(state.withLock { $0.failed.count } == 2)
        await running.stop()
    }

    @Test func aListenerThatCannotBeWatchedFailsTheStart() async throws {
        let folder = TemporaryDirectory()
        let path = "\(folder.path)/s"
        let address = SocketAddress(unixPath: path)
        // The listening socket of this test, whatever else is watched at the same time.
        let server = MCPServer("s", version: "1")
        await FaultInjection.during { function, fd in
            guard function == "epoll_ctl" || function == "kevent", fd >= 0,
                (try? Syscalls.localAddress(fd)) == address
            else { return nil }
            return ENOSPC
        } _: {
            #expect(throws: ListenError.self) { try server.start([Self.http(path)]) }
            #expect(!Self.isReachable(path))
        }
        let running = try server.start([Self.http(path)])
        #expect(Self.isReachable(path))
        await running.stop()
    }
    #endif

    @Test func aStopThatIsOnlyAskedForHappens() async throws {
        let folder = TemporaryDirectory()
        let path = "\(folder.path)/s"
        let running = try MCPServer("s", version: "1").start([Self.http(path)])
        #expect(running.requestStop())
        #expect(!running.requestStop())
        for _ in 0 ..< 10_000 where Self.isReachable(path) { await pause() }
        #expect(!Self.isReachable(path))
    }

    @Test func manyMayStopItAtTheSameTime() async throws {
        let folder = TemporaryDirectory()
        let test = try TestServer()
        let path = "\(folder.path)/s"
        let running = try test.server.start([Self.http(path)])
        let client = try await MCPClient.connect(.unix(path: path))
        async let answer = client.callTool("wait", ["name": "d"])
        #expect(await test.begun("d").wait())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0 ..< 4 { group.addTask { await running.stop() } }
            // What changes meanwhile is told to nobody, or to those who are still there.
            for number in 0 ..< 20 {
                group.addTask { test.server.addTool("t\(number)", "x") { () in "x" } }
            }
            test.release.open()
        }
        await running.stop()
        #expect(try await answer.content.first == .text("released d"))
        await client.close()
    }

    @Test func aStopThatComesBeforeTheStartIsNotLost() async throws {
        let folder = TemporaryDirectory()
        let stop = StopRequest()
        #expect(stop.request())
        let running = try MCPServer("s", version: "1").start([Self.http("\(folder.path)/s")])
        stop.attach(running)
        await running.waitUntilEnded()
        #expect(!stop.request())
    }

    /// The way in which groups of services end theirs.
    @Test func aCancelledRunEndsInOrder() async throws {
        let folder = TemporaryDirectory()
        let path = "\(folder.path)/s"
        let server = MCPServer("s", version: "1")
        let task = Task { try await server.run(Self.http(path)) }
        #expect(await comesTrue { (try? Files.info(path)) != nil })
        task.cancel()
        try await task.value
        #expect((try? Files.info(path)) == nil)
    }

    @Test func aLoopThatHasEndedKeepsNothing() async throws {
        final class Handler: EventHandler {}
        let loop = try EventLoop(label: "test.ended")
        loop.start()
        loop.stop()
        loop.waitUntilStopped()
        weak var timer: LoopTimer?
        timer = loop.schedule(after: .seconds(60)) {}
        #expect(timer == nil)
        weak var handler: Handler?
        let (ours, theirs) = try Syscalls.socketPair()
        defer { for end in [ours, theirs] { Syscalls.close(end) } }
        #expect(throws: IOError.self) {
            let made = Handler()
            handler = made
            _ = try loop.register(ours, .readable, made)
        }
        #expect(handler == nil)
    }

    // MARK: The loops of clients

    /// A server whose tool says whether it runs on a loop that clients use.
    private static func makeServer(sharesLoops: Bool) throws -> MCPServer {
        var options = ServerOptions()
        options.sharesLoops = sharesLoops
        let server = MCPServer("near", version: "1", options: options)
        try server.register(Tool("place")) { _, _ in
            let isShared = try SharedLoops.first(1)[0].isOnLoop
            return .text(isShared ? "shared" : "own")
        }
        return server
    }

    @Test(arguments: [true, false]) func handlersRunOnTheLoopOfClients(isShared: Bool) async throws {
        let folder = TemporaryDirectory()
        let path = "\(folder.path)/s"
        let running = try Self.makeServer(sharesLoops: isShared).start([Self.http(path, loops: 1)])
        let client = try await MCPClient.connect(.unix(path: path))
        #expect(try await client.callTool("place").text == (isShared ? "shared" : "own"))
        await client.close()
        await running.stop()
    }

    /// The connection of an idle client is closed, and the loops go on: for the client of another server, and
    /// for a server at the same address.
    @Test func loopsGoOnWhenAServerEnds() async throws {
        let folder = TemporaryDirectory()
        let (first, second) = ("\(folder.path)/first", "\(folder.path)/second")
        let ending = try Self.makeServer(sharesLoops: true).start([Self.http(first, loops: 1)])
        let staying = try Self.makeServer(sharesLoops: true).start([Self.http(second, loops: 1)])
        let idle = try await MCPClient.connect(.unix(path: first))
        let busy = try await MCPClient.connect(.unix(path: second))
        #expect(try await idle.callTool("place").text == "shared")
        await ending.stop()
        #expect(ending.connectionCount == 0)
        await #expect(throws: ClientError.self) { try await idle.callTool("place") }
        #expect(try await busy.callTool("place").text == "shared")
        let again = try Self.makeServer(sharesLoops: true).start([Self.http(first, loops: 1)])
        #expect(try await idle.callTool("place").text == "shared")
        for client in [idle, busy] { await client.close() }
        await staying.stop()
        await again.stop()
    }

    /// Calls pass from the server to the one behind it and back on one thread, in both directions at once.
    @Test func callsArePassedOn() async throws {
        let folder = TemporaryDirectory()
        let (far, near) = ("\(folder.path)/far", "\(folder.path)/near")
        let behind = try Self.makeServer(sharesLoops: true).start([Self.http(far, loops: 1)])
        var options = ServerOptions()
        options.sharesLoops = true
        let server = MCPServer("near", version: "1", options: options)
        let group = UpstreamGroup()
        group.set([Upstream("far", .unix(path: far))])
        group.serve(through: server)
        let running = try server.start([Self.http(near, loops: 1)])
        let client = try await MCPClient.connect(.unix(path: near))
        try await withThrowingTaskGroup { tasks in
            for _ in 0 ..< 50 {
                tasks.addTask {
                    let answer = try await client.callTool("place")
                    #expect(answer.text == "shared")
                }
            }
            try await tasks.waitForAll()
        }
        await client.close()
        await running.stop()
        // Its connection to the server behind it has not ended with it.
        #expect(group.statuses.map(\.state) == [.ready])
        await group.stop()
        await behind.stop()
    }
}
