import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// A client over a transport that the program brings.
@Suite(.timeLimit(.minutes(5))) struct MessageTransportTests {
    /// A server in this process behind the two public seams: `MessageTransport` and `MCPConnection`.
    private final class Bridge: MessageTransport {
        struct Broken: Error, CustomStringConvertible { let description: String }

        private let connection: MCPConnection
        private let answers: AsyncThrowingStream<[UInt8], any Error>.Continuation
        private let reader: Mutex<AsyncThrowingStream<[UInt8], any Error>.Iterator>
        private let state = Mutex((closings: 0, sent: 0, failsAfter: Int.max))

        init(_ server: MCPServer) {
            let (stream, continuation) = AsyncThrowingStream.makeStream(
                of: [UInt8].self, bufferingPolicy: .unbounded)
            answers = continuation
            reader = Mutex(stream.makeAsyncIterator())
            connection = server.makeConnection { continuation.yield($0) }
        }

        var closings: Int { state.withLock { $0.closings } }

        func failAfter(_ count: Int) { state.withLock { $0.failsAfter = count } }
        func push(_ text: String) { answers.yield(Array(text.utf8)) }
        func breakOff(_ error: Broken?) { answers.finish(throwing: error) }

        func send(_ message: [UInt8]) async throws {
            let mayPass = state.withLock { state in
                state.sent += 1
                return state.sent <= state.failsAfter
            }
            guard mayPass else { throw Broken(description: "the wire is cut") }
            Task { if let answer = await connection.handle(message) { answers.yield(answer) } }
        }

        func receive() async throws -> [UInt8]? {
            var iterator = reader.withLock { $0 }
            return try await iterator.next()
        }

        func close() async {
            state.withLock { $0.closings += 1 }
            connection.close()
            answers.finish()
        }
    }

    private static func server() -> MCPServer {
        let server = MCPServer("bridged", version: "1")
        server.addTool("add", "Adds", Argument("a"), Argument("b")) { (a: Int, b: Int) in a + b }
        server.addTool("wait", "Waits") { () async throws -> String in
            try await Task.sleep(for: .seconds(3_600))
            return ""
        }
        return server
    }

    private static func target(_ bridge: Bridge) -> ClientTarget { .transport("the bridge") { bridge } }

    @Test(arguments: [ProtocolVersion.v2026_07_28, .v2025_11_25, .v2025_03_26])
    func callsInEveryEra(_ version: ProtocolVersion) async throws {
        let bridge = Bridge(Self.server())
        var options = ClientOptions()
        options.protocol = .exactly(version)
        let client = try await MCPClient.connect(Self.target(bridge), options: options)
        for number in 0 ..< 10 {
            #expect(
                try await client.callTool("add", ["a": .number(JSONNumber(number)), "b": 1]).text
                    == "\(number + 1)")
        }
        await client.close()
        #expect(bridge.closings == 1)
        #expect(await clientError { _ = try await client.listTools() }?.kind == .connectionClosed)
    }

    @Test func changesAreHeard() async throws {
        let server = Self.server()
        let bridge = Bridge(server)
        let client = try await MCPClient.connect(Self.target(bridge))
        let subscription = try await client.listen(.lists)
        server.addTool("new", "New") { "" }
        var changes = subscription.makeAsyncIterator()
        #expect(try await changes.next() == .toolsListChanged)
        await subscription.cancel()
        await client.close()
        #expect(bridge.closings == 1)
    }

    @Test func aTransportThatCannotBeOpened() async {
        let error = await clientError {
            _ = try await MCPClient.connect(
                .transport("the bridge") { throw Bridge.Broken(description: "no such topic") })
        }
        #expect(error?.kind == .cannotStart)
        #expect(error?.message == "cannot open the bridge: no such topic")
    }

    @Test func aTransportThatCannotSend() async throws {
        let bridge = Bridge(Self.server())
        let client = try await MCPClient.connect(Self.target(bridge))
        bridge.failAfter(0)
        let error = await clientError { _ = try await client.callTool("add", ["a": 1, "b": 2]) }
        #expect(error?.kind == .connectionClosed)
        #expect(error?.message == "cannot send to the bridge: the wire is cut")
        await client.close()
        await waitUntil { bridge.closings == 1 }
        #expect(bridge.closings == 1)
    }

    @Test(arguments: [nil, "the line is dead"])
    func aTransportThatEnds(_ reason: String?) async throws {
        let bridge = Bridge(Self.server())
        let client = try await MCPClient.connect(Self.target(bridge))
        async let call = clientError { _ = try await client.callTool("wait") }
        await waitUntil { bridge.closings == 0 }
        bridge.breakOff(reason.map(Bridge.Broken.init))
        let error = await call
        #expect(error?.kind == .connectionClosed)
        let text =
            reason.map { "cannot receive from the bridge: \($0)" } ?? "the connection has ended: the bridge"
        #expect(error?.message == text)
        await client.close()
        await waitUntil { bridge.closings == 1 }
    }

    @Test func aMessageThatIsTooLong() async throws {
        let bridge = Bridge(Self.server())
        var options = ClientOptions()
        options.maxMessageBytes = 4_096
        let client = try await MCPClient.connect(Self.target(bridge), options: options)
        async let call = clientError { _ = try await client.callTool("wait") }
        bridge.push(String(repeating: " ", count: 4_097))
        #expect(
            await call?.message
                == "cannot receive from the bridge: a message has 4097 bytes, but at most 4096 are accepted")
        await client.close()
    }

    /// What waits for a transport that sends nothing has a limit.
    @Test func aTransportThatIsStuck() async throws {
        let stuck = Stuck()
        var options = ClientOptions()
        options.maxMessageBytes = 10_000
        options.connectTimeout = .seconds(30)
        let transport = MessageClientTransport(stuck, name: "the bridge", options: options)
        let inbox = Inbox()
        transport.start(inbox)
        for id in 1 ... 20 {
            let bytes = ByteSlice(Array(repeating: 0x20, count: 1_000))
            transport.send(
                OutboundMessage(bytes: bytes, method: "x", connectTimeout: .seconds(1)), id: Int64(id))
        }
        await waitUntil { inbox.end != nil }
        #expect(
            inbox.end?.message == "the bridge does not accept messages: more than 10000 bytes are waiting")
        await waitUntil { stuck.isClosed }
        #expect(stuck.isClosed)
    }

    private final class Stuck: MessageTransport {
        private let closings = Atomic(0)
        var isClosed: Bool { closings.load(ordering: .relaxed) > 0 }
        func send(_ message: [UInt8]) async throws { try await Task.sleep(for: .seconds(3_600)) }
        func receive() async throws -> [UInt8]? {
            try await Task.sleep(for: .seconds(3_600))
            return nil
        }
        func close() async { closings.add(1, ordering: .relaxed) }
    }

    private final class Inbox: ClientInbox {
        private let ended = Mutex<ClientError?>(nil)
        var end: ClientError? { ended.withLock { $0 } }
        func receive(_ bytes: ByteSlice, exchange: Int64?, status: Int?) {}
        func isWaiting(_ id: Int64) -> Bool { false }
        func fail(_ id: Int64, _ error: ClientError) {}
        func failAll(_ error: ClientError) {}
        func serverStreamRefused(_ error: ClientError) {}
        func messagesMayBeLost() {}
        func serverStreamBegan() {}
        func serverStreamFailed(_ error: ClientError, attempts: Int) {}
        func sessionLost() {}
        func awaitsCredentials(_ id: Int64?, _ isWaiting: Bool) {}
        func identityChanged() {}
        func connectionClosed(_ error: ClientError) { ended.withLock { $0 = error } }
    }
}
