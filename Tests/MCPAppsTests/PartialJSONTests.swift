import MCPApps
import MCPCore
import MCPHarness
import Testing

/// Arguments while a model writes them.
@Suite struct PartialJSONTests {
    // A34
    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":1}"#), (#"{"#, "{}"), (#"  {"a"#, "{}"), (#"{"a""#, "{}"), (#"{"a":"#, "{}"),
        (#"{"a":1"#, "{}"), (#"{"a":1,"#, #"{"a":1}"#), (#"{"a":1 "#, #"{"a":1}"#), (#"{"a":tru"#, "{}"),
        (#"{"a":true,"b":nul"#, #"{"a":true}"#), (#"{"a":"x"#, #"{"a":"x"}"#), (#"{"a":""#, #"{"a":""}"#),
        (#"{"a":"x\"#, #"{"a":"x"}"#), (#"{"a":"x\n"#, #"{"a":"x\n"}"#), (#"{"a":"x\u00e"#, #"{"a":"x"}"#),
        (#"{"a":"x\u00e9"#, #"{"a":"xé"}"#), (#"{"a":"\ud83d\ude0"#, #"{"a":""}"#),
        (#"{"a":"\ud83d"#, #"{"a":""}"#),
        (#"{"a":"\ud83d\ude00"#, #"{"a":"😀"}"#), (#"{"a":[1,2"#, #"{"a":[1]}"#),
        (#"{"a":[{"b":"c"},{"#, #"{"a":[{"b":"c"},{}]}"#),
        (#"{"a":[[["#, #"{"a":[[[]]]}"#), (#"["a","b"#, #"["a","b"]"#), (#"["a","#, #"["a"]"#),
        (#"{"a":{"b":{}},"c"#, #"{"a":{"b":{}}}"#), (#""te"#, #""te""#), (#"{"n":-1.5e"#, "{}"),
        (#"{"a":"}{"#, #"{"a":"}{"}"#), (#"{"\""#, "{}"), ("{}\n", "{}"),
    ])
    func healed(text: String, whole: String) throws {
        #expect(PartialJSON.heal(text)?.serialized() == (try JSONValue(parsing: whole)).serialized())
    }

    // A34
    @Test(arguments: [
        "", " ", "1", "tru", "x", "}", "]", ",", ":", #"{"a":1}}"#, #"{a"#, #"{"a" "b"#, #"{"a":1 "b"#,
        #"{,"#, #"[,"#,
        #"{"a"]"#, #"{]"#, #"[}"#, #"{} x"#, #"{"a":}"#, #"{"a",}"#, #"{"a":01,"#, #"{"a":"\x","#,
        #"{"a":truefalse,"#,
        #"{"a":1"x""#, "{\"a\":\"\u{1}\",",
    ])
    func wrong(text: String) {
        #expect(PartialJSON.heal(text) == nil)
    }

    /// Every beginning of a text can be healed, and what it says never goes back.
    @Test func everyBeginning() throws {
        let text =
            #"{"city":"Zürich \ud83d\ude00","days":[1,2.5,-3e2,{"x":null,"y":[true,false]}],"n":{"m":""}}"#
        var last = 0
        for length in 1 ... text.unicodeScalars.count {
            let beginning = String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
            let healed = try #require(PartialJSON.heal(beginning), "\(beginning)")
            let count = healed.serialized().utf8.count
            #expect(count >= last || healed["n"] != nil, "\(beginning)")
            last = count
        }
        #expect(PartialJSON.heal(text) == (try JSONValue(parsing: text)))
    }

    @Test func bounds() {
        let limit = JSONLimits().maxDepth
        #expect(PartialJSON.heal(String(repeating: "[", count: limit)) != nil)
        #expect(PartialJSON.heal(String(repeating: "[", count: limit + 1)) == nil)
        #expect(PartialJSON.heal(String(repeating: "[", count: 1 << 20)) == nil)
        let long = "{\"a\":\"" + String(repeating: "x", count: PartialJSON.maxBytes - 6)
        #expect(PartialJSON.heal(long)?["a"]?.stringValue?.utf8.count == PartialJSON.maxBytes - 6)
        #expect(PartialJSON.heal(long + "x") == nil)
    }
}
