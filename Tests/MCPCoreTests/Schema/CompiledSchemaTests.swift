import MCPCore
import Testing

/// A schema, values that fit and values that do not.
struct KeywordCase: Sendable, CustomTestStringConvertible {
    let schema: String
    let valid: [String]
    let invalid: [String]

    init(_ schema: String, _ valid: [String], not invalid: [String]) {
        self.schema = schema
        self.valid = valid
        self.invalid = invalid
    }

    /// Reads cases: a schema, then `+` with values that fit, and `-` with values that do not, between
    /// semicolons.
    static func table(_ text: String) -> [KeywordCase] {
        var cases: [KeywordCase] = []
        var isSchemaOpen = false
        for line in text.split(separator: "\n") {
            let values = line.dropFirst(2).split(separator: " ; ").map(String.init)
            switch line.prefix(2) {
            case "+ ":
                cases[cases.count - 1] = KeywordCase(cases[cases.count - 1].schema, values, not: [])
                isSchemaOpen = false
            case "- ":
                let last = cases[cases.count - 1]
                cases[cases.count - 1] = KeywordCase(last.schema, last.valid, not: values)
                isSchemaOpen = false
            default:
                if isSchemaOpen {
                    cases[cases.count - 1] = KeywordCase(cases[cases.count - 1].schema + line, [], not: [])
                } else {
                    cases.append(KeywordCase(String(line), [], not: []))
                }
                isSchemaOpen = true
            }
        }
        return cases
    }

    var testDescription: String { schema }

    func check(_ options: SchemaOptions = SchemaOptions()) throws {
        let compiled = try CompiledSchema(JSONValue(parsing: schema), options: options)
        for (texts, expected) in [(valid, true), (invalid, false)] {
            for text in texts {
                let raw = try RawJSON(validating: text)
                #expect(compiled.isValid(raw.value) == expected, "tree: \(text)")
                #expect(compiled.isValid(raw) == expected, "bytes: \(text)")
                #expect(compiled.validate(raw.value).isEmpty == expected, "violations: \(text)")
                #expect(compiled.validate(raw).isEmpty == expected, "violations of bytes: \(text)")
            }
        }
    }
}

@Suite struct CompiledSchemaTests {
    // SCH-01: without $schema it is 2020-12.
    static let values = KeywordCase.table(
        ##"""
        true
        + 1 ; null
        false
        - 1 ; null
        {}
        + 1 ; []
        {"type":"null"}
        + null
        - 0 ; false ; ""
        {"type":"boolean"}
        + true ; false
        - 0 ; null
        {"type":"integer"}
        + 1 ; -3 ; 1.0 ; 1e2 ; 1e400
        - 1.5 ; 1e-1 ; "1"
        {"type":"number"}
        + 1 ; 1.5 ; -1e9
        - "1" ; null
        {"type":"string"}
        + "a" ; "\""
        - 1 ; {}
        {"type":["array","object"]}
        + [1] ; {}
        - 1
        {"enum":["a","b",1,null,{"x":[1]}]}
        + "a" ; "\u0061" ; 1.0 ; null ; {"x":[1e0]}
        - "c" ; 2 ; [] ; true ; {}
        {"const":"a"}
        + "a"
        - "b" ; 1
        {"const":{"a":1,"b":2}}
        + {"b":2.0,"a":1}
        - {"a":1}
        {"enum":["é"]}
        + "é"
        - "é"
        {"minimum":1,"maximum":3}
        + 1 ; 3 ; 2.5 ; "x"
        - 0 ; 4 ; 3.0001 ; -1e999999999999999999999
        {"exclusiveMinimum":0,"exclusiveMaximum":1}
        + 0.5 ; 1e-999
        - 0 ; 1 ; -0.0 ; 1e999
        {"maximum":9007199254740992}
        + 9007199254740992
        - 9007199254740993
        {"multipleOf":0.01}
        + 0.07 ; 1e30 ; 0 ; 19.99
        - 0.075 ; 1e-3
        {"multipleOf":7}
        + 49 ; 7e5 ; -14
        - 50 ; 1e300
        {"minLength":2,"maxLength":3}
        + "ab" ; "🐲🐲🐲" ; "\n\n" ; 7
        - "a" ; "abcd" ; "\u00e9"
        {"pattern":"^b+$"}
        + "bb" ; 1
        - "ab"
        """##)

    static let arrays = KeywordCase.table(
        ##"""
        {"items":{"type":"integer"}}
        + [] ; [1,2] ; {}
        - [1,"a"]
        {"prefixItems":[{"type":"integer"},true],"items":false}
        + [1] ; [1,2]
        - ["a"] ; [1,2,3]
        {"minItems":1,"maxItems":2}
        + [1] ; [1,2]
        - [] ; [1,2,3]
        {"uniqueItems":true}
        + [1,2] ; ["1",1] ; [[1],[2]]
        - [1,1.0] ; [{"a":1,"b":2},{"b":2,"a":1}]
        {"contains":{"const":1}}
        + [1] ; [0,1]
        - [] ; [0]
        {"contains":{"const":1},"minContains":2,"maxContains":3}
        + [1,1] ; [1,0,1,1]
        - [1] ; [1,1,1,1]
        {"contains":{"const":1},"minContains":0}
        + [] ; [0]
        {"prefixItems":[true],"contains":{"const":2},"unevaluatedItems":false}
        + [0,2,2]
        - [0,2,3]
        {"anyOf":[{"prefixItems":[{"const":1}]},{"prefixItems":[true,{"const":2}]}],
          "unevaluatedItems":false}
        + [1] ; [1,2]
        - [1,3] ; [0,2,1]
        """##)

    static let objects = KeywordCase.table(
        ##"""
        {"properties":{"a":{"type":"integer"}}}
        + {} ; {"a":1} ; {"b":"x"}
        - {"a":"1"} ; {"\u0061":"1"}
        {"required":["a","b"]}
        + {"b":1,"a":2} ; 1
        - {} ; {"a":1}
        {"properties":{"a":true},"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}
        + {"a":1,"xy":null}
        - {"xy":1} ; {"b":1}
        {"additionalProperties":{"type":"integer"}}
        + {"a":1}
        - {"a":"1"}
        {"minProperties":1,"maxProperties":2}
        + {"a":1}
        - {} ; {"a":1,"b":2,"c":3}
        {"propertyNames":{"maxLength":2}}
        + {"ab":1}
        - {"abc":1}
        {"dependentRequired":{"a":["b"]}}
        + {} ; {"b":1} ; {"a":1,"b":2}
        - {"a":1}
        {"dependentSchemas":{"a":{"required":["b"]}}}
        + {} ; {"a":1,"b":2}
        - {"a":1}
        {"allOf":[{"properties":{"a":true}}],"properties":{"b":true},"unevaluatedProperties":false}
        + {"a":1,"b":2}
        - {"c":1}
        {"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},
          "unevaluatedProperties":false}
        + {"a":1,"b":2} ; {}
        - {"b":2} ; {"a":2}
        {"properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{
          "type":"string"}}}}}}
        + {"a":{"b":["x"]}, "c" : [{"d":"]"}] }
        - {"a":{"b":[1]}}
        {"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}
        + {"a":null} ; {"a":"x"}
        - {"a":1}
        """##)

    static let applicators = KeywordCase.table(
        ##"""
        {"allOf":[{"minimum":1},{"maximum":2}]}
        + 1 ; 2
        - 0 ; 3
        {"anyOf":[{"minimum":5},{"maximum":2}]}
        + 1 ; 6
        - 3
        {"oneOf":[{"minimum":1},{"maximum":2}]}
        + 0 ; 3
        - 1
        {"not":{"type":"string"}}
        + 1
        - "a"
        {"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"null"}}
        + "a" ; null
        - "" ; 1
        {"$defs":{"p":{"minimum":1}},"$ref":"#/$defs/p","maximum":2}
        + 1
        - 0 ; 3
        {"$defs":{"p":{"$anchor":"pos","minimum":1}},"$ref":"#pos"}
        + 1
        - 0
        {"$id":"http://x/a/b","$defs":{"p":{"$id":"../c","type":"null"}},"$ref":"http://x/c"}
        + null
        - 1
        {"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"required":["v"]}
        + {"v":1,"next":{"v":2}}
        - {"v":1,"next":{}}
        {"$ref":"https://json-schema.org/draft/2020-12/schema"}
        + {"type":"object","properties":{"a":{"minimum":1}}} ; true
        - {"type":1} ; {"properties":{"a":{"minLength":-1}}} ; 7
        {"$id":"http://x/t","$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}},
          "type":"object"}
        + {"c":[{}]}
        - {"c":[1]}
        {"$id":"http://x/s","$dynamicAnchor":"n","$ref":"t","required":["d"],"$defs":{"t":{"$id":"t",
          "$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}}}}}
        + {"d":1,"c":[{"d":2}]}
        - {"d":1,"c":[{}]}
        """##)

    static let draft07 = KeywordCase.table(
        ##"""
        {"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"p":{"minimum":1}},
          "properties":{"a":{"$ref":"#/definitions/p","maximum":0}}}
        + {"a":5}
        - {"a":0}
        {"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"null"}],"additionalItems":{
          "type":"integer"}}
        + [null,1]
        - [1] ; [null,null]
        {"$schema":"http://json-schema.org/draft-07/schema","dependencies":{"a":["b"],"c":{"required":[
          "d"]}}}
        + {"a":1,"b":1}
        - {"a":1} ; {"c":1}
        {"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"p":{"$id":"#pos",
          "minimum":1}},"$ref":"#pos"}
        + 1
        - 0
        {"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[false],
          "unevaluatedItems":false}
        + [1]
        """##)

    @Test(arguments: values + arrays + objects + applicators + draft07)
    func checks(_ keyword: KeywordCase) throws { try keyword.check() }

    @Test func formatIsAnAnnotationUnlessAsked() throws {
        let schema = #"{"format":"ipv4"}"#
        try KeywordCase(schema, ["\"x\"", "\"1.2.3.4\""], not: []).check()
        try KeywordCase(schema, ["\"1.2.3.4\"", "7"], not: ["\"x\""]).check(SchemaOptions(assertFormat: true))
        try KeywordCase(#"{"format":"of-the-future"}"#, ["\"x\""], not: []).check(
            SchemaOptions(assertFormat: true))
    }

    @Test func findsGivenDocuments() throws {
        let options = SchemaOptions(documents: ["http://x/p.json": ["$defs": ["p": ["minimum": 1]]]])
        try KeywordCase(##"{"$id":"http://x/q.json","$ref":"p.json#/$defs/p"}"##, ["1"], not: ["0"]).check(
            options)
    }

    @Test func obeysTheVocabulariesOfAMetaSchema() throws {
        let prefix = "https://json-schema.org/draft/2020-12/vocab/"
        let options = SchemaOptions(documents: [
            "http://x/meta": [
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$vocabulary": [prefix + "core": true, prefix + "applicator": true],
            ]
        ])
        let schema = #"{"$schema":"http://x/meta","properties":{"a":{"minimum":5},"b":false}}"#
        try KeywordCase(schema, [#"{"a":1}"#], not: [#"{"b":1}"#]).check(options)
    }

    @Test func tellsNamesAndDialect() throws {
        let schema = try CompiledSchema([
            "$ref": "#/$defs/a", "$defs": ["a": ["properties": ["x": true, "y": true], "required": ["z"]]],
        ])
        #expect(schema.topLevelPropertyNames == ["x", "y"])
        #expect(schema.dialect == .draft202012)
        #expect(
            try CompiledSchema(["$schema": "http://json-schema.org/draft-07/schema#"]).dialect == .draft07)
    }

    static let refusals = ##"""
        {"$schema":"https://json-schema.org/draft/2019-09/schema"} => #/$schema => not supported
        {"properties":{"a":{"$ref":"http://example.com/s.json"}}} => #/properties/a/$ref => not fetched
        {"$ref":"#/$defs/none"} => #/$ref => does not refer to a schema
        {"$ref":"#none"} => #/$ref => does not refer to a schema
        {"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"} =>  => cycle
        {"properties":{"a":{"type":"text"}}} => #/properties/a/type => not a JSON Schema type
        {"type":[]} => #/type => at least one
        {"minLength":-1} => #/minLength => non-negative
        {"minItems":1.5} => #/minItems => integer
        {"minimum":"1"} => #/minimum => number
        {"multipleOf":0} => #/multipleOf => greater than 0
        {"required":[1]} => #/required => names
        {"properties":[]} => #/properties => object
        {"allOf":[]} => #/allOf => at least one
        {"items":7} => #/items => must be an object, true or false
        null => # => must be an object
        {"pattern":"(a"} => #/pattern => is not closed
        {"$id":7} => #/$id => string
        {"$anchor":"1 a"} => #/$anchor => name
        {"uniqueItems":1} => #/uniqueItems => true or false
        """##.split(separator: "\n").map {
            $0.split(separator: " => ", omittingEmptySubsequences: false).map(String.init)
        }

    /// SCH-02, SCH-04, SCH-05, SCH-07, SCH-08: a schema, where it is wrong, and words of the message.
    @Test(arguments: refusals)
    func refusesSchemas(_ refusal: [String]) throws {
        let (location, words) = (refusal[1], refusal[2])
        let value = try JSONValue(parsing: refusal[0])
        let error = #expect(throws: SchemaError.self) { try CompiledSchema(value) }
        #expect(error?.message.contains(words) == true, "\(error?.description ?? "")")
        #expect(location.isEmpty || error?.location == location, "\(error?.description ?? "")")
    }
}
