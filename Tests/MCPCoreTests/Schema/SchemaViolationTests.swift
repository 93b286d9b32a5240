import MCPCore
import Testing

/// The words that a person sees on a terminal.
@Suite struct SchemaViolationTests {
    private func lines(_ schema: String, _ value: String) throws -> [String] {
        try CompiledSchema(JSONValue(parsing: schema)).validate(JSONValue(parsing: value)).map(\.description)
    }

    /// A schema, a value and the line it gives.
    static let cases = ##"""
        {"properties":{"unit":{"enum":["web","worker","cron"]}}}
          {"unit":"wrker"}
          /unit: "wrker" is not one of "web", "worker", "cron"
        {"properties":{"limit":{"minimum":1}}}
          {"limit":0}
          /limit: 0 is less than the minimum 1
        {"maximum":10}
          10.5
          10.5 is greater than the maximum 10
        {"exclusiveMinimum":0}
          0
          0 is not greater than 0
        {"exclusiveMaximum":5}
          5
          5 is not less than 5
        {"multipleOf":5}
          7
          7 is not a multiple of 5
        {"required":["text"]}
          {}
          required member "text" is missing
        {"properties":{},"additionalProperties":false}
          {"now":1}
          unexpected member "now"
        {"properties":{"a":{"unevaluatedProperties":false}}}
          {"a":{"b":1}}
          /a: unexpected member "b"
        {"type":"string"}
          5
          expected string, found number
        {"type":"integer"}
          1.5
          1.5 is not an integer
        {"type":["string","null"]}
          {}
          expected null or string, found object
        {"type":"number"}
          []
          expected number, found array
        {"const":"a"}
          2
          2 is not "a"
        {"minLength":3}
          "ab"
          "ab" is too short: at least 3 characters
        {"minLength":1}
          ""
          the text is empty: at least 1 character
        {"maxLength":1}
          "ab"
          the text has 2 characters, at most 1 are allowed
        {"pattern":"^a"}
          "b"
          "b" does not match the pattern ^a
        {"minItems":2}
          [1]
          has 1 element, at least 2 required
        {"maxProperties":0}
          {"a":1}
          has 1 member, at most 0 are allowed
        {"uniqueItems":true}
          ["a",1,"a"]
          elements 0 and 2 are equal: "a"
        {"contains":{"type":"null"}}
          []
          has 0 matching elements, at least 1 required
        {"propertyNames":{"pattern":"^a"}}
          {"b":1}
          the member name "b" is not allowed: "b" does not match the pattern ^a
        {"dependentRequired":{"a":["b"]}}
          {"a":1}
          member "b" is missing: "a" requires it
        {"properties":{"a~/b":{"items":{"type":"null"}}}}
          {"a~/b":[null,1]}
          /a~0~1b/1: expected null, found number
        {"properties":{"x":false}}
          {"x":1}
          /x: must not be present
        {"not":{"type":"null"}}
          null
          null has a form that is not allowed
        {"anyOf":[{"type":"string"},{"type":"null"}]}
          1
          expected string or null, found number
        {"anyOf":[{"type":"integer","minimum":1},{"type":"null"}]}
          0
          0 is less than the minimum 1
        {"oneOf":[{"minimum":1},{"maximum":5}]}
          3
          matches alternatives 1 and 2 of 2, not exactly one
        {"oneOf":[{"required":["a"]},{"required":["b"]}]}
          {}
          matches none of the 2 alternatives: required member "a" is missing; or required member "b" is missing
        """##.split(separator: "\n").map { String($0.drop { $0 == " " }) }

    @Test(arguments: Array(stride(from: 0, to: cases.count, by: 3)))
    func says(_ place: Int) throws {
        #expect(try lines(Self.cases[place], Self.cases[place + 1]) == [Self.cases[place + 2]])
    }

    @Test func namesPlacesAndMembers() throws {
        let schema = try CompiledSchema([
            "properties": ["a": ["required": ["b"]]], "additionalProperties": false,
        ])
        let violations = schema.validate(["a": [:], "c": 1])
        #expect(violations.map(\.instancePath) == ["/a", ""])
        #expect(violations.map(\.keyword) == ["required", "additionalProperties"])
        #expect(violations.map(\.schemaPath) == ["#/properties/a/required", "#/additionalProperties"])
        #expect(violations.map(\.member) == ["b", "c"])
    }

    @Test func tellsAllViolationsOfAnObject() throws {
        let found = try lines(
            #"{"required":["x"],"properties":{"a":{"type":"string"},"b":{"type":"null"}}}"#, #"{"a":1,"b":2}"#
        )
        #expect(
            found == [
                "/a: expected string, found number", "/b: expected null, found number",
                #"required member "x" is missing"#,
            ])
    }

    @Test func isHarmlessOnATerminal() throws {
        let found = try lines(#"{"enum":["a"]}"#, "\"\\u001b[2J\u{9B}\u{202E}x\"")
        #expect(found == [#""\u{1B}[2J\u{9B}\u{202E}x" is not "a""#])
        let long = try lines(#"{"enum":["a"]}"#, "\"" + String(repeating: "x", count: 500) + "\"")
        #expect(long == ["\"" + String(repeating: "x", count: 60) + "…\" is not \"a\""])
    }

    /// Fault row 18: names that the schema lists may not be repeated; of others the last counts.
    @Test func refusesRepeatedNames() throws {
        let flat = try CompiledSchema(["properties": ["a": ["type": "string"]]])
        let deep = try CompiledSchema([
            "properties": ["l": ["prefixItems": [["properties": ["a": true]]]]]
        ])
        let twice = try RawJSON(validating: #"{"a":"x","b":1,"b":2,"\u0061":"y"}"#)
        #expect(!flat.isValid(twice))
        #expect(flat.validate(twice).map(\.description) == [#"member "a" appears twice"#])
        #expect(flat.validate(try RawJSON(validating: #"{"a":"x","a":"y"}"#)).map(\.member) == ["a"])
        #expect(flat.isValid(try RawJSON(validating: #"{"a":"x","b":1,"b":2}"#)))
        let inner = try RawJSON(validating: #"{"l":[{"b":1,"a":1,"a":2}]}"#)
        #expect(deep.validate(inner).map(\.description) == [#"/l/0: member "a" appears twice"#])
        #expect(!deep.isValid(inner))
    }
}
