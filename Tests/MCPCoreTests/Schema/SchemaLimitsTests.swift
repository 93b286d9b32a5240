import MCPCore
import TestSupport
import Testing

/// SCH-08: the work of a check is bounded, and what passes a bound is not valid.
@Suite struct SchemaLimitsTests {
    @Test func stopsEndlessApplication() throws {
        let schema = try CompiledSchema(["allOf": [["$ref": "#"]]])
        #expect(!schema.isValid(1))
        #expect(
            schema.validate(1).map(\.message) == [
                "the check was stopped: schemas are applied to it more than 128 levels deep"
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

    /// Size alone makes no value invalid, neither as a tree nor as bytes.
    @Test func acceptsLongValues() throws {
        let limits = SchemaLimits(maxWork: 1_000)
        let schema = try CompiledSchema(
            ["items": ["type": "integer"], "uniqueItems": true], options: SchemaOptions(limits: limits))
        let long = JSONValue.array((0 ..< 5_000).map { JSONValue($0) })
        #expect(schema.isValid(long))
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

    /// A place holds all names on the way to it: 10,000 beneath a name of 32 KiB would take 300 MB.
    @Test(.ownThreads) func refusesPlacesThatTakeTooMuchMemory() throws {
        let long = String(repeating: "n", count: 32_768)
        let branches = JSONValue.array(Array(repeating: [:], count: 10_000))
        let error = #expect(throws: SchemaError.self) {
            try CompiledSchema(["properties": .object([long: ["anyOf": branches]])])
        }
        #expect(error?.message.contains("16777216 bytes") == true, "\(error?.message ?? "")")
        _ = try CompiledSchema(["properties": ["short": ["anyOf": branches]]])
        // The same with the URIs of resources.
        let resources = JSONValue.array((0 ..< 1_000).map { ["$id": .string("r\($0)")] })
        #expect(throws: SchemaError.self) {
            try CompiledSchema(["$id": .string("https://h/\(long)/"), "anyOf": resources])
        }
    }

    /// What alternatives report is kept until one fits: texts of a long name count as work.
    @Test func stopsWhereViolationsTakeTooMuchMemory() throws {
        let name = String(repeating: "n", count: 100_000)
        let branch: JSONValue = ["additionalProperties": ["type": "null"]]
        let schema = try CompiledSchema(["anyOf": .array(Array(repeating: branch, count: 2_000))])
        let violations = schema.validate(.object([name: 1]))
        #expect(
            violations.map(\.message) == [
                "the check was stopped: it is too large, or its schema is too complex"
            ])
        #expect(schema.validate(.object(["n": 1])).first?.keyword == "anyOf")
    }

    /// Hashing and comparing count by the size of the value, not by the number of keywords.
    @Test(.ownThreads, arguments: ["enum", "set", "const", "uniqueItems", "integer", "regex"])
    func countsTheSizeOfWhatIsCompared(_ keyword: String) throws {
        let long = String(repeating: "x", count: 16_000)
        let digits = try #require(JSONNumber(text: "1." + String(repeating: "1", count: 16_000)))
        let (rule, value): (JSONValue, JSONValue) =
            switch keyword {
            case "enum": (["enum": ["a", "b"]], .string(long))
            case "set": (["enum": .array((0 ..< 20).map { JSONValue($0) })], .string(long))
            case "const": (["const": "a"], .string(long))
            case "uniqueItems": (["uniqueItems": true, "maxItems": 1], [.string(long), 1])
            case "regex": (["format": "regex", "maxLength": 0], "a{9999}")
            default: (["type": "integer"], .number(digits))
            }
        // Without the size, 400 alternatives are some hundred steps; with it, more than the value adds.
        var options = SchemaOptions(assertFormat: true, limits: SchemaLimits(maxWork: 50_000))
        let many = JSONValue.array(Array(repeating: rule, count: 400))
        let schema = try CompiledSchema(["anyOf": many], options: options)
        #expect(schema.validate(value).first?.message.hasPrefix("the check was stopped") == true)
        options.limits.maxWork = 10_000_000
        let rich = try CompiledSchema(["anyOf": many], options: options)
        #expect(rich.validate(value).first?.keyword == "anyOf")
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
