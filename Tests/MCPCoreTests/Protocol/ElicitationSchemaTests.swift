import MCPCore
import Testing

/// Forms: what can be built, read, and filled in.
@Suite struct ElicitationSchemaTests {
    // ELIC-07: each kind of field with each of its bounds.
    @Test func fields() throws {
        let form = ElicitationSchema([
            .string(
                "mail", title: "Mail", description: "Where to", minLength: 3, maxLength: 99, format: "email",
                default: "a@b.ch", required: true),
            .integer("age", minimum: 0, maximum: 150, default: 7),
            .number("share", minimum: 0.5, maximum: 1.5, default: 1),
            .boolean("sure", description: "Really?", default: true),
        ])
        let expected: JSONValue = [
            "type": "object",
            "properties": [
                "mail": [
                    "type": "string", "title": "Mail", "description": "Where to", "minLength": 3,
                    "maxLength": 99, "format": "email", "default": "a@b.ch",
                ],
                "age": ["type": "integer", "minimum": 0, "maximum": 150, "default": 7],
                "share": ["type": "number", "minimum": 0.5, "maximum": 1.5, "default": 1],
                "sure": ["type": "boolean", "description": "Really?", "default": true],
            ],
            "required": ["mail"],
        ]
        #expect(form.json == expected)
        #expect(try ElicitationSchema(json: expected) == form)
        // ELIC-09
        #expect(form.defaults() == ["mail": "a@b.ch", "age": 7, "share": 1, "sure": true])
    }

    // ELIC-08: one or several, with titles and without; the names of older revisions.
    @Test func choices() throws {
        let plain = [ElicitationSchema.Choice("a"), .init("b")]
        let titled = [ElicitationSchema.Choice("a", title: "A"), .init("b")]
        let form = ElicitationSchema([
            .choice("one", plain, default: "b"), .choice("titled", titled),
            .choice("old", titled, legacyNames: true),
            .choices("some", plain, minItems: 1, maxItems: 2, default: ["a"]), .choices("more", titled),
        ])
        let options: JSONValue = [["const": "a", "title": "A"], ["const": "b", "title": "b"]]
        let expected: JSONObject = [
            "one": ["type": "string", "enum": ["a", "b"], "default": "b"],
            "titled": ["type": "string", "oneOf": options],
            "old": ["type": "string", "enum": ["a", "b"], "enumNames": ["A", "b"]],
            "some": [
                "type": "array", "minItems": 1, "maxItems": 2,
                "items": ["type": "string", "enum": ["a", "b"]], "default": ["a"],
            ],
            "more": ["type": "array", "items": ["anyOf": options]],
        ]
        for (name, schema) in expected { #expect(form.properties[name] == schema, "\(name)") }
        #expect(try ElicitationSchema(json: form.json) == form)
        #expect(form.violations(of: ["one": "a", "titled": "b", "some": ["a", "b"], "more": []]).isEmpty)
        for content in [["one": "c"], ["titled": "A"], ["some": []], ["some": ["a", "c"]], ["more": "a"]]
            as [JSONObject]
        {
            #expect(!form.violations(of: content).isEmpty, "\(content)")
        }
    }

    // ELIC-05, ELIC-07: nothing nested, nothing but the kinds that a form has.
    @Test(
        arguments: [
            "7", "null", "[]", #"{"properties":{}}"#, #"{"type":"array"}"#,
            #"{"type":"object","properties":{"a":{"type":"object"}}}"#,
            #"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}"#,
            #"{"type":"object","properties":{"a":{"type":"null"}}}"#,
            ##"{"type":"object","properties":{"a":{"$ref":"#/x"}}}"##,
            #"{"type":"object","properties":{"a":7}}"#,
            #"{"type":"object","properties":7}"#, #"{"type":"object","required":"a"}"#,
            #"{"type":"object","required":[7]}"#,
        ]) func whatIsNoForm(_ text: String) throws
    {
        let json = try JSONValue(parsing: text)
        #expect(throws: JSONError.self) { try ElicitationSchema(json: json) }
    }

    // ELIC-24
    @Test(
        arguments: [
            [:], ["mail": 7], ["mail": "not a mail"], ["mail": "a@b.ch", "age": 1.5],
            ["mail": "a@b.ch", "age": -1], ["mail": "a@b.ch", "sure": "yes"],
        ] as [JSONObject])
    func whatDoesNotFit(_ content: JSONObject) {
        let form = ElicitationSchema([
            .string("mail", format: "email", required: true), .integer("age", minimum: 0), .boolean("sure"),
        ])
        #expect(!form.violations(of: content).isEmpty)
        #expect(form.violations(of: ["mail": "a@b.ch", "age": 3, "sure": false]).isEmpty)
    }
}
