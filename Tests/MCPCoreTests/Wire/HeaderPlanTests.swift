import Testing

@testable import MCPCore

/// `x-mcp-header` when a tool is registered, and the comparison of headers with arguments.
@Suite(.timeLimit(.minutes(5))) struct HeaderPlanTests {
    private static func plan(_ schema: String) throws -> HeaderPlan? {
        try HeaderPlan(try JSONValue(parsing: schema))
    }

    private static func properties(_ properties: String) -> String {
        #"{"type":"object","properties":{\#(properties)}}"#
    }

    // HDR-14, HDR-17, HDR-18: what is valid, and whether it mirrors anything.
    @Test(arguments: [
        (properties(#""a":{"type":"string"}"#), false),
        (properties(#""a":{"type":"string","x-mcp-header":"A"}"#), true),
        (properties(#""a":{"type":"integer","x-mcp-header":"a.B-c_9!"}"#), true),
        (properties(#""a":{"type":"boolean","x-mcp-header":"A"}"#), true),
        (
            properties(
                #""o":{"type":"object","properties":{"p":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}}"#
            ), true
        ),
        // A property of this name is no annotation, and neither is data.
        (properties(#""x-mcp-header":{"type":"object"}"#), false),
        (
            properties(
                #""a":{"default":{"x-mcp-header":1},"const":{"x-mcp-header":1},"enum":[{"x-mcp-header":1}],"examples":[{"x-mcp-header":1}]}"#
            ), false
        ),
    ]) func valid(_ schema: String, mirrors: Bool) throws {
        #expect(try (Self.plan(schema) != nil) == mirrors)
    }

    // HDR-16, HDR-17, HDR-18, AMB-5
    @Test(arguments: [
        (properties(#""a":{"type":"string","x-mcp-header":""}"#), "token"),
        (properties(#""a":{"type":"string","x-mcp-header":"a b"}"#), "token"),
        (properties(#""a":{"type":"string","x-mcp-header":"a:b"}"#), "token"),
        (properties(#""a":{"type":"string","x-mcp-header":"ä"}"#), "token"),
        (properties(#""a":{"type":"string","x-mcp-header":"a\n"}"#), "token"),
        (properties(#""a":{"type":"string","x-mcp-header":7}"#), "token"),
        (properties(#""a":{"type":"string","x-mcp-header":null}"#), "token"),
        (properties(#""a":{"type":"number","x-mcp-header":"A"}"#), "string, integer or boolean"),
        (properties(#""a":{"type":"object","x-mcp-header":"A"}"#), "string, integer or boolean"),
        (properties(#""a":{"type":"array","x-mcp-header":"A"}"#), "string, integer or boolean"),
        (properties(#""a":{"type":"null","x-mcp-header":"A"}"#), "string, integer or boolean"),
        (properties(#""a":{"type":["string","null"],"x-mcp-header":"A"}"#), "string, integer or boolean"),
        (properties(#""a":{"x-mcp-header":"A"}"#), "string, integer or boolean"),
        (#"{"type":"object","x-mcp-header":"A"}"#, "string, integer or boolean"),
        (
            properties(
                #""a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}"#),
            "duplicate name"
        ),
        (
            properties(#""a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}"#),
            "properties"
        ),
        (
            #"{"type":"object","allOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#,
            "properties"
        ),
        (#"{"type":"object","if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}"#, "properties"),
        (
            ##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}"##,
            "properties"
        ),
        (#"{"type":"object","patternProperties":{"a":{"type":"string","x-mcp-header":"A"}}}"#, "properties"),
        (#"{"type":"object","additionalProperties":{"type":"string","x-mcp-header":"A"}}"#, "properties"),
    ]) func refused(_ schema: String, because: String) throws {
        let error = #expect(throws: HeaderPlan.Invalid.self) { try Self.plan(schema) }
        #expect(error?.description.contains(because) == true)
        let server = MCPServer("s", version: "1")
        let tool = Tool("t", inputSchema: try JSONValue(parsing: schema))
        let refusal = #expect(throws: RegistrationError.self) {
            try server.register(tool) { _, _ in .text("") }
        }
        #expect(refusal?.description.contains("x-mcp-header in the input schema of t") == true)
    }

    // HDR-32: a client takes numbers, a server never gives them.
    @Test func numbers() throws {
        let schema = try JSONValue(parsing: Self.properties(#""a":{"type":"number","x-mcp-header":"A"}"#))
        let plan = try HeaderPlan(schema, at: .lenient)
        #expect(plan?.fields(for: ["a": 1.5]).map(\.value) == ["1.5"])
        #expect(throws: HeaderPlan.Invalid.self) { try HeaderPlan(schema) }
    }

    // HDR-09, HDR-10, HDR-15, HDR-20, HDR-21, HDR-25, and conformance fixtures 6.2
    @Test(arguments: [
        (#"{"s":"eu"}"#, ["Mcp-Param-Region: eu"]),
        (#"{"s":"a b"}"#, ["Mcp-Param-Region: a b"]),
        (#"{"s":" a"}"#, ["Mcp-Param-Region: =?base64?IGE=?="]),
        (#"{"s":"a "}"#, ["Mcp-Param-Region: =?base64?YSA=?="]),
        (#"{"s":"a\tb"}"#, ["Mcp-Param-Region: =?base64?YQli?="]),
        (#"{"s":"a\r\nb"}"#, ["Mcp-Param-Region: =?base64?YQ0KYg==?="]),
        (#"{"s":"\u00e4"}"#, ["Mcp-Param-Region: =?base64?w6Q=?="]),
        (#"{"s":"=?base64?eA==?="}"#, ["Mcp-Param-Region: =?base64?PT9iYXNlNjQ/ZUE9PT89?="]),
        (#"{"s":""}"#, ["Mcp-Param-Region: "]),
        (#"{"s":null}"#, []), ("{}", []), (#"{"s":["eu"]}"#, []), (#"{"o":7}"#, []), (#"{"x":"eu"}"#, []),
        (#"{"i":42}"#, ["Mcp-Param-Count: 42"]), (#"{"i":42.0}"#, ["Mcp-Param-Count: 42"]),
        (#"{"i":-7e1}"#, ["Mcp-Param-Count: -70"]),
        (#"{"i":9007199254740993}"#, ["Mcp-Param-Count: 9007199254740993"]),
        (#"{"b":false}"#, ["Mcp-Param-Flag: false"]),
        (
            #"{"o":{"t":"x"},"b":true,"s":"eu"}"#,
            ["Mcp-Param-Region: eu", "Mcp-Param-Flag: true", "Mcp-Param-Tenant: x"]
        ),
    ]) func fields(_ arguments: String, _ fields: [String]) throws {
        let plan = try #require(try Self.plan(Self.schema))
        let raw = try RawJSON(validating: arguments)
        let own = plan.fields(for: raw.value.objectValue ?? [:]).map { "\($0.name): \($0.value)" }
        #expect(own == fields)
        // What the client writes is what the server wants.
        #expect(plan.mismatch(Self.claims(own), with: raw) == nil)
    }

    private static let schema = properties(
        #""s":{"type":"string","x-mcp-header":"Region"},"i":{"type":"integer","x-mcp-header":"Count"},"#
            + #""b":{"type":"boolean","x-mcp-header":"Flag"},"o":{"properties":{"t":{"type":"string","x-mcp-header":"Tenant"}}}"#
    )

    private static func claims(_ fields: [String]) -> HeaderClaims {
        HeaderClaims(
            bytes: ByteSlice(
                "POST /mcp HTTP/1.1\r\n" + fields.map { $0 + "\r\n" }.joined()
                    + "\r\n{\"Mcp-Param-Region: x\"}"))
    }

    // HDR-06, HDR-07, HDR-11, HDR-12, HDR-20 to HDR-27
    @Test(arguments: [
        (#"{"s":"eu"}"#, ["Mcp-Param-Region: eu"], true),
        (#"{"s":"eu"}"#, ["mCP-pARAM-rEGION:  \t eu \t"], true),
        (#"{"s":"eu"}"#, ["Mcp-Param-Region: EU"], false),
        (#"{"s":"eu"}"#, [], false),
        (#"{"s":"eu"}"#, ["Mcp-Param-Region:"], false),
        (#"{"s":""}"#, ["Mcp-Param-Region:"], true),
        (#"{"s":""}"#, [], false),
        (#"{}"#, [], true),
        (#"{"s":null}"#, [], true),
        (#"{}"#, ["Mcp-Param-Region: eu"], true),
        (#"{"s":"Hello"}"#, ["Mcp-Param-Region: =?base64?SGVsbG8=?="], true),
        (#"{"s":"Hello"}"#, ["Mcp-Param-Region: =?base64?SGVsbG8?="], false),
        (#"{"s":"Hello"}"#, ["Mcp-Param-Region: =?base64?SGVs!!!bG8=?="], false),
        (#"{"s":"SGVsbG8=?="}"#, ["Mcp-Param-Region: SGVsbG8=?="], true),
        (#"{"s":"=?base64?SGVsbG8="}"#, ["Mcp-Param-Region: =?base64?SGVsbG8="], true),
        (#"{"s":"\u00e4"}"#, ["Mcp-Param-Region: =?base64?w6Q=?="], true),
        (#"{"s":"\u00e4"}"#, ["Mcp-Param-Region: \u{e4}"], false),
        (#"{"s":"eu"}"#, ["Mcp-Param-Region: eu", "Mcp-Param-Region: eu"], false),
        (#"{"s":"eu"}"#, ["Mcp-Param-Region: eu", "Mcp-Param-Other: 1", "Mcp-Param-Other: 2"], true),
        (#"{"i":42}"#, ["Mcp-Param-Count: 42"], true),
        (#"{"i":42.0}"#, ["Mcp-Param-Count: 42"], true),  // HDR-24
        (#"{"i":42}"#, ["Mcp-Param-Count: 4.2e1"], true),
        (#"{"i":9007199254740993}"#, ["Mcp-Param-Count: 9007199254740992"], false),
        (#"{"i":42}"#, ["Mcp-Param-Count: 042"], false),
        (#"{"i":42}"#, ["Mcp-Param-Count: x"], false),
        (#"{"i":-7}"#, ["Mcp-Param-Count: -7"], true),
        (#"{"b":true}"#, ["Mcp-Param-Flag: true"], true),
        (#"{"b":false}"#, ["Mcp-Param-Flag: false"], true),
        (#"{"b":true}"#, ["Mcp-Param-Flag: True"], false),
        (#"{"b":true}"#, ["Mcp-Param-Flag: 1"], false),
        (#"{"o":{"t":"x"}}"#, ["Mcp-Param-Tenant: x"], true),
        (#"{"o":{"t":"x"}}"#, ["Mcp-Param-Tenant: y"], false),
        (#"{"o":{}}"#, [], true),
        (#"{"o":7}"#, [], true),
        // What is no scalar is left to the schema.
        (#"{"s":["eu"]}"#, [], true),
        (#"{"s":"eu","i":1,"b":true}"#, ["Mcp-Param-Region: eu", "Mcp-Param-Flag: true"], false),
        (
            #"{"s":"eu","i":1,"b":true}"#,
            ["Mcp-Param-Region: eu", "Mcp-Param-Count: 1", "Mcp-Param-Flag: true"], true
        ),
    ]) func comparison(_ arguments: String, _ fields: [String], matches: Bool) throws {
        let plan = try #require(try Self.plan(Self.schema))
        let problem = plan.mismatch(Self.claims(fields), with: try RawJSON(validating: arguments))
        #expect((problem == nil) == matches, "\(problem ?? "no problem")")
        if let problem { #expect(problem.contains("mcp-param-")) }
    }
}
