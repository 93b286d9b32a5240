import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let streams: [LimitProof] = [
        LimitProof(
            "resources and tasks of one subscription", LimitText.grouped(Dispatcher.maxURIs), subscription
        ),
        LimitProof(
            "addresses of the resources of one subscription, or that one session watches, each with 64 bytes "
                + "more", LimitText.bytes(SessionTable.maxURIBytes)
        ) {
            SessionTableTests().addressesAreBounded()
            try await addresses()
        },
        LimitProof(
            "such addresses of all sessions without a stream", LimitText.bytes(SessionTable.maxQuietBytes)
        ) { SessionTableTests().quietSessionsMakeRoom() },
        LimitProof(
            "resources that one session watches", LimitText.grouped(SessionTable.maxURIs), watched),
        LimitProof(
            "different resources that change within 20 ms", LimitText.grouped(ChangeBus.maxPending),
            changes
        ),
        LimitProof("GET streams of one session", "\(SessionStreams.maxServerStreams)") {
            try await SessionStreamTests().several("2025-11-25")
        },
        LimitProof(
            "events kept for one stream",
            "\(ResumableStream.maxEvents), \(LimitText.bytes(ResumableStream.maxBytes))"
        ) {
            try ResumableStreamTests().count()
            try ResumableStreamTests().bytes()
            try await eventsThatAreGone()
        },
        LimitProof("how long they wait for a client that is gone", LimitText.seconds(ResumableStream.age)) {
            try ResumableStreamTests().age()
        },
        LimitProof("events kept for all streams of a listener", LimitText.bytes(EventStore.maxBytes)) {
            try ResumableStreamTests().bytesOfAll()
        },
        LimitProof("streams of one session that are kept", "\(SessionStreams.maxPerSession)") {
            ResumableStreamTests().streamsOfASession()
        },
        LimitProof(
            "sessions that are remembered, other than those with a listener",
            LimitText.grouped(SessionTable.maxSessions)
        ) {
            SessionTableTests().sessionsMakeRoomForOthers()
            SessionTableTests().roomIsMadeByQuietSessions()
        },
        LimitProof(
            "sessions whose streams are kept", LimitText.grouped(SessionStreams.maxSessions), keptStreams),
        LimitProof(
            "ended sessions that are remembered",
            LimitText.grouped(LegacySessions.maxEnded) + ", each for "
                + LimitText.seconds(.seconds(LegacySessions(keys: StateKeys([1])).longestLifetime)),
            endedSessions),
        LimitProof("messages, answers aside, unread over stdio", LimitText.bytes(LineServer.toldLimit)) {
            try await SlowSubscriberTests().stdio()
        },
    ]

    @Sendable private static func subscription() async throws {
        let limit = Dispatcher.maxURIs
        try await withClient(.inMemory(), try TestServer().server) { client in
            func filter(_ count: Int) -> JSONObject {
                ["resourceSubscriptions": .array((0 ..< count).map { .string("mem://item/\($0)") })]
            }
            let listening = Task { await client.listen(filter(limit), id: 1) }
            let told = await client.told("notifications/subscriptions/acknowledged", by: 1)
            #expect(told?["params"]?["notifications"]?["resourceSubscriptions"]?.elements?.count == limit)
            let refused = await client.listen(filter(limit + 1), id: 2)
            #expect(refused.errorCode == -32602)
            try await client.cancel(1)
            _ = await listening.value
        }
    }

    @Sendable private static func addresses() async throws {
        let count = SessionTable.maxURIBytes / (8 << 10)
        try await withClient(.inMemory(), try TestServer().server) { client in
            func filter(_ more: Int) -> JSONObject {
                let uris = (0 ..< count).map { number -> JSONValue in
                    let text = "mem://item/\(number)-"
                    let missing = (8 << 10) - SessionTable.bytes(of: text)
                    return .string(text + String(repeating: "x", count: missing + (number == 0 ? more : 0)))
                }
                return ["resourceSubscriptions": .array(uris)]
            }
            let listening = Task { await client.listen(filter(0), id: 1) }
            let told = await client.told("notifications/subscriptions/acknowledged", by: 1)
            #expect(told?["params"]?["notifications"]?["resourceSubscriptions"]?.elements?.count == count)
            let refused = await client.listen(filter(1), id: 2)
            #expect(refused.errorCode == -32602)
            try await client.cancel(1)
            _ = await listening.value
        }
    }

    @Sendable private static func watched() async throws {
        SessionTableTests().watchesAreBounded()
        try await withClient(.inMemory("2025-11-25"), try TestServer().server) { client in
            func watch(_ number: Int) async -> RawReply {
                await client.request("resources/subscribe", ["uri": .string("mem://item/\(number)")])
            }
            for number in 0 ..< SessionTable.maxURIs { #expect(await watch(number).errorCode == nil) }
            #expect(await watch(SessionTable.maxURIs).errorCode == -32602)
        }
    }

    @Sendable private static func keptStreams() async throws {
        let streams = SessionStreams(clock: ManualClock())
        let limit = UInt64(SessionStreams.maxSessions)
        func isKept(_ stream: ResumableStream, of channelID: UInt64) -> Bool {
            streams.find(ByteSlice(stream.id(of: 0)), in: channelID)?.stream === stream
        }
        let made = (1 ... limit).map { streams.make($0, isOfServer: true) }
        for (index, stream) in made.enumerated() { #expect(isKept(stream, of: UInt64(index + 1))) }
        // The first opens one more, so that the second is the one that did so the longest ago.
        let another = streams.make(1, isOfServer: true)
        let more = streams.make(limit + 1, isOfServer: true)
        #expect(!isKept(made[1], of: 2))
        #expect(isKept(made[0], of: 1) && isKept(another, of: 1) && isKept(made[2], of: 3))
        #expect(isKept(more, of: limit + 1))
    }

    @Sendable private static func endedSessions() async throws {
        let sessions = LegacySessions(keys: StateKeys([UInt8](repeating: 7, count: 32)), lifetime: 100)
        func end(_ channelID: Int) -> Int64? {
            let negotiated = NegotiatedSession(revision: .newestLegacy, abilities: [])
            let session = LegacySessions.Session(
                negotiated: negotiated, channelID: UInt64(channelID))
            return sessions.end(session, uptime: 1000)
        }
        #expect((1 ... LegacySessions.maxEnded).allSatisfy { end($0) == nil })
        #expect(end(LegacySessions.maxEnded + 1) == 400)
        try LegacySessionsTests().aFullTableBringsNoSessionBack()
        try LegacySessionsTests().aDeleteThatEndsNothingIsRefused()
    }

    @Sendable private static func changes() async throws {
        // As many as can be named are named.
        let bus = ChangeBus()
        let memory = SessionTable(bus: bus)
        let stream = SessionTableTests.Stream()
        memory.attach(stream, to: 1)
        #expect(memory.watch("a:unchanged", for: 1) && memory.watch("a:0", for: 1))
        for number in 0 ..< ChangeBus.maxPending { bus.publish(.resource("a:\(number)")) }
        bus.deliverNow()
        #expect(stream.heard.all.count { $0.contains("a:unchanged") } == 0)
        #expect(stream.heard.all.count { $0.contains("a:0") } == 1)
        for number in 0 ... ChangeBus.maxPending { bus.publish(.resource("b:\(number)")) }
        bus.deliverNow()
        #expect(stream.heard.all.count { $0.contains("a:unchanged") } == 1)
        SessionTableTests().moreChangesThanCanBeNamed()
    }

    /// An id whose event is gone is 400, one that is kept is gone on with.
    @Sendable private static func eventsThatAreGone() async throws {
        let server = try TestServer().server
        try await server.withPort { port in
            let session = try await WireSession(port: port, version: "2025-11-25")
            let first = try session.get()
            #expect(await first.opened())
            #expect(await first.until { !$0.events.isEmpty })
            let start = try #require(first.lastID)
            first.close()
            #expect(await comesTrue { session.liveStreams(server) == 0 })
            for count in 1 ... ResumableStream.maxEvents + 1 {
                server.notifyToolsChanged()
                server.probe.deliverChanges()
                guard count >= ResumableStream.maxEvents else { continue }
                let again = try session.get(after: start)
                let isKept = count == ResumableStream.maxEvents
                #expect(await again.until { $0.status == (isKept ? 200 : 400) }, "\(count)")
                if isKept { #expect(await again.until { $0.messages.count == count }) }
                again.close()
                #expect(await comesTrue { session.liveStreams(server) == 0 })
            }
        }
    }
}
