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

// What one connection and one listener do, with both ends of their sockets in the hands of the test.

/// A connection that nobody has accepted: the test holds the other end of its socket.
private final class LooseConnection: Sendable {
    let connection: HTTPConnection
    private let loop: EventLoop
    private let end: FileDescriptor

    init(
        _ server: MCPServer, _ options: HTTPServerOptions, clock: any TimeSource = SystemClock()
    ) throws {
        let (mine, theirs) = try Syscalls.socketPair()
        end = FileDescriptor(owning: mine)
        // What the system takes is as little as it can be.
        try Syscalls.setOption(theirs, SOL_SOCKET, SO_SNDBUF, 4_096)
        loop = try EventLoop(label: "test.connection", clock: clock)
        let set = ConnectionSet(loop: loop, counter: ConnectionCounter(limit: 10))
        var resources = HTTPServerResources()
        resources.maxOutputBytes = server.probe.limits.maxOutputBytes
        let context = ConnectionContext(
            handler: StreamableEndpoint(server: server), policy: .unixSocket, options: options,
            resources: resources, memory: server.dispatcher.memory)
        connection = HTTPConnection(
            FileDescriptor(owning: theirs), loop: loop, context: context,
            identifier: ConnectionNumber.next(), siblings: set)
        loop.start()
        loop.execute { [connection] in set.insert(connection) }
    }

    func stop() {
        loop.stop()
        loop.waitUntilStopped()
    }

    /// How many bytes the system takes at once.
    func send(_ bytes: ArraySlice<UInt8>) throws -> Int {
        unsafe try bytes.withUnsafeBytes { (bytes) throws(IOError) in
            unsafe try Syscalls.send(end.rawValue, bytes)
        } ?? 0
    }

    /// Nil when there is nothing at the moment, none at the end.
    func receive(_ count: Int) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: count)
        let taken = unsafe piece.withUnsafeMutableBytes { (room) -> Int? in
            do throws(IOError) { return unsafe try Syscalls.receive(end.rawValue, into: room) } catch {
                return 0
            }
        }
        return taken.map { Array(piece.prefix($0)) }
    }

    /// What the connection has read and not used yet.
    func held() async -> Int {
        await withCheckedContinuation { continuation in
            loop.execute { [connection] in continuation.resume(returning: connection.input.count) }
        }
    }
}

extension LimitProofs {
    /// Up to the limit everything is read ahead; beyond it the rest stays in the socket until the answer.
    @Sendable static func readAhead() async throws {
        let limit = HTTPConnection.readBytes
        let call = Array(
            HTTPServerTests.post(
                HTTPServerTests.body("tools/call", #""name":"wait","arguments":{"name":"r"}"#),
                method: "tools/call", more: "Mcp-Name: wait\r\n"
            ).utf8)
        let next = Array(question.utf8)
        for count in [limit / next.count, 8 * limit / next.count] {
            let test = try TestServer()
            let loose = try LooseConnection(test.server, patient { _ in })
            var bytes = (call + Array((0 ..< count).map { _ in next }.joined()))[...]
            let ahead = count * next.count
            // Whatever the system and the server take.
            var quiet = 0
            while !bytes.isEmpty, quiet < 50 {
                let taken = try loose.send(bytes)
                bytes = bytes.dropFirst(taken)
                quiet = taken > 0 ? 0 : quiet + 1
                if taken == 0 { try await Task.sleep(for: .milliseconds(2)) }
            }
            #expect(await test.begun("r").wait())
            if ahead <= limit {
                var held = await loose.held()
                for _ in 0 ..< 5_000 where held < ahead { held = await loose.held() }
                #expect(held == ahead && bytes.isEmpty)
            } else {
                // One read more than the limit leaves room for has 1 KiB.
                #expect((limit ..< limit + 1_024).contains(await loose.held()))
                #expect(!bytes.isEmpty)
            }
            test.release.open()
            var heard: [UInt8] = []
            var (looked, answered) = (0, 0)
            let mark = Array("HTTP/1.1 200".utf8)
            func look() {
                let end = max(looked, heard.count - mark.count + 1)
                answered += (looked ..< end).count {
                    heard[$0] == mark[0] && heard[$0...].starts(with: mark)
                }
                looked = end
            }
            let clock = ContinuousClock()
            let end = clock.now + .seconds(30)
            while clock.now < end {
                bytes = bytes.dropFirst(try loose.send(bytes))
                guard let piece = loose.receive(1 << 16) else {
                    look()
                    if bytes.isEmpty, answered == count + 1 { break }
                    try await Task.sleep(for: .milliseconds(1))
                    continue
                }
                if piece.isEmpty { break }
                heard += piece
            }
            look()
            #expect(answered == count + 1)
            loose.stop()
        }
    }

    /// Who takes as much as it has to within the time gets its answer, however long that takes; who takes less
    /// is cut off, though it never stops reading.
    @Sendable static func slowReaders() async throws {
        let server = try TestServer().server
        let text = String(repeating: "x", count: 1 << 20)
        server.addTool("large", "", schema: #"{"type":"object"}"#) { _, _, out in out.text(text) }
        let call = Array(
            HTTPServerTests.post(
                HTTPServerTests.body("tools/call", #""name":"large","arguments":{}"#), method: "tools/call",
                more: "Mcp-Name: large\r\n"
            ).utf8)
        let limit = Duration.milliseconds(500)
        // At least 64 KiB within the limit, and 5 KiB.
        for (piece, isServed) in [(16 << 10, true), (256, false)] {
            let clock = ManualClock()
            let loose = try LooseConnection(server, patient { $0.writeTimeout = limit }, clock: clock)
            #expect(try loose.send(call[...]) == call.count)
            let end = ContinuousClock.now + .seconds(60)
            var (heard, isOver) = (0, false)
            while !isOver, heard < text.utf8.count, ContinuousClock.now < end {
                guard let taken = loose.receive(piece) else {
                    // For the loop to write more, or to notice the time.
                    _ = await loose.held()
                    continue
                }
                heard += taken.count
                isOver = taken.isEmpty
                clock.advance(by: .milliseconds(20))
            }
            #expect(isServed ? heard >= text.utf8.count : isOver && heard < text.utf8.count / 4, "\(heard)")
            #expect(clock.now > MonotonicInstant(nanoseconds: 0) + limit)
            loose.stop()
        }
    }

    @Sendable static func descriptors() async throws {
        let kept = HTTPServer.keptDescriptors
        for (files, connections) in [
            (1_000 + kept, 1_000), (1_001 + kept, 1_000), (999 + kept, 999), (kept, 16),
        ] {
            let limit = HTTPServer.connectionLimit(1_000) { wanted in
                #expect(wanted == 1_000 + kept)
                return files
            }
            #expect(limit == connections)
        }
    }
}

/// A listener whose loop runs when the test says so.
private final class LooseListener: Sendable {
    let listener: HTTPListener
    let counter = ConnectionCounter(limit: 1_000)
    let number: Int32
    let port: UInt16
    let loop: EventLoop
    private let set: ConnectionSet
    init() throws {
        guard let address = SocketAddress(numeric: "127.0.0.1", port: 0) else { throw NothingThere() }
        let socket = try ListenSocket.tcp(address)
        number = socket.descriptor.rawValue
        port = try Syscalls.localAddress(number)?.port ?? 0
        loop = try EventLoop(label: "test.listener")
        set = ConnectionSet(loop: loop, counter: counter)
        let lines = Lines()
        var resources = HTTPServerResources()
        resources.log = { lines.add($0) }
        self.lines = lines
        listener = HTTPListener(
            socket, loop: loop, policy: .loopback, counter: counter, targets: [set])
        try listener.start(StreamableEndpoint(server: try TestServer().server), resources: resources)
    }

    final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        func add(_ line: String) { state.withLock { $0.append(line) } }
        var all: [String] { state.withLock { $0 } }
    }

    let lines: Lines

    func stop() {
        loop.execute { [listener, set] in
            listener.stop()
            set.closeAll()
        }
        loop.stop()
        loop.waitUntilStopped()
    }
}

extension LimitProofs {
    @Sendable static func accepted() async throws {
        let limit = HTTPListener.acceptsPerTurn
        let loose = try LooseListener()
        let sockets = try (0 ... limit).map { _ in try WireSocket(port: loose.port, isRecorded: false) }
        // Its loop does not run yet, so that this thread may touch what is its.
        loose.listener.ready(.readable)
        #expect(loose.counter.current == limit)
        loose.listener.ready(.readable)
        #expect(loose.counter.current == limit + 1)
        for socket in sockets { socket.shutdown() }
        loose.loop.start()
        loose.stop()
    }

    #if DEBUG
    @Sendable static func failedAccepts() async throws {
        try await oneFailedAccept()
        try await failuresInARow()
    }

    /// One client is told to come again; the next is served after the rest.
    private static func oneFailedAccept() async throws {
        let loose = try LooseListener()
        let calls = Mutex<[ContinuousClock.Instant]>([])
        let number = loose.number
        try await FaultInjection.during { function, fd in
            guard function == "accept", fd == number else { return nil }
            let count = calls.withLock { calls in
                calls.append(.now)
                return calls.count
            }
            return count == 1 ? EMFILE : nil
        } _: {
            let (first, second) = try await onThread { [port = loose.port] in
                let sockets = try (0 ..< 2).map { _ in try WireSocket(port: port, isRecorded: false) }
                return (sockets[0], sockets[1])
            }
            second.send(question)
            loose.loop.start()
            let statuses = await onThread { () -> [Int?] in
                var (one, two) = (WireReader(first), WireReader(second))
                return [one.response()?.status, two.response()?.status]
            }
            #expect(statuses == [503, 200])
        }
        // The one that fails, that of the client that is told so, and the one after the rest.
        let times = calls.withLock { $0 }
        #expect(times.count >= 3 && times[2] - times[0] >= HTTPListener.restTime)
        #expect(loose.lines.all.count == 1)
        loose.stop()
    }

    private static func failuresInARow() async throws {
        let loose = try LooseListener()
        let calls = Counter()
        let number = loose.number
        let start = ContinuousClock.now
        try await FaultInjection.during { function, fd in
            guard function == "accept", fd == number else { return nil }
            calls.increment()
            return ENFILE
        } _: {
            let waiting = try WireSocket(port: loose.port, isRecorded: false)
            loose.loop.start()
            #expect(await comesTrue { loose.lines.all.count == 2 })
            waiting.shutdown()
        }
        let time = ContinuousClock.now - start
        #expect(time >= HTTPListener.logInterval)
        #expect(loose.lines.all.last?.contains("more times since the last report") == true)
        // Two calls each time: the second is for the client that is told to come again.
        #expect(calls.value <= 2 * Int(time / HTTPListener.restTime + 1), "\(calls.value)")
        loose.stop()
    }
    #else
    @Sendable static func failedAccepts() async throws {}
    #endif
}
