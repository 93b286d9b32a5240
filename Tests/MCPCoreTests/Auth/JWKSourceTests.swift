#if !canImport(Darwin)
import TestSupport
import Testing

@testable import MCPCore

/// When keys are fetched, and which are used while they cannot be.
@Suite struct JWKSourceTests {
    private let clock = JWTMaker.clock()

    private static let day = Duration.seconds(86_400)

    @Test func keysAreFetchedOnceForManyTokens() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        #expect(server.fetches == 0)
        for _ in 0 ..< 10 { #expect(await verifier.refusal(of: try key.token(clock)) == nil) }
        #expect(server.fetches == 1)
    }

    /// A rotation refuses no good token.
    @Test func aNewKeyIsFetched() async throws {
        let (old, new) = (try RotatingKey("old"), try RotatingKey("new"))
        let server = KeyServer(old.jwks)
        let verifier = try server.verifier(clock)
        #expect(await verifier.refusal(of: try old.token(clock)) == nil)
        server.publish(RotatingKey.jwks([new, old]))
        #expect(await verifier.refusal(of: try new.token(clock)) == nil)
        #expect(await verifier.refusal(of: try old.token(clock)) == nil)
        #expect(server.fetches == 2)
        // A key that is not published any more is good no longer than until the next fetch.
        server.publish(new.jwks)
        #expect(await verifier.refusal(of: try old.token(clock)) == nil)
        clock.advance(by: .seconds(3_600))
        #expect(await verifier.refusal(of: try old.token(clock)) == .invalid(.unknown))
        #expect(await verifier.refusal(of: try new.token(clock)) == nil)
    }

    /// The sender of the keys says how long they are good, within 5 minutes to 24 hours.
    @Test func theLifetimeOfTheSender() async throws {
        let key = try RotatingKey("a")
        for (said, kept) in [(Duration.seconds(600), 600), (.zero, 300), (.seconds(1 << 30), 86_400)] {
            let server = KeyServer(key.jwks)
            let fetch = server.fetch
            let verifier = try JWTVerifier(
                issuer: JWTMaker.issuer, options: .init(), clock: clock,
                fetching: { JWTVerifier.FetchedKeys(text: try await fetch(), lifetime: said) })
            #expect(await verifier.refusal(of: try key.token(clock)) == nil)
            clock.advance(by: .seconds(kept) - .milliseconds(1))
            #expect(await verifier.refusal(of: try key.token(clock)) == nil)
            #expect(server.fetches == 1)
            clock.advance(by: .milliseconds(1))
            #expect(await verifier.refusal(of: try key.token(clock)) == nil)
            #expect(server.fetches == 2)
        }
    }

    @Test(
        arguments: [
            ("max-age=60", 60), ("public, max-age=600, must-revalidate", 600), ("Max-Age=\"5\"", 5),
            ("no-store", 0),
            ("max-age=10, no-cache", 0), ("max-age=-1", 0), ("max-age=x", nil), ("", nil), ("private", nil),
        ] as [(String, Int?)])
    func maxAge(_ field: String, _ seconds: Int?) throws {
        let response = OAuthHTTPResponse(status: 200, fields: try HeaderFields(["Cache-Control": field]))
        #expect(response.maxAge == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Mon, 23 Nov 2026 00:00:00 GMT", 1_795_392_000),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
            ("", nil),
            ("Sun, 06 Foo 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", nil),
        ] as [(String, Int64?)])
    func dates(_ field: String, _ seconds: Int64?) throws {
        let response = OAuthHTTPResponse(status: 200, fields: try HeaderFields(["Date": field]))
        #expect(response.sentAt == seconds)
    }

    @Test func aNewKeyWithoutANameIsFetched() async throws {
        let (old, new) = (try RotatingKey("old"), try RotatingKey("new"))
        let server = KeyServer(old.jwks)
        let verifier = try server.verifier(clock)
        #expect(await verifier.refusal(of: try old.token(clock, isNamed: false)) == nil)
        server.publish(new.jwks)
        #expect(await verifier.refusal(of: try new.token(clock, isNamed: false)) == nil)
        #expect(await verifier.refusal(of: try old.token(clock, isNamed: false)) == .invalid(.unknown))
        #expect(server.fetches == 2)
    }

    /// 10,000 names of keys that do not exist cause one fetch in a minute beside the first one.
    @Test func aFloodOfNamesCausesTwoFetches() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        let good = try key.token(clock)
        let payload = good.split(separator: ".")[1]
        func flood(_ numbers: Range<Int>) async {
            for number in numbers {
                let header = JWTMaker.encode(JWTMaker.header(#""alg":"ES256","kid":"\#(number)""#))
                #expect(await verifier.refusal(of: "\(header).\(payload).AAAA") == .invalid(.unknown))
            }
        }
        await flood(0 ..< 10_000)
        #expect(server.fetches == 2)
        clock.advance(by: JWKSource.refetchInterval - .nanoseconds(1))
        await flood(0 ..< 10)
        #expect(server.fetches == 2)
        clock.advance(by: .nanoseconds(1))
        await flood(0 ..< 10)
        #expect(server.fetches == 3)
        // The flood refuses nobody else.
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
    }

    @Test func oneFetchServesAllWhoWait() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        let (began, open) = server.hold()
        let (good, other) = (try key.token(clock), try key.token(clock, kid: "other"))
        await withTaskGroup { group in
            for number in 0 ..< 100 {
                group.addTask { @concurrent in
                    let isGood = !number.isMultiple(of: 3)
                    let refusal = await verifier.refusal(of: isGood ? good : other)
                    #expect(refusal == (isGood ? nil : .invalid(.unknown)))
                }
            }
            #expect(await began.wait())
            #expect(server.fetches == 1)
            open.open()
        }
        #expect(server.fetches == 2)
    }

    /// The task that began the fetch may be cancelled: the others still get the keys.
    @Test func cancellingOneLeavesTheOthers() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        let (began, open) = server.hold()
        let token = try key.token(clock)
        let first = Task { await verifier.refusal(of: token) }
        #expect(await began.wait())
        let second = Task { await verifier.refusal(of: token) }
        first.cancel()
        #expect(await first.value == .unavailable)
        open.open()
        #expect(await second.value == nil)
        #expect(server.fetches == 1)
    }

    // MARK: Failures

    /// Without keys nothing is accepted, and nothing is refused for good.
    @Test func withoutKeysNobodyKnows() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        server.fail()
        let verifier = try server.verifier(clock)
        for _ in 0 ..< 100 { #expect(await verifier.refusal(of: try key.token(clock)) == .unavailable) }
        #expect(server.fetches == 1)
        #expect(server.failures == ["Down()"])
        clock.advance(by: JWKSource.retryInterval)
        #expect(await verifier.refusal(of: try key.token(clock)) == .unavailable)
        #expect(server.fetches == 2)
        server.publish(key.jwks)
        clock.advance(by: JWKSource.retryInterval)
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        #expect(server.fetches == 3)
    }

    @Test func oldKeysStayForADay() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        server.fail()
        clock.advance(by: .seconds(3_600) + Self.day - .seconds(1))
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        #expect(server.fetches == 2)
        // Unknown keys may be good ones.
        #expect(await verifier.refusal(of: try key.token(clock, kid: "b")) == .unavailable)
        #expect(await verifier.refusal(of: try key.token(clock, kid: "b")) == .unavailable)
        #expect(server.fetches == 3)
        clock.advance(by: .seconds(1))
        #expect(await verifier.refusal(of: try key.token(clock)) == .unavailable)
        server.publish(key.jwks)
        clock.advance(by: JWKSource.retryInterval)
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
    }

    /// While the authorization server is down for an hour, its tokens are good.
    @Test func anHourWithoutTheServer() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock, lifetime: .seconds(300))
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        server.fail()
        for _ in 0 ..< 360 {
            clock.advance(by: .seconds(10))
            #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        }
        #expect(server.fetches <= 1 + 360)
        #expect(server.failures.count == server.fetches - 1)
    }

    @Test(arguments: [
        "", "<html>", "[]", "{}", #"{"keys":1}"#,
        #"{"keys":[\#(repeatElement("{}", count: 101).joined(separator: ","))]}"#,
        #"{"keys":[],"x":"\#(String(repeating: "x", count: JWKSet.maxBytes))"}"#,
        #"{"keys":[\#(String(repeating: "[", count: 40))\#(String(repeating: "]", count: 40))]}"#,
    ])
    func aBadSetIsAFailure(_ text: String) async throws {
        let (key, new) = (try RotatingKey("a"), try RotatingKey("b"))
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        server.publish(text)
        #expect(await verifier.refusal(of: try new.token(clock)) == .unavailable)
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        #expect(server.failures.count == 1)
        #expect(server.failures.first?.contains("JWK set") == true)
    }

    /// All keys withdrawn is an answer: nothing is accepted any more.
    @Test func anEmptySetIsAnAnswer() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        server.publish(#"{"keys":[]}"#)
        clock.advance(by: .seconds(3_600))
        #expect(await verifier.refusal(of: try key.token(clock)) == .invalid(.unknown))
        #expect(server.failures.isEmpty)
    }

    @Test func aFetchHasATimeLimit() async throws {
        let key = try RotatingKey("a")
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        let (began, open) = server.hold()
        let token = try key.token(clock)
        let waiting = Task { await verifier.refusal(of: token) }
        #expect(await began.wait())
        clock.advance(by: JWKSource.fetchTimeout)
        #expect(await waiting.value == .unavailable)
        #expect(server.failures == ["the JWK set has not been fetched within 15 seconds"])
        // The late end of the first fetch changes nothing.
        open.open()
        clock.advance(by: JWKSource.retryInterval)
        #expect(await verifier.refusal(of: token) == nil)
        #expect(server.fetches == 2)
        #expect(server.failures.count == 1)
    }

    /// Slow keys of a rotation hold up nobody whose key is there.
    @Test func aRefetchHoldsUpNobodyElse() async throws {
        let (key, new) = (try RotatingKey("a"), try RotatingKey("b"))
        let server = KeyServer(key.jwks)
        let verifier = try server.verifier(clock)
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        server.publish(RotatingKey.jwks([key, new]))
        let (began, open) = server.hold()
        let newToken = try new.token(clock)
        let waiting = Task { await verifier.refusal(of: newToken) }
        #expect(await began.wait())
        #expect(await verifier.refusal(of: try key.token(clock)) == nil)
        open.open()
        #expect(await waiting.value == nil)
        #expect(server.fetches == 2)
    }
}
#endif
