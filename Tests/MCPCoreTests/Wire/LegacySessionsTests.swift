import Testing

@testable import MCPCore

@Suite struct LegacySessionsTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private static let random = [UInt8](0 ..< 16)

    private static func outcome(
        _ sessions: LegacySessions, _ id: String, principal: String = "", now: Int64 = 1000
    ) -> Result<LegacySessions.Session, LegacySessions.Refusal> {
        Result { () throws(LegacySessions.Refusal) in
            try sessions.open(ByteSlice(id), principal: principal, now: now)
        }
    }

    private static func refusal(
        _ sessions: LegacySessions, _ id: String, principal: String = "", now: Int64 = 1000
    ) -> LegacySessions.Refusal? {
        if case .failure(let refusal) = outcome(sessions, id, principal: principal, now: now) {
            refusal
        } else {
            nil
        }
    }

    // LEG-21
    @Test(arguments: Revision.all.map(\.version.text)) func carriesItsRevision(_ version: String) throws {
        let revision = try #require(Revision.named(version))
        let sessions = LegacySessions(key: Self.key)
        let id = sessions.make(
            LegacySession(revision: revision, abilities: [.roots, .elicitation]), principal: "p", now: 1000,
            random: Self.random)
        #expect(id.utf8.allSatisfy { $0 >= 0x21 && $0 <= 0x7E })
        let session = try sessions.open(ByteSlice(id), principal: "p", now: 1001)
        #expect(session.settled == LegacySession(revision: revision, abilities: [.roots, .elicitation]))
        // Another instance with the same key takes it (JRPC-26).
        let other = try LegacySessions(key: Self.key).open(ByteSlice(id), principal: "p", now: 1001)
        #expect(other.scope == session.scope)
    }

    @Test func scopesDiffer() throws {
        let sessions = LegacySessions(key: Self.key)
        var scopes: Set<UInt64> = []
        for _ in 0 ..< 100 {
            let id = sessions.make(
                LegacySession(revision: .newestLegacy, abilities: []), principal: "", now: 1000,
                random: SystemRandom().bytes(16))
            let scope = try sessions.open(ByteSlice(id), principal: "", now: 1000).scope
            // Never the number of a connection.
            #expect(scope >= 1 << 63)
            scopes.insert(scope)
        }
        #expect(scopes.count == 100)
    }

    // LEG-24, LEG-28
    @Test func everyChangedByteIsRefused() throws {
        let sessions = LegacySessions(key: Self.key)
        let id = sessions.make(
            LegacySession(revision: .newestLegacy, abilities: []), principal: "", now: 1000,
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
        let sessions = LegacySessions(key: Self.key)
        let id = sessions.make(
            LegacySession(revision: .newestLegacy, abilities: []), principal: "alice", now: 1000,
            random: Self.random)
        #expect(Self.refusal(sessions, id, principal: "alice") == nil)
        #expect(Self.refusal(sessions, id, principal: "bob") == .unknown)
        #expect(Self.refusal(sessions, id) == .unknown)
        let other = LegacySessions(key: [UInt8](repeating: 8, count: 32))
        #expect(Self.refusal(other, id, principal: "alice") == .unknown)
    }

    @Test(
        arguments: [
            (1000, nil), (1099, nil), (1100, LegacySessions.Refusal.expired), (Int64.max, .expired),
            // A clock that was set back a little is no reason; one that is far off is.
            (999, nil), (701, nil), (700, .expired), (0, .expired),
        ] as [(Int64, LegacySessions.Refusal?)])
    func age(_ now: Int64, _ refusal: LegacySessions.Refusal?) {
        let sessions = LegacySessions(key: Self.key, lifetime: 100)
        let id = sessions.make(
            LegacySession(revision: .newestLegacy, abilities: []), principal: "", now: 1000,
            random: Self.random)
        #expect(Self.refusal(sessions, id, now: now) == refusal)
    }

    // LEG-24, LEG-26
    @Test func ended() throws {
        let sessions = LegacySessions(key: Self.key)
        let id = sessions.make(
            LegacySession(revision: .newestLegacy, abilities: []), principal: "", now: 1000,
            random: Self.random)
        let other = sessions.make(
            LegacySession(revision: .newestLegacy, abilities: []), principal: "", now: 1000,
            random: Self.random.reversed())
        sessions.end(try sessions.open(ByteSlice(id), principal: "", now: 1000), now: 1000)
        #expect(Self.refusal(sessions, id) == .ended)
        #expect(Self.refusal(sessions, other) == nil)
    }
}
