import Testing

@testable import MCPCore

@Suite struct LegacySessionsTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private static let random = [UInt8](0 ..< 16)

    private static func outcome(
        _ sessions: LegacySessions, _ id: String, principal: String = "", now: Int64 = 1000, uptime: Int64 = 0
    ) -> Result<LegacySessions.Session, LegacySessions.Refusal> {
        Result { () throws(LegacySessions.Refusal) in
            try sessions.open(ByteSlice(id), principal: principal, now: now, uptime: uptime)
        }
    }

    private static func refusal(
        _ sessions: LegacySessions, _ id: String, principal: String = "", now: Int64 = 1000, uptime: Int64 = 0
    ) -> LegacySessions.Refusal? {
        if case .failure(let refusal) = outcome(sessions, id, principal: principal, now: now, uptime: uptime)
        {
            refusal
        } else {
            nil
        }
    }

    // LEG-21
    @Test(arguments: Revision.all.map(\.version.text)) func carriesItsRevision(_ version: String) throws {
        let revision = try #require(Revision.named(version))
        let sessions = LegacySessions(keys: StateKeys(Self.key))
        let id = sessions.make(
            NegotiatedSession(revision: revision, abilities: [.roots, .elicitation]), principal: "p",
            now: 1000, uptime: 0,
            random: Self.random)
        #expect(id.utf8.allSatisfy { $0 >= 0x21 && $0 <= 0x7E })
        let session = try sessions.open(ByteSlice(id), principal: "p", now: 1001, uptime: 1)
        #expect(
            session.negotiated == NegotiatedSession(revision: revision, abilities: [.roots, .elicitation]))
        // Another instance with the same key takes it (JRPC-26).
        let other = try LegacySessions(keys: StateKeys(Self.key)).open(
            ByteSlice(id), principal: "p", now: 1001, uptime: 1)
        #expect(other.channelID == session.channelID)
    }

    @Test func scopesDiffer() throws {
        let sessions = LegacySessions(keys: StateKeys(Self.key))
        var scopes: Set<UInt64> = []
        for _ in 0 ..< 100 {
            let id = sessions.make(
                NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: 1000,
                uptime: 0,
                random: SystemRandom().bytes(16))
            let channelID = try sessions.open(ByteSlice(id), principal: "", now: 1000, uptime: 0).channelID
            // Never the number of a connection.
            #expect(channelID >= 1 << 63)
            scopes.insert(channelID)
        }
        #expect(scopes.count == 100)
    }

    // LEG-24, LEG-28
    @Test func everyChangedByteIsRefused() throws {
        let sessions = LegacySessions(keys: StateKeys(Self.key))
        let id = sessions.make(
            NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: 1000, uptime: 0,
            random: Self.random)
        let bytes = try #require(Base64URL.decode(id))
        for place in bytes.indices {
            for bit in 0 ..< 8 {
                var damaged = bytes
                damaged[place] ^= 1 << bit
                #expect(Self.refusal(sessions, Base64URL.encode(damaged)) == .unknown)
            }
        }
        for count in 0 ..< id.utf8.count {
            #expect(Self.refusal(sessions, String(id.prefix(count))) == .unknown)
        }
        for text in [id + "A", id + "=", " " + id, "", "1868a90c", String(repeating: "A", count: 100_000)] {
            #expect(Self.refusal(sessions, text) == .unknown)
        }
    }

    @Test func otherKeyAndOtherPrincipal() {
        let sessions = LegacySessions(keys: StateKeys(Self.key))
        let id = sessions.make(
            NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "alice", now: 1000,
            uptime: 0,
            random: Self.random)
        #expect(Self.refusal(sessions, id, principal: "alice") == nil)
        #expect(Self.refusal(sessions, id, principal: "bob") == .unknown)
        #expect(Self.refusal(sessions, id) == .unknown)
        let other = LegacySessions(keys: StateKeys([UInt8](repeating: 8, count: 32)))
        #expect(Self.refusal(other, id, principal: "alice") == .unknown)
    }

    // The age of an id that was made by another instance, or in an earlier run.
    @Test(
        arguments: [
            (1000, nil), (1099, nil), (1100, LegacySessions.Refusal.expired), (Int64.max, .expired),
            // A clock that was set back a little is no reason; one that is far off is.
            (999, nil), (701, nil), (700, .expired), (0, .expired),
        ] as [(Int64, LegacySessions.Refusal?)])
    func age(_ now: Int64, _ refusal: LegacySessions.Refusal?) {
        let id = LegacySessions(keys: StateKeys(Self.key), lifetime: 100).make(
            NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: 1000, uptime: 0,
            random: Self.random)
        for uptime in [0, 50, 1_000_000] as [Int64] {
            let sessions = LegacySessions(keys: StateKeys(Self.key), lifetime: 100)
            #expect(Self.refusal(sessions, id, now: now, uptime: uptime) == refusal)
        }
    }

    // That of an id that was made here does not depend on the wall clock.
    @Test(arguments: [(5, nil), (104, nil), (105, .expired)] as [(Int64, LegacySessions.Refusal?)])
    func ageHere(_ uptime: Int64, _ refusal: LegacySessions.Refusal?) {
        let sessions = LegacySessions(keys: StateKeys(Self.key), lifetime: 100)
        let id = sessions.make(
            NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: 1000, uptime: 5,
            random: Self.random)
        for now in [.min, 0, 1000, 1099, 1_000_000, .max] as [Int64] {
            #expect(Self.refusal(sessions, id, now: now, uptime: uptime) == refusal)
        }
    }

    // LEG-24, LEG-26
    @Test func ended() throws {
        let sessions = LegacySessions(keys: StateKeys(Self.key))
        let id = sessions.make(
            NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: 1000, uptime: 0,
            random: Self.random)
        let other = sessions.make(
            NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: 1000, uptime: 0,
            random: Self.random.reversed())
        #expect(
            sessions.end(try sessions.open(ByteSlice(id), principal: "", now: 1000, uptime: 0), uptime: 7)
                == nil)
        #expect(Self.refusal(sessions, id) == .ended)
        #expect(Self.refusal(sessions, other) == nil)
    }

    // Setting the clock ahead and back brings no ended session back (LEG-24).
    @Test(arguments: [false, true]) func aClockThatIsSet(_ isOfAnother: Bool) throws {
        let sessions = LegacySessions(keys: StateKeys(Self.key), lifetime: 100)
        let another = LegacySessions(keys: StateKeys(Self.key), lifetime: 100)
        func begin(at now: Int64, uptime: Int64) -> String {
            (isOfAnother ? another : sessions).make(
                NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: now,
                uptime: uptime, random: SystemRandom().bytes(16))
        }
        func end(_ id: String, at now: Int64, uptime: Int64) throws -> Int64? {
            sessions.end(
                try sessions.open(ByteSlice(id), principal: "", now: now, uptime: uptime), uptime: uptime)
        }
        let id = begin(at: 1000, uptime: 0)
        #expect(try end(id, at: 1000, uptime: 0) == nil)
        // The clock is an hour ahead, where others end too.
        #expect(try end(begin(at: 4601, uptime: 1), at: 4601, uptime: 1) == nil)
        #expect(Self.refusal(sessions, id, now: 4601, uptime: 1) == (isOfAnother ? .expired : .ended))
        // It is right again; and as far back as ids of that time are accepted.
        #expect(Self.refusal(sessions, id, now: 1002, uptime: 2) == .ended)
        #expect(try end(begin(at: 702, uptime: 399), at: 702, uptime: 399) == nil)
        #expect(Self.refusal(sessions, id, now: 702, uptime: 399) != nil)
        // New sessions begin whatever the clock shows.
        for now in [0, 702, 1002, 4601] as [Int64] {
            #expect(Self.refusal(sessions, begin(at: now, uptime: 400), now: now, uptime: 400) == nil)
        }
    }

    // A session that was begun and ended while the clock was ahead does not come back when that time has come,
    // and one that goes on is not lost when the clock is set right (LEG-24).
    @Test func aSessionThatWasBegunAhead() throws {
        let sessions = LegacySessions(keys: StateKeys(Self.key), lifetime: 100)
        let ids = (0 ..< 3).map { _ in
            sessions.make(
                NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: 4600,
                uptime: 0, random: SystemRandom().bytes(16))
        }
        func open(_ id: String, _ now: Int64, _ uptime: Int64) throws -> LegacySessions.Session {
            try sessions.open(ByteSlice(id), principal: "", now: now, uptime: uptime)
        }
        #expect(sessions.end(try open(ids[0], 4601, 1), uptime: 1) == nil)
        #expect(Self.refusal(sessions, ids[0], now: 1002, uptime: 2) == .ended)
        #expect(Self.refusal(sessions, ids[1], now: 1099, uptime: 99) == nil)
        // The record of the first has made room for that of another one.
        #expect(
            sessions.end(
                LegacySessions.Session(
                    negotiated: NegotiatedSession(revision: .newestLegacy, abilities: []), channelID: 1),
                uptime: 3600) == nil)
        for id in ids { #expect(Self.refusal(sessions, id, now: 4601, uptime: 3601) == .expired) }
    }

    // A table that is full of ended sessions ends none for another one: the next is told to come back when one
    // of them is forgotten, and goes on until then (LEG-24).
    @Test func aFullTableBringsNoSessionBack() throws {
        let sessions = LegacySessions(keys: StateKeys(Self.key), lifetime: 100, maxEnded: 3)
        func begin(at now: Int64) -> String {
            sessions.make(
                NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: now,
                uptime: now - 900, random: SystemRandom().bytes(16))
        }
        func end(_ id: String, at now: Int64) throws -> Int64? {
            let session = try sessions.open(ByteSlice(id), principal: "", now: now, uptime: now - 900)
            return sessions.end(session, uptime: now - 900)
        }
        let first = begin(at: 1000)
        #expect(try end(first, at: 1010) == nil)
        let others = (0 ..< 2).map { _ in begin(at: 1050) }
        for id in others { #expect(try end(id, at: 1050) == nil) }
        let late = begin(at: 1360)
        for id in [first] + others { #expect(Self.refusal(sessions, id, now: 1070, uptime: 170) == .ended) }
        #expect(try end(late, at: 1370) == 40)
        #expect(Self.refusal(sessions, late, now: 1370, uptime: 470) == nil)
        // The first has expired by itself for as long as a clock may differ, which makes room.
        #expect(Self.refusal(sessions, first, now: 1410, uptime: 510) == .expired)
        #expect(try end(late, at: 1410) == nil)
        #expect(Self.refusal(sessions, late, now: 1410, uptime: 510) == .ended)
        for id in others { #expect(Self.refusal(sessions, id, now: 1070, uptime: 170) == .ended) }
    }

    // LEG-24: the answer says that nothing was ended, and when to come back.
    @Test func aDeleteThatEndsNothingIsRefused() throws {
        let server = MCPServer("s", version: "1")
        let sessions = LegacySessions(keys: server.stateKeys, maxEnded: 1)
        let endpoint = StreamableEndpoint(server: server, sessions: sessions)
        func delete(_ id: String) throws -> EarlyResponse? {
            let bytes = ByteSlice("DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: \(id)\r\n\r\n")
            var parser = RequestParser(limits: HTTPLimits())
            guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else {
                return nil
            }
            do throws(EarlyResponse) {
                try endpoint.endSession(head, in: bytes, nil)
                return nil
            } catch {
                return error
            }
        }
        let ids = try (0 ..< 2).map { _ -> String in
            let header = endpoint.sessionHeader(
                for: NegotiatedSession(revision: .newestLegacy, abilities: []), nil)
            return try #require(header?["Mcp-Session-Id"])
        }
        #expect(try delete(ids[0]) == nil)
        let refusal = try #require(try delete(ids[1]))
        #expect(refusal.status == 503)
        let seconds = try #require(refusal.fields?["Retry-After"].flatMap { Int($0) })
        #expect((86_000 ... 86_700).contains(seconds))
        #expect(refusal.text?.contains("was not ended") == true)
        #expect(try delete(ids[0])?.status == 404)
        #expect(
            Self.refusal(sessions, ids[1], now: endpoint.wallSeconds, uptime: endpoint.uptime) == nil)
    }
}
