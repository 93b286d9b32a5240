import TestSupport
import Testing

@testable import MCPCore

/// What protects `requestState` (MRTR-09, MRTR-10).
@Suite(.timeLimit(.minutes(5))) struct RequestStateTests {
    private static let seal = RequestState(keys: StateKeys([UInt8](repeating: 1, count: 32)), lifetime: 600)
    private static let content = RequestState.Content(
        chain: .init(high: 1, low: 2), answers: ["k": ["action": "accept", "content": ["name": "Ä\"\n"]]],
        questions: ["k": seal.mark(of: [[1], [2]]), "other": seal.mark(of: [])],
        handlerState: [1, .null, "x"])
    private static let purpose = RequestState.Purpose(
        method: "tools/call", name: "greet", arguments: ["a": 1, "b": [true, .null, "x", 1.5]])

    private static let birth = RequestState.Birth(ledger: .max - 1, age: 77)

    private static func sealed(made: Int64 = 0, salt: UInt8 = 0, principal: String = "") throws -> String {
        try #require(
            seal.seal(
                content, for: purpose, principal: principal, birth: birth, now: made,
                salt: [UInt8](repeating: salt, count: 8)))
    }

    private static func open(
        _ text: String, for purpose: RequestState.Purpose = purpose, principal: String = "", now: Int64 = 0,
        with seal: RequestState = seal
    ) -> Result<RequestState.Content, RequestState.Refusal> {
        do throws(RequestState.Refusal) {
            return .success(try seal.open(text, for: purpose, principal: principal, now: now).content)
        } catch {
            return .failure(error)
        }
    }

    @Test func roundTrip() throws {
        #expect(Self.open(try Self.sealed()) == .success(Self.content))
        let bare = RequestState.Content(chain: .init(high: .max, low: 0), answers: [:], handlerState: nil)
        let text = try #require(
            Self.seal.seal(
                bare, for: Self.purpose, principal: "", birth: Self.birth, now: .max - 5,
                salt: [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(Self.open(text, now: .max - 1) == .success(bare))
    }

    @Test func itsTimes() throws {
        let opened = try Self.seal.open(try Self.sealed(made: 77), for: Self.purpose, principal: "", now: 80)
        #expect(opened.remaining == 597 && opened.birth == Self.birth)
    }

    // A clock that was set back a little is no reason; one that is far off is. Nothing is lost with it: what
    // is asked now is valid.
    @Test func aClockThatWasAhead() throws {
        let text = try Self.sealed(made: 100_000)
        #expect(Self.open(text, now: 100_000) == .success(Self.content))
        #expect(Self.open(text, now: 99_940) == .success(Self.content))
        for now in [99_939, 50_000, 0, -100_000, .min] as [Int64] {
            #expect(Self.open(text, now: now) == .failure(.early))
        }
        #expect(Self.open(try Self.sealed(made: 99_000), now: 99_000) == .success(Self.content))
        let long = RequestState(keys: StateKeys([UInt8](repeating: 1, count: 32)), lifetime: .max)
        #expect(Self.open(text, now: 0, with: long) == .success(Self.content))
        let zero = RequestState(keys: StateKeys([UInt8](repeating: 1, count: 32)), lifetime: .min)
        #expect(Self.open(text, now: 100_600 - 60, with: zero) == .success(Self.content))
        #expect(Self.open(text, now: 100_600 - 61, with: zero) == .failure(.early))
    }

    // What an answer belongs to is recognised, and cannot be guessed by who reads the state.
    @Test func questions() {
        let parts: [[UInt8]] = [[1, 2], [3]]
        let mark = Self.seal.mark(of: parts)
        #expect(mark.count == 16)
        #expect(Self.seal.isMark(mark, of: parts))
        for others in [[[1], [2, 3]], [[1, 2, 3]], [[1, 2], [3], []], [[1, 2], [4]], []] as [[[UInt8]]] {
            #expect(!Self.seal.isMark(mark, of: others), "\(others)")
        }
        #expect(!Self.seal.isMark([], of: parts) && !Self.seal.isMark(Array(mark.dropLast()), of: parts))
        let other = RequestState(
            keys: StateKeys([UInt8](repeating: 2, count: 32)), lifetime: 600)
        #expect(other.mark(of: parts) != mark && !other.isMark(mark, of: parts))
    }

    @Test func everyRoundHasItsOwn() throws {
        #expect(try Self.sealed(salt: 1) != Self.sealed(salt: 2))
    }

    @Test func everyFlippedBitIsNoticed() throws {
        let text = Array(try Self.sealed().utf8)
        for place in text.indices {
            for bit in 0 ..< 8 {
                var changed = text
                changed[place] ^= 1 << UInt8(bit)
                #expect(Self.open(String(decoding: changed, as: UTF8.self)) == .failure(.foreign))
            }
        }
    }

    @Test func everyFlippedByteIsNoticed() throws {
        let bytes = try #require(Base64URL.decode(try Self.sealed()))
        for place in bytes.indices {
            for change in [0x01, 0x80, 0xFF] as [UInt8] {
                var changed = bytes
                changed[place] ^= change
                #expect(Self.open(Base64URL.encode(changed)) == .failure(.foreign))
            }
        }
    }

    @Test func truncatedOrLengthened() throws {
        let text = try Self.sealed()
        for count in 0 ..< text.count { #expect(Self.open(String(text.prefix(count))) == .failure(.foreign)) }
        for extra in ["A", "AAAA", "=", "-TAMPERED", "\0", "é"] {
            #expect(Self.open(text + extra) == .failure(.foreign))
        }
        #expect(Self.open(String(repeating: "A", count: 70_000)) == .failure(.foreign))
    }

    @Test func foreignKeyOrPrincipal() throws {
        let other = RequestState(
            keys: StateKeys([UInt8](repeating: 2, count: 32)), lifetime: 600)
        #expect(Self.open(try Self.sealed(), with: other) == .failure(.foreign))
        #expect(Self.open(try Self.sealed(), principal: "eve") == .failure(.foreign))
        #expect(Self.open(try Self.sealed(principal: "ann"), principal: "ann") == .success(Self.content))
        #expect(Self.open(try Self.sealed(principal: "ann")) == .failure(.foreign))
    }

    // Cursors and session ids under the same key are no states, nor the other way round.
    @Test func otherSeals() throws {
        let key = [UInt8](repeating: 1, count: 32)
        let cursor = CursorSeal(keys: StateKeys(key)).seal(
            String(repeating: "x", count: 200), for: .toolsList)
        #expect(Self.open(cursor) == .failure(.foreign))
        #expect(CursorSeal(keys: StateKeys(key)).open(try Self.sealed(), for: .toolsList) == nil)
        #expect(throws: LegacySessions.Refusal.self) {
            try LegacySessions(keys: StateKeys(key)).open(
                ByteSlice(try Self.sealed()), principal: "", now: 0, uptime: 0)
        }
    }

    @Test func expiry() throws {
        let clock = ManualClock()
        let now = { clock.wallTime.secondsSinceEpoch }
        let text = try Self.sealed(made: now())
        clock.advance(by: .seconds(599))
        #expect(Self.open(text, now: now()) == .success(Self.content))
        clock.advance(by: .seconds(1))
        #expect(Self.open(text, now: now()) == .failure(.expired))
    }

    static let otherPurposes: [RequestState.Purpose] = {
        let arguments: JSONValue = ["a": 1, "b": [true, .null, "x", 1.5]]
        let variations: [JSONValue] = [
            [:], .null, ["a": 2, "b": [true, .null, "x", 1.5]], ["a": 1, "b": [.null, true, "x", 1.5]],
            ["a": "1", "b": [true, .null, "x", 1.5]], ["a": 1, "b": [true, .null, "x"]],
            ["a": 1, "b": [true, .null, "x", 1.5], "c": .null], ["A": 1, "b": [true, .null, "x", 1.5]],
            ["a": [1], "b": [true, .null, "x", 1.5]], [arguments],
        ]
        return variations.map { RequestState.Purpose(method: "tools/call", name: "greet", arguments: $0) } + [
            RequestState.Purpose(method: "prompts/get", name: "greet", arguments: arguments),
            RequestState.Purpose(method: "tools/call", name: "greet2", arguments: arguments),
            RequestState.Purpose(method: "tools/callg", name: "reet", arguments: arguments),
            RequestState.Purpose(method: "tools/call", name: "", arguments: arguments),
        ]
    }()

    @Test(arguments: otherPurposes.indices) func otherRequest(_ index: Int) throws {
        #expect(Self.open(try Self.sealed(), for: Self.otherPurposes[index]) == .failure(.otherRequest))
    }

    @Test func sameArgumentsInOtherWords() throws {
        let text = #" { "b" : [ true , null, "\u0078", 1.5 ] , "a":1} "#
        let purpose = RequestState.Purpose(
            method: "tools/call", name: "greet", arguments: try JSONValue(parsing: text))
        #expect(Self.open(try Self.sealed(), for: purpose) == .success(Self.content))
    }

    @Test func boundedSize() throws {
        var content = Self.content
        for (bytes, fits) in [(40_000, true), (48_000, true), (49_200, false), (200_000, false)] {
            content.handlerState = .string(String(repeating: "x", count: bytes))
            let text = Self.seal.seal(
                content, for: Self.purpose, principal: "", birth: Self.birth, now: 0,
                salt: [UInt8](repeating: 0, count: 8))
            #expect((text != nil) == fits)
            if let text {
                #expect(text.utf8.count <= RequestState.maxBytes)
                #expect(Self.open(text) == .success(content))
            }
        }
    }
}
