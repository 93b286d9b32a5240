import TestSupport
import Testing

@testable import MCPCore

/// What a stream keeps for a client that comes back.
@Suite struct ResumableStreamTests {
    private static func event(_ number: Int, bytes: Int = 0) -> ByteSlice {
        ByteSlice("\(number)" + String(repeating: " ", count: bytes))
    }

    private static func events(of stream: ResumableStream, after number: Int) throws -> [Int]? {
        let loop = try EventLoop(label: "test")
        let endpoint = StreamableEndpoint(server: MCPServer("s", version: "1"))
        let connection = HTTPConnection(
            try Syscalls.open("/dev/null", 0), loop: loop,
            context: ConnectionContext(handler: endpoint, policy: .loopback), identifier: 1,
            siblings: ConnectionSet(loop: loop, counter: ConnectionCounter(limit: 1)))
        let writer = HTTPResponseStream(
            connection: connection, endpoint: endpoint, version: .http11, session: nil)
        defer { stream.detach(writer) }
        return stream.takeUp(after: number, by: writer)?.events.map(\.number)
    }

    // LEG-20: 256 events.
    @Test func count() throws {
        let streams = SessionStreams(clock: ManualClock())
        let stream = streams.make(1, isOfServer: true)
        for number in 1 ... 300 { stream.append(Self.event(number)) }
        #expect(try Self.events(of: stream, after: 44) == Array(45 ... 300))
        #expect(try Self.events(of: stream, after: 299) == [300])
        #expect(try Self.events(of: stream, after: 300) == [])
        #expect(try Self.events(of: stream, after: 43) == nil)
        #expect(try Self.events(of: stream, after: 0) == nil)
        #expect(try Self.events(of: stream, after: 301) == nil)
    }

    // LEG-20: 1 MiB; but the newest event is kept whatever its size.
    @Test func bytes() throws {
        let streams = SessionStreams(clock: ManualClock())
        let stream = streams.make(1, isOfServer: true)
        for number in 1 ... 20 { stream.append(Self.event(number, bytes: 100_000)) }
        #expect(try Self.events(of: stream, after: 10) == Array(11 ... 20))
        #expect(try Self.events(of: stream, after: 9) == nil)
        stream.append(Self.event(21, bytes: 3_000_000))
        #expect(try Self.events(of: stream, after: 20) == [21])
        #expect(try Self.events(of: stream, after: 19) == nil)
    }

    // All streams of an endpoint share 64 MiB.
    @Test(.ownThreads) func bytesOfAll() throws {
        let streams = SessionStreams(clock: ManualClock())
        var all: [ResumableStream] = []
        for channelID in 1 ... 70 {
            let stream = streams.make(UInt64(channelID), isOfServer: true)
            for number in 1 ... 10 { stream.append(Self.event(number, bytes: 100_000)) }
            all.append(stream)
        }
        #expect(try Self.events(of: all[0], after: 0)?.count == 10)
        // Not even the newest: ten thousand sessions have 64 streams each.
        #expect(try Self.events(of: all[69], after: 10) == [])
        #expect(try Self.events(of: all[69], after: 9) == nil)
        for channelID in 1 ... 60 { streams.forget(UInt64(channelID)) }
        all.removeFirst(60)
        all[9].append(Self.event(11))
        #expect(try Self.events(of: all[9], after: 10)?.count == 1)
    }

    // LEG-20: five minutes after its client was there last; a call that goes on keeps its stream.
    @Test func age() throws {
        let clock = ManualClock()
        let streams = SessionStreams(clock: clock)
        let ofServer = streams.make(1, isOfServer: true)
        let ofCall = streams.make(1, isOfServer: false)
        let fifth = ofServer.id(of: 0)
        clock.advance(by: .seconds(300))
        #expect(streams.find(ByteSlice(fifth), in: 1)?.stream === ofServer)
        #expect(try Self.events(of: ofServer, after: 0) == [])
        clock.advance(by: .seconds(300))
        // Messages that nobody reads do not keep it.
        ofServer.append(Self.event(1))
        #expect(!ofServer.isForgotten)
        clock.advance(by: .seconds(1))
        #expect(ofServer.isForgotten)
        #expect(streams.find(ByteSlice(fifth), in: 1) == nil)
        #expect(streams.find(ByteSlice(ofCall.id(of: 0)), in: 1)?.stream === ofCall)
        ofCall.append(Self.event(1), isLast: true)
        clock.advance(by: .seconds(300))
        #expect(streams.find(ByteSlice(ofCall.id(of: 0)), in: 1)?.stream === ofCall)
        clock.advance(by: .seconds(1))
        #expect(streams.find(ByteSlice(ofCall.id(of: 0)), in: 1) == nil)
        // Swept with the next stream of whomever.
        weak let swept = ofCall
        _ = streams.make(2, isOfServer: true)
        #expect(swept != nil)
        #expect(streams.find(ByteSlice(ofCall.id(of: 0)), in: 1) == nil)
    }

    @Test func streamsOfASession() {
        let streams = SessionStreams(clock: ManualClock())
        let made = (0 ... SessionStreams.maxPerSession).map { _ in streams.make(1, isOfServer: false) }
        #expect(streams.find(ByteSlice(made[0].id(of: 0)), in: 1) == nil)
        for stream in made.dropFirst() {
            #expect(streams.find(ByteSlice(stream.id(of: 0)), in: 1)?.stream === stream)
            #expect(streams.find(ByteSlice(stream.id(of: 0)), in: 2) == nil)
        }
        streams.forget(1)
        #expect(streams.find(ByteSlice(made[1].id(of: 0)), in: 1) == nil)
    }
}
