import MCPCore
import Testing

@testable import MCPClientCLI

/// Forms for the page (A05).
struct FormSpecTests {
    private func member(_ schema: JSONValue, _ value: JSONValue? = nil) -> JSONValue? {
        let whole: JSONValue = [
            "type": "object", "properties": ["x": schema],
            "$defs": ["name": ["type": "string", "title": "Name"]],
        ]
        let form = FormSpec.json(for: whole, value: value.map { ["x": $0] })
        #expect(form["kind"] == "object" && form["members"]?.arrayValue?.count == 1)
        return form["members"]?[0]
    }

    @Test func everyKindHasItsField() {
        for (schema, kind) in [
            (["type": "string"], "text"), (["type": "string", "format": "date"], "line"),
            (["type": "string", "pattern": "^[0-9]+$"], "line"),
            (["type": "string", "maxLength": 80], "line"),
            (["type": "string", "maxLength": 4000], "text"),
            (["type": "integer"], "number"), (["type": ["null", "number"]], "number"),
            (["type": "boolean"], "choice"), (["enum": ["a", 1]], "choice"),
            (["oneOf": [["const": 1, "title": "One"], ["const": 2]]], "choice"),
            (["anyOf": [["type": "string"], ["type": "number"]]], "either"), (["const": 5], "fixed"),
            (["type": "array", "items": ["type": "string"]], "list"), (["type": "object"], "object"),
            (["properties": ["y": [:]]], "object"), ([:], "json"), (["not": [:]], "json"),
            (["$ref": "#/$defs/name"], "text"), (["$ref": "#/nowhere"], "json"),
            (["type": "array", "prefixItems": [[:]]], "json"),
        ] as [(JSONValue, String)] {
            #expect(member(schema)?["kind"] == .string(kind), "\(schema)")
        }
        #expect(member(["$ref": "#/$defs/name"])?["label"] == "Name (x)")
        #expect(member(["type": "string", "format": "email"])?["type"] == "email")
    }

    /// What may be a secret, by its name, its title or its schema, is not kept by the page.
    @Test(
        arguments: [
            ("pin_code", [:]), ("otp_code", [:]), ("userPin", [:]), ("cvv", ["type": "integer"]),
            ("bearer", [:]),
            ("credit_card", ["type": "integer"]), ("apiKey", [:]), ("f1", ["title": "Password"]),
            ("f2", ["format": "password"]), ("f3", ["writeOnly": true]),
            ("f4", ["anyOf": [["type": "string", "format": "password"], ["type": "null"]]]),
            ("f5", ["$ref": "#/$defs/hidden"]), ("pin", ["enum": ["a", "b"]]),
            ("f6", ["anyOf": [["type": "integer"], ["type": "string", "writeOnly": true]]]),
            ("secrets", ["type": "array", "items": ["type": "string"]]),
            ("passwords", ["type": "object", "properties": ["x": ["type": "string"]]]),
            ("token", ["not": [:]]),
        ] as [(String, JSONValue)])
    func whatMayBeASecretIsMarked(_ name: String, _ more: JSONValue) {
        var schema: JSONObject = ["type": "string"]
        if more["$ref"] != nil || more["not"] != nil || more["enum"] != nil || more["anyOf"] != nil {
            schema = [:]
        }
        for (key, value) in more.objectValue ?? [:] { schema[key] = value }
        let form = FormSpec.json(
            for: [
                "type": "object", "properties": ["name": ["type": "string"], name: .object(schema)],
                "$defs": ["hidden": ["type": "string", "format": "password"]],
            ])
        #expect(form["members"]?[0]?["isSecret"] == nil)
        // A group is for a secret where its fields are.
        let part = form["members"]?[1]
        let inner = part?["item"] ?? part?["members"]?[0] ?? part?["variants"]?[1] ?? part
        #expect(inner?["isSecret"] == true, "\(form)")
        // Nor is what is entered as JSON instead.
        #expect(form["secrets"] == "")
        let other = FormSpec.json(for: ["type": "object", "properties": ["shopping": ["type": "string"]]])
        #expect(other["secrets"]?.stringValue?.isEmpty == false && other["members"]?[0]?["isSecret"] == nil)
    }

    /// A secret may be where the form has no field of its own: what is entered as JSON is not kept then.
    @Test func hiddenSecretsKeepNoJSON() {
        let secret: JSONValue = ["type": "string", "writeOnly": true]
        let schemas: [JSONValue] = [
            ["additionalProperties": secret], ["patternProperties": ["^x": secret]],
            ["properties": ["a": ["type": "array", "prefixItems": [["type": "string"], secret]]]],
            ["allOf": [["properties": ["v": secret]]]], ["then": ["properties": ["v": secret]]],
            ["properties": ["a": ["additionalProperties": ["properties": ["PINCode": ["type": "string"]]]]]],
        ]
        for schema in schemas { #expect(FormSpec.json(for: schema)["secrets"] == "", "\(schema)") }
        for name in [
            "PINCode", "totp_code", "session_id", "securityCode", "One-time code", "puk", "TAN",
            "verification_code", "Recovery phrase", "seed", "mnemonic",
        ] {
            #expect(FormField(name, [:]).mayBeSecret, "\(name)")
        }
        for name in ["shopping", "Compass", "city"] { #expect(!FormField(name, [:]).mayBeSecret, "\(name)") }
    }

    /// What a browser would take minutes to draw is edited as JSON with escapes; nothing else is changed.
    @Test func whatIsDenseIsEscaped() throws {
        let marks = "a" + String(repeating: "\u{E31}", count: 17)
        let turns = String(repeating: "\u{5D0}a", count: 3_001)
        for text in [marks, String(repeating: "\u{628}", count: 301), turns, "\u{1F600}" + marks] {
            for schema in [["type": "string"], [:]] as [JSONValue] {
                let part = member(schema, .string(text))
                let shown = try #require(part?["value"]?.stringValue)
                #expect(part?["kind"] == "json" && shown.utf8.allSatisfy { $0 < 0x80 })
                #expect(try JSONValue(parsing: shown) == .string(text))
            }
        }
        let plain = [
            String(marks.unicodeScalars.dropLast()), String(repeating: "\u{628}", count: 300),
            String(repeating: "日本語", count: 20_000), String(repeating: "שלום hello ", count: 3_000),
            String(repeating: "x", count: 100_000),
        ]
        for text in plain {
            #expect(member(["type": "string"], .string(text))?["kind"] == "text")
            #expect(DenseText.escaped(text) == text)
        }
    }

    /// A server may title `delete_all` "Read report"; what is sent is the name.
    @Test func aTitleDoesNotHideTheName() {
        #expect(member(["type": "boolean", "title": "Read report"])?["label"] == "Read report (x)")
        #expect(member(["type": "boolean", "title": "X"])?["label"] == "X")
        #expect(member(["type": "boolean"])?["label"] == "x")
    }

    /// An argument that may be null, as Python's `Optional` makes them, is left out instead; one that is
    /// required can be null.
    @Test func whatMayBeNull() {
        let text: JSONValue = ["anyOf": [["type": "string"], ["type": "null"]], "default": nil]
        #expect(member(text)?["kind"] == "text" && member(text)?["value"] == nil)
        #expect(member(text, "a")?["value"] == "a")
        let choice: JSONValue = ["anyOf": [["enum": ["a", "b"]], ["type": "null"]]]
        #expect(member(choice, "b")?["kind"] == "choice" && member(choice, "b")?["selected"] == 1)
        // To leave it out means "b" here.
        let other: JSONValue = ["anyOf": [["enum": ["a", "b"]], ["type": "null"]], "default": "b"]
        #expect(member(other)?["kind"] == "either" && member(other)?["selected"] == 0)
        let form = FormSpec.json(for: ["type": "object", "required": ["x"], "properties": ["x": text]])
        let required = form["members"]?[0]
        #expect(required?["kind"] == "either" && required?["selected"] == 1)
        #expect(required?["variants"]?[1]?["kind"] == "fixed")
        #expect(required?["variants"]?[1]?["value"] == .null)
    }

    /// A field of one line would drop the others.
    @Test func aValueOfSeveralLinesKeepsThem() {
        let schema: JSONValue = ["type": "string", "maxLength": 80]
        #expect(member(schema, "a\nb")?["kind"] == "text")
        #expect(member(schema, "a b")?["kind"] == "line")
    }

    @Test func valuesComeBeforeDefaults() {
        let schema: JSONValue = ["type": "integer", "default": 3, "minimum": 1, "maximum": 9]
        #expect(member(schema)?["value"] == 3)
        #expect(member(schema, 7)?["value"] == 7)
        #expect(member(schema)?["min"] == 1 && member(schema)?["max"] == 9 && member(schema)?["step"] == 1)
        #expect(member(["enum": ["a", "b"]], "b")?["selected"] == 1)
        let list = member(["type": "array", "items": ["type": "string"]], ["p", "q"])
        #expect(list?["items"]?.arrayValue?.compactMap { $0["value"]?.stringValue } == ["p", "q"])
        #expect(list?["items"]?[1]?["path"] == "/x/1" && list?["item"]?["path"] == "/x/-")
        let either = member(
            ["oneOf": [["type": "string"], ["type": "object", "required": ["n"]]]], ["n": 1])
        #expect(either?["selected"] == 1)
        #expect(either?["variants"]?[0]?["value"] == nil)
    }

    @Test func requiredMembersAndOthers() {
        let schema: JSONValue = [
            "type": "object", "required": ["b"],
            "properties": ["a/~": ["type": "string"], "b": ["type": "boolean"]],
        ]
        let form = FormSpec.json(for: schema, value: ["b": true, "more": [1, nil]])
        #expect(form["members"]?[0]?["path"] == "/a~1~0" && form["members"]?[0]?["needed"] == nil)
        #expect(form["members"]?[1]?["kind"] == "check" && form["members"]?[1]?["value"] == true)
        let more = form["more"]?["value"]?.stringValue.flatMap { try? JSONValue(parsing: $0) }
        #expect(more == ["more": [1, nil]])
        #expect(FormSpec.json(for: schema)["more"] == nil)
        #expect(FormSpec.json(for: ["type": "object"])["more"]?["kind"] == "json")
        #expect(FormSpec.json(for: ["type": "object", "properties": [:]])["more"] == nil)
        #expect(FormSpec.json(for: ["type": "object", "additionalProperties": false])["more"] == nil)
    }

    /// A schema of a hostile server ends, too.
    @Test func schemasThatContainThemselvesEnd() {
        let tree: JSONValue = [
            "type": "object",
            "properties": ["l": ["$ref": "#"], "m": ["$ref": "#"], "r": ["$ref": "#/properties/r"]],
        ]
        for root: JSONValue in [
            tree, ["$ref": "#/x", "x": ["$ref": "#/x"]], true, 5, "x", ["oneOf": [["$ref": "#"]]],
            [
                "properties": ["x": ["$ref": "#/$defs/x"]],
                "$defs": ["x": ["anyOf": [["$ref": "#/$defs/x"], ["type": "null"]]]],
            ],
        ] {
            let form = FormSpec.json(for: root)
            #expect(form["kind"] != nil)
            #expect(RawJSON(form).bytes.count < 1 << 20)
        }
    }
}
