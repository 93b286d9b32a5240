import MCPCore
import TestSupport
import Testing

/// Tokens that the server's operator makes.
@Suite struct StaticTokensTests {
    private static func presented(_ token: String) -> PresentedToken {
        PresentedToken(token, resource: Protected.resource)
    }

    private static func outcome(_ tokens: any TokenVerifier, _ token: String) async -> String {
        do throws(TokenRefusal) {
            return try await tokens.verify(presented(token)).subject
        } catch {
            return "\(error)"
        }
    }

    @Test func form() throws {
        let new = StaticToken.make(name: "ci", scopes: ["a"], expiresAt: 5)
        #expect(new.token.hasPrefix("mcps_") && new.token.utf8.count == 5 + 43 + 6)
        #expect(StaticToken.isWellFormed(new.token))
        #expect(new.record.digest == Hex.encode(SHA256.hash(Array(new.token.utf8)).bytes))
        #expect(new.record.name == "ci" && new.record.scopes == ["a"] && new.record.expiresAt == 5)
        #expect(StaticToken.make(name: "ci").token != new.token)
        #expect(
            StaticToken(name: "ci", token: new.token, scopes: ["a"], expiresAt: 5) == new.record)
        // Any changed, missing or additional character is noticed.
        let bytes = Array(new.token.utf8)
        for index in bytes.indices {
            var changed = bytes
            changed[index] = changed[index] == 0x41 ? 0x42 : 0x41
            #expect(!StaticToken.isWellFormed(String(decoding: changed, as: UTF8.self)))
        }
        for text in ["", "mcps_", String(new.token.dropLast()), new.token + "A", "x" + new.token] {
            #expect(!StaticToken.isWellFormed(text))
            #expect(StaticToken(name: "x", token: text) == nil)
        }
    }

    @Test func records() throws {
        let record = StaticToken.make(name: "ci", scopes: ["a b".replacing(" ", with: ":")]).record
        let json = try JSONValue(encoding: record)
        #expect(json["digest"]?.stringValue == record.digest)
        #expect(try json.decode(StaticToken.self) == record)
    }

    // AUTH-43
    @Test func verification() async throws {
        let clock = ManualClock(wallTime: WallTime(secondsSinceEpoch: 1_000))
        let made = ["a", "b", "c"].map {
            StaticToken.make(name: $0, scopes: ["s:\($0)"], expiresAt: $0 == "c" ? 1_010 : nil)
        }
        let tokens = try StaticTokens(made.map(\.record), clock: clock)
        for new in made { #expect(await Self.outcome(tokens, new.token) == new.record.name) }
        let principal = try await tokens.verify(Self.presented(made[2].token))
        #expect(principal.kind == .token && principal.scopes == ["s:c"] && principal.expiresAt == 1_010)
        let foreign = StaticToken.make(name: "x").token
        #expect(await Self.outcome(tokens, foreign) == "\(TokenRefusal.invalid(.unknown))")
        #expect(await Self.outcome(tokens, "mcps_x") == "\(TokenRefusal.invalid(.malformed))")
        clock.advance(by: .seconds(10))
        #expect(await Self.outcome(tokens, made[2].token) == "\(TokenRefusal.invalid(.expired))")
        let before = tokens.generation
        #expect(tokens.revoke("a") && !tokens.revoke("a"))
        #expect(tokens.generation != before)
        #expect(await Self.outcome(tokens, made[0].token) == "\(TokenRefusal.invalid(.unknown))")
        try tokens.add(made[0].record)
        #expect(await Self.outcome(tokens, made[0].token) == "a")
        try tokens.replaceAll(with: [made[1].record])
        #expect(tokens.records == [made[1].record])
    }

    @Test func badRecords() throws {
        let good = StaticToken.make(name: "a").record
        let tokens = try StaticTokens([good])
        #expect(throws: StaticTokenError.nameIsTaken("a")) { try tokens.add(good) }
        for name in ["", "a b", "ä", "a\n", String(repeating: "n", count: 65)] {
            let record = StaticToken(name: name, digest: good.digest)
            #expect(throws: StaticTokenError.badName(name)) { try StaticTokens([record]) }
        }
        for digest in ["", "xyz", String(good.digest.dropLast(2)), good.digest + "00"] {
            let record = StaticToken(name: "b", digest: digest)
            #expect(throws: StaticTokenError.badDigest("b")) { try tokens.replaceAll(with: [record]) }
        }
        let record = StaticToken(name: "b", digest: good.digest, scopes: ["a b"])
        #expect(throws: StaticTokenError.badScope("a b")) { try tokens.add(record) }
        #expect(tokens.records == [good])
        for error in [StaticTokenError.badName("x y"), .nameIsTaken("a"), .badDigest("a"), .badScope("b")] {
            #expect(!error.description.contains("\n"))
        }
    }

    static func numberOfTokens() throws {
        let digest = StaticToken.make(name: "a").record.digest
        let records = (0 ..< StaticTokens.maxTokens).map { StaticToken(name: "t\($0)", digest: digest) }
        let tokens = try StaticTokens(records)
        #expect(throws: StaticTokenError.tooMany) {
            try tokens.add(StaticToken(name: "more", digest: digest))
        }
        #expect(tokens.records.count == StaticTokens.maxTokens)
    }

    // A definite refusal is final; a token that nobody recognizes is malformed.
    @Test func severalVerifiers() async throws {
        let new = StaticToken.make(name: "ci")
        let tokens = try StaticTokens([new.record])
        let others = TestVerifier(["jwt": TestVerifier.user("alice")])
        let first = FirstVerifier(tokens, others)
        #expect(await Self.outcome(first, new.token) == "ci")
        #expect(await Self.outcome(first, "jwt") == "alice")
        let foreign = StaticToken.make(name: "x").token
        others.set(foreign, TestVerifier.user("mallory"))
        #expect(await Self.outcome(first, foreign) == "\(TokenRefusal.invalid(.unknown))")
        #expect(others.verified == ["jwt"])
        let before = first.generation
        tokens.revoke("ci")
        #expect(first.generation != before)
        let only = FirstVerifier([tokens])
        #expect(await Self.outcome(only, "jwt") == "\(TokenRefusal.invalid(.unknown))")
        #expect(!only.decides(about: Self.presented("jwt")) && first.decides(about: Self.presented("jwt")))
    }

    // Over HTTP, a revoked token is refused at once, although it was verified a moment ago.
    @Test(.timeLimit(.minutes(5))) func revokedOverHTTP() async throws {
        let new = StaticToken.make(name: "ci", scopes: ["mcp:use"])
        let tokens = try StaticTokens([new.record])
        let authorization = try Protected.authorization(tokens, issuers: [])
        try await Protected.serve(try TestServer().server, authorization) { port in
            let request = Protected.post("server/discover", token: new.token)
            for _ in 0 ..< 2 { #expect(try await Protected.answer(port, request).status == 200) }
            tokens.revoke("ci")
            let refused = try await Protected.answer(port, request)
            #expect(refused.status == 401)
            #expect(
                refused.headers["www-authenticate"]
                    == #"Bearer error="invalid_token", error_description="the token is not known", scope="mcp:use""#
            )
        }
    }

    // The key is that of a principal, not of a token.
    @Test func keys() {
        let principal = { (kind: Principal.Kind, issuer: String?, subject: String, client: String?) in
            Principal(kind: kind, issuer: issuer, subject: subject, clientID: client)
        }
        let all = [
            principal(.oauth, "i", "s", "c"), principal(.token, "i", "s", "c"),
            principal(.oauth, "is", "", "c"), principal(.oauth, "", "is", "c"),
            principal(.oauth, "i", "sc", nil), principal(.oauth, nil, "is", "c"),
        ]
        // An absent part is an empty one.
        #expect(Set(all.map(\.key)).count == 5)
        let renewed = Principal(
            kind: .oauth, issuer: "i", subject: "s", clientID: "c", scopes: ["x"], expiresAt: 9,
            claims: ["jti": "2"])
        #expect(renewed.key == all[0].key && renewed.key.utf8.count == 43)
    }
}
