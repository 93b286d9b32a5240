import Testing

@testable import MCPCore

@Suite struct SchemaBuilderTests {
    enum Unit: String, Codable, CaseIterable { case metric, imperial }
    enum Level: Int, Codable, CaseIterable { case low = 1, high = 2 }
    enum Open: String, Codable { case a }

    struct Place: Codable {
        var name: String
        var height: Double?
    }

    struct Query: Codable {
        var city: String
        var days: Int?
        var unit: Unit
        var level: Level
        var places: [Place]
        var tags: Set<String>?
        var extra: [String: Bool]
        var bytes: [UInt8]
        var port: UInt16
        var any: JSONValue
        var maybe: [Int?]
    }

    private func expect(_ found: JSONValue, _ text: String) throws {
        let expected = try JSONValue(parsing: text)
        #expect(found == expected, "\(found)")
        // SCH-04: what is published is a valid schema.
        #expect(
            try CompiledSchema(["$ref": .string(SchemaDialect.draft202012.rawValue)]).validate(found) == [])
    }

    @Test func seesMembers() throws {
        let described = ["city": "City name", "places.name": "Name of the place", "days": "How many"]
        try expect(
            SchemaBuilder.schema(for: Query.self, describe: described),
            #"""
            {"type":"object","properties":{
              "city":{"type":"string","description":"City name"},
              "days":{"type":"integer","description":"How many"},
              "unit":{"type":"string","enum":["metric","imperial"]},
              "level":{"type":"integer","enum":[1,2]},
              "places":{"type":"array","items":{"type":"object","properties":{
                "name":{"type":"string","description":"Name of the place"},"height":{"type":"number"}},
                "required":["name"]}},
              "tags":{"type":"array","items":{"type":"string"},"uniqueItems":true},
              "extra":{"type":"object","additionalProperties":{"type":"boolean"}},
              "bytes":{"type":"array","items":{"type":"integer","minimum":0,"maximum":255}},
              "port":{"type":"integer","minimum":0,"maximum":65535},
              "any":{},
              "maybe":{"type":"array","items":{"type":["integer","null"]}}},
             "required":["city","unit","level","places","extra","bytes","port","any","maybe"]}
            """#)
    }

    @Test func keepsTheOrderOfMembers() {
        let schema = SchemaBuilder.schema(for: Place.self)
        #expect(
            schema.serialized().hasPrefix(
                #"{"type":"object","properties":{"name":{"type":"string"},"height":"#))
    }

    @Test func seesValues() throws {
        try expect(SchemaBuilder.schema(for: Double.self), #"{"type":"number"}"#)
        try expect(SchemaBuilder.schema(for: Int8.self), #"{"type":"integer","minimum":-128,"maximum":127}"#)
        try expect(SchemaBuilder.schema(for: UInt64.self), #"{"type":"integer","minimum":0}"#)
        try expect(
            SchemaBuilder.schema(for: [String]?.self), #"{"type":["array","null"],"items":{"type":"string"}}"#
        )
        try expect(
            SchemaBuilder.schema(for: Unit?.self),
            #"{"anyOf":[{"type":"string","enum":["metric","imperial"]},{"type":"null"}]}"#)
    }

    struct Tree: Codable {
        var value: Int
        var children: [Tree]
    }

    final class Chain: Codable {
        var next: Chain?
        var value = 0
    }

    struct Holder: Codable {
        var tree: Tree
        var after: Int
    }

    @Test func endsRecursion() throws {
        try expect(
            SchemaBuilder.schema(for: Tree.self),
            ##"""
            {"type":"object","properties":{"value":{"type":"integer"},"children":{"type":"array",
              "items":{"$ref":"#"}}},"required":["value","children"]}
            """##
        )
        try expect(
            SchemaBuilder.schema(for: Chain.self),
            ##"""
            {"type":"object","properties":{"next":{"$ref":"#"},"value":{"type":"integer"}},
              "required":["value"]}
            """##
        )
        try expect(
            SchemaBuilder.schema(for: Holder.self),
            #"""
            {"type":"object","properties":{"tree":{"type":"object","properties":{"value":{
              "type":"integer"},"children":{"type":"array","items":{"type":"object"}}},"required":[
              "value","children"]},"after":{"type":"integer"}},"required":["tree","after"]}
            """#
        )
    }

    struct Color: Codable, ToolValue {
        let text: String
        static var schema: JSONValue { ["type": "string", "pattern": "^#", "examples": ["#000"]] }
        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
            guard text.hasPrefix("#") else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no color"))
            }
        }
    }

    struct Paint: Codable {
        var color: Color
        var layers: Int
    }

    struct Strict: Codable {
        var before: Int
        var open: Open
        var after: Int
    }

    @Test func asksTypesForTheirSchema() throws {
        try expect(
            SchemaBuilder.schema(for: Paint.self),
            ##"""
            {"type":"object","properties":{"color":{"type":"string","pattern":"^#","examples":[
              "#000"]},"layers":{"type":"integer"}},"required":["color","layers"]}
            """##
        )
    }

    @Test func leavesOpenWhatItCannotSee() throws {
        try expect(
            SchemaBuilder.schema(for: Strict.self),
            #"""
            {"type":"object","properties":{"before":{"type":"integer"},"open":{"type":"string"}},
              "required":["before","open"]}
            """#
        )
        struct Refusing: Decodable {
            init(from decoder: any Decoder) throws { throw Probe.Stop() }
        }
        try expect(SchemaBuilder.schema(for: Refusing.self), #"{"type":"object"}"#)
    }

    struct Custom: Decodable {
        let inner: Int?
        let list: [String]
        enum Keys: String, CodingKey { case outer, list, flag }
        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Keys.self)
            let nested = try values.nestedContainer(keyedBy: Keys.self, forKey: .outer)
            inner = try nested.decodeIfPresent(Int.self, forKey: .flag)
            var elements = try values.nestedUnkeyedContainer(forKey: .list)
            var list: [String] = []
            while !elements.isAtEnd { list.append(try elements.decode(String.self)) }
            self.list = list
        }
    }

    @Test func seesHandWrittenDecoding() throws {
        try expect(
            SchemaBuilder.schema(for: Custom.self),
            #"""
            {"type":"object","properties":{"outer":{"type":"object","properties":{"flag":{
              "type":"integer"}}},"list":{"type":"array","items":{"type":"string"}}},"required":[
              "outer","list"]}
            """#
        )
    }
}
