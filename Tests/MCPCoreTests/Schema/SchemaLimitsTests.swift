import Testing

@testable import MCPCore

/// SCH-08: the work of a check is bounded, and what passes a bound is not valid.
@Suite struct SchemaLimitsTests {
    @Test func stopsEndlessApplication() throws {
        let schema = try CompiledSchema(["allOf": [["$ref": "#"]]])
        #expect(!schema.isValid(1))
        #expect(
            schema.validate(1).map(\.message) == [
                "the check was stopped: schemas are applied to it more than 192 levels deep"
            ])
        #expect(!(try CompiledSchema(["not": ["$ref": "#"]]).isValid(1)))
    }

    @Test func stopsExponentialWork() throws {
        var definitions: JSONObject = ["d0": ["type": "string"]]
        for level in 1 ... 40 {
            let below: JSONValue = ["$ref": .string("#/$defs/d\(level - 1)"), "minLength": 0]
            definitions["d\(level)"] = ["anyOf": [below, below]]
        }
        let limits = SchemaLimits(maxWork: 100_000)
        let schema = try CompiledSchema(
            ["$defs": .object(definitions), "$ref": "#/$defs/d40"], options: SchemaOptions(limits: limits))
        #expect(schema.isValid("x"))
        #expect(schema.validate(1).first?.message.hasPrefix("the check was stopped") == true)
    }

    @Test func acceptsLongValuesInBytes() throws {
        let limits = SchemaLimits(maxWork: 1_000)
        let schema = try CompiledSchema(
            ["items": ["type": "integer"], "uniqueItems": true], options: SchemaOptions(limits: limits))
        let long = JSONValue.array((0 ..< 5_000).map { JSONValue($0) })
        #expect(!schema.isValid(long))
        #expect(schema.isValid(RawJSON(long)))
    }

    @Test func givesAFewViolations() throws {
        let options = SchemaOptions(limits: SchemaLimits(maxViolations: 3))
        let schema = try CompiledSchema(["items": ["type": "string"]], options: options)
        #expect(schema.validate([1, 2, 3, 4, 5]).map(\.instancePath) == ["/0", "/1", "/2"])
        #expect(
            try CompiledSchema(["items": false]).validate(.array((0 ..< 99).map { JSONValue($0) })).count
                == 20)
    }

    @Test func refusesTooManySubschemas() {
        let many = JSONValue.object(
            JSONObject((0 ..< 50).map { ("p\($0)", ["type": "string"] as JSONValue) }))
        let options = SchemaOptions(limits: SchemaLimits(maxSubschemas: 20))
        let error = #expect(throws: SchemaError.self) {
            try CompiledSchema(["properties": many], options: options)
        }
        #expect(error?.message == "more than 20 subschemas")
    }

    @Test func goesDownToTheDepthOfJSON() throws {
        let schema = try CompiledSchema(["items": ["$ref": "#"]])
        let nested = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        let raw = try RawJSON(validating: nested, limits: JSONLimits(maxDepth: 128))
        #expect(schema.isValid(raw))
    }

    @Test func manyMembersStayFast() throws {
        let names = (0 ..< 5_000).map { "name\($0)" }
        let schema = try CompiledSchema(["required": .array(names.map { .string($0) })])
        let object = JSONValue.object(JSONObject(names.map { ($0, 1 as JSONValue) }))
        #expect(schema.isValid(object))
        #expect(schema.isValid(RawJSON(object)))
    }
}
