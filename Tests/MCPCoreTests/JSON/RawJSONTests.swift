import Testing

@testable import MCPCore

@Suite struct RawJSONTests {
    @Test func trimsAndKeepsTheSpelling() throws {
        let raw = try RawJSON(validating: " \n{ \"a\" : 1.0 } ")
        #expect(raw.description == "{ \"a\" : 1.0 }")
        #expect(raw == (try RawJSON(validating: "{ \"a\" : 1.0 }")))
        #expect(raw != (try RawJSON(validating: "{\"a\":1.0}")))
        #expect(raw["a"]?.number?.text == "1.0")
    }

    @Test func sharesTheMemory() throws {
        let text = ByteSlice(#"{"a":[1,2]}"#)
        let raw = try RawJSON(validating: text)
        #expect(raw["a"]?[1]?.bytes.storage === text.storage)
    }

    @Test(arguments: [
        ("null", JSONKind.null), ("true", .bool), ("false", .bool), ("-1", .number), ("0", .number),
        ("\"\"", .string),
        ("[]", .array), ("{}", .object),
    ])
    func kinds(_ text: String, _ kind: JSONKind) throws {
        let raw = try RawJSON(validating: text)
        #expect(raw.kind == kind)
        #expect(raw.value.kind == kind)
        #expect(raw.isNull == (kind == .null))
        #expect((raw.bool != nil) == (kind == .bool))
        #expect((raw.string != nil) == (kind == .string))
        #expect((raw.int != nil) == (kind == .number))
        #expect((raw.double != nil) == (kind == .number))
        #expect((raw.elements != nil) == (kind == .array))
        #expect(raw["a"] == nil)
        #expect(raw[0] == nil)
        #expect(RawJSON(raw.value) == raw)
    }

    @Test func lookup() throws {
        let raw = try RawJSON(
            validating:
                #"{ "plain":1, "with\nescape":2, "\u0061":3 , "é":4, "":5, "list":[ 1 , [2] , {"x":"y"} ] }"#)
        #expect(raw["plain"]?.int == 1)
        #expect(raw["with\nescape"]?.int == 2)
        #expect(raw["a"]?.int == 3)
        #expect(raw.member("a")?.int == 3)
        #expect(raw["é"]?.int == 4)
        #expect(raw["e\u{301}"] == nil)
        #expect(raw[""]?.int == 5)
        #expect(raw["plai"] == nil)
        #expect(raw["list"]?[1]?.description == "[2]")
        #expect(raw["list"]?[2]?["x"]?.string == "y")
        #expect(raw["list"]?[3] == nil)
        #expect(raw["list"]?[-1] == nil)
        #expect(raw["list"]?.elements?.map(\.description) == ["1", "[2]", #"{"x":"y"}"#])
    }

    @Test func walking() throws {
        let raw = try RawJSON(validating: #"{ "a" : 1 , "b\n" : [ ] }"#)
        var seen: [String] = []
        raw.forEachMember { key, value in seen.append("\(key) \(value)") }
        #expect(seen == [#""a" 1"#, #""b\n" [ ]"#])
    }

    /// Fault row 18: the last one wins, also in another spelling.
    @Test func repeatedNames() throws {
        let raw = try RawJSON(validating: #"{"a":1,"b":2,"\u0061":3,"b":4,"b":5}"#)
        #expect(raw["a"]?.int == 3)
        #expect(raw["b"]?.int == 5)
        #expect(raw.value == ["a": 3, "b": 5])
    }

    @Test func numbers() throws {
        #expect(try RawJSON(validating: "1e2").int == 100)
        #expect(try RawJSON(validating: "1.5").int == nil)
        #expect(try RawJSON(validating: "1.5").double == 1.5)
        #expect(try RawJSON(validating: "1e400").double == .infinity)
        #expect(RawJSON.null.isNull)
    }

    /// The greatest depth that can be validated can be read in every way.
    @Test func deepest() throws {
        let text = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        let raw = try RawJSON(validating: text, limits: JSONLimits(maxDepth: 128))
        #expect(raw.value.serialized() == text)
        #expect(try raw.decode(JSONValue.self) == raw.value)
        #expect(raw[0]?.value == raw.value[0])
    }
}
