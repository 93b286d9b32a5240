import Testing

@testable import MCPCore

@Suite struct RequestIDTests {
    private static func id(_ json: String) throws -> RequestID {
        try #require(RequestID(RawJSON(validating: json)))
    }

    // JRPC-05, AMB-10: the JSON type counts, the spelling does not.
    @Test(arguments: [
        ("1", "1", true), ("1", "1.0", true), ("100", "1e2", true), ("0", "-0", true), ("1", "2", false),
        ("1", #""1""#, false), (#""a""#, #""\u0061""#, true), (#""a""#, #""A""#, false),
        (#""é""#, #""\u00e9""#, true),
        ("9007199254740993", "9007199254740992", false),
    ]) func equality(_ a: String, _ b: String, _ areEqual: Bool) throws {
        let (first, second) = (try Self.id(a), try Self.id(b))
        #expect((first == second) == areEqual)
        if areEqual { #expect(first.hashValue == second.hashValue) }
        #expect(first.description == a)
        #expect(second.json.bytes == ByteSlice(b))
    }

    @Test func madeByHand() throws {
        #expect(RequestID(5) == (try Self.id("5")))
        #expect(RequestID("x\"") == (try Self.id(#""x\"""#)))
        #expect(RequestID(.max).description == "9223372036854775807")
    }

    // JRPC-02
    @Test(arguments: ["null", "true", "[]", "{}", "1.5", "9223372036854775808"])
    func refused(_ json: String) throws {
        #expect(RequestID(try RawJSON(validating: json)) == nil)
    }
}
