import MCPCore
import Testing

@testable import MCPClientCLI

struct SchemaViewTests {
    private func view(_ text: String) throws -> SchemaView { SchemaView(try JSONValue(parsing: text)) }

    @Test func localReferencesAreFollowed() throws {
        let view = try view(
            ##"{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"n":{"$ref":"#/$defs/x~1y"}}},"x/y":{"type":"integer"}}}"##
        )
        #expect(view.propertyNames == ["n"])
        #expect(view.property("n")?.types == ["integer"])
        #expect(!view.isOpaque)
    }

    @Test func partsOfAllOfHoldAndAlternativesDoNotRequire() throws {
        let view = try view(
            #"{"required":["a"],"allOf":[{"properties":{"b":{}},"required":["b"]}],"anyOf":[{"properties":{"c":{}},"required":["c"]},{"required":["d"]}]}"#
        )
        #expect(view.required == ["a", "b"])
        #expect(view.propertyNames == ["b", "c"])
    }

    /// What each alternative requires that allows an object is required of an object.
    @Test(arguments: [
        (
            ##"{"anyOf":[{"$ref":"#/$defs/m"},{"type":"null"}],"$defs":{"m":{"required":["n"],"type":"object"}}}"##,
            ["n"]
        ),
        (
            #"{"oneOf":[{"required":["a","b"]},{"type":"object","required":["b","c"]},{"type":"string"}]}"#,
            ["b"]
        ),
        (#"{"anyOf":[{"anyOf":[{"type":"object","required":["n"]},{"type":"null"}]},{"const":1}]}"#, ["n"]),
        (#"{"anyOf":[{"type":"object","required":["n"]},{}]}"#, []),
        (#"{"anyOf":[{"type":"object","required":["n"]},{"type":["object","null"]}]}"#, []),
        (#"{"anyOf":[{"type":"string","required":["n"]},{"type":"null","required":["n"]}]}"#, []),
    ])
    func whatAnObjectAmongAlternativesNeeds(schema: String, required: [String]) throws {
        #expect(try view(schema).required == required)
    }

    /// A schema comes from the server: it may refer to itself for ever, or be as wide as it likes.
    @Test func selfReferencesEnd() throws {
        let view = try view(
            ##"{"$ref":"#","anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}],"properties":{"self":{"$ref":"#"}}}"##
        )
        #expect(view.isOpaque)
        #expect(view.nodes.count <= 256)
        #expect(view.required.isEmpty && view.typesBesideChoices.isEmpty)
        #expect(!TypeText.signature(view).isEmpty)
        #expect(view.property("self")?.property("self")?.propertyNames == ["self"])
    }

    @Test(arguments: [##"{"$ref":"#/no/such"}"##, #"{"$ref":"other.json"}"#, ##"{"$ref":"#anchor"}"##])
    func whatCannotBeFollowedIsOpaque(schema: String) throws {
        let view = try view(schema)
        #expect(view.isOpaque)
        #expect(view.otherMembers != nil)
    }

    @Test(arguments: [
        (#"{"type":"string"}"#, "string"), (#"{"type":["integer","null"]}"#, "int|null"),
        (#"{"type":"integer","minimum":1,"maximum":200}"#, "int 1…200"),
        (#"{"type":"integer","minimum":1}"#, "int ≥1"),
        (#"{"type":"number","exclusiveMinimum":0}"#, "number >0"),
        (#"{"type":"number","minimum":0,"exclusiveMaximum":1}"#, "number ≥0 <1"),
        (#"{"type":"boolean"}"#, "bool"), (#"{"type":"string","format":"date-time"}"#, "date-time"),
        (#"{"type":"string","format":"\u001b[31m"}"#, "string"),
        (#"{"type":"array","items":{"type":"string"}}"#, "[string]"), (#"{"type":"array"}"#, "[any]"),
        (#"{"enum":["a","b"]}"#, #""a"|"b""#), (#"{"const":5}"#, "5"),
        (#"{"anyOf":[{"enum":["a","b"]},{"type":"null"}]}"#, #""a"|"b"|null"#),
        (#"{"anyOf":[{"enum":["a",null]},{"type":["null","integer"],"minimum":2}]}"#, #""a"|null|int ≥2"#),
        (#"{"enum":["a"],"anyOf":[{"const":"a"},{"type":"string"}]}"#, #""a""#),
        (
            #"{"anyOf":[{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]},{"type":"null"}]}"#,
            "{n: string}|null"
        ),
        (
            #"{"type":"object","properties":{"a":{"type":"integer"},"b":{}},"required":["a"]}"#,
            "{a: int, b?: any}"
        ),
        (#"{"type":"object"}"#, "object"), ("{}", "any"), ("true", "any"),
        (#"{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"integer"}}]}"#, "int|[int]"),
    ])
    func typesInFewWords(schema: String, text: String) throws {
        #expect(TypeText.signature(try view(schema)) == text)
    }

    @Test func deepNestingEnds() throws {
        let deep =
            String(repeating: #"{"type":"array","items":"#, count: 40) + "{}"
            + String(repeating: "}", count: 40)
        #expect(TypeText.signature(try view(deep)).count < 40)
    }
}
