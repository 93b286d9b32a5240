import Testing

@testable import MCPCore

@Suite struct MessageEncoderTests {
    private static let encoder = MessageEncoder(
        clientInfo: Implementation(name: "c", version: "1"), capabilities: ClientCapabilities(roots: true))

    private static func text(
        _ params: JSONObject = [:], meta: JSONObject = [:], wantsProgress: Bool = false,
        logLevel: LoggingLevel? = nil, capabilities: ClientCapabilities? = nil
    ) throws -> String {
        String(
            try encoder.request(
                7, "m", params, meta: meta, wantsProgress: wantsProgress, logLevel: logLevel,
                capabilities: capabilities, .modern(.newest)))
    }

    private static func request(_ params: String) -> String {
        #"{"jsonrpc":"2.0","id":7,"method":"m","params":{\#(params)}}"#
    }

    private static func claims(_ capabilities: String) -> String {
        #""io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":\#(capabilities),"#
            + #""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}"#
    }

    @Test func claimsOfTheClient() throws {
        #expect(try Self.text() == Self.request(#""_meta":{\#(Self.claims(#"{"roots":{}}"#))}"#))
        #expect(
            try Self.text(["a": 1]) == Self.request(#""a":1,"_meta":{\#(Self.claims(#"{"roots":{}}"#))}"#))
    }

    @Test func everythingOfACall() throws {
        let text = try Self.text(
            ["a": 1], meta: ["traceparent": "t"], wantsProgress: true,
            capabilities: ClientCapabilities(sampling: true))
        let meta = #""traceparent":"t","progressToken":7,"# + Self.claims(#"{"sampling":{}}"#)
        #expect(text == Self.request(#""a":1,"_meta":{\#(meta)}"#))
    }

    /// The members of the protocol take precedence, wherever the caller puts its own.
    @Test func noMemberIsForged() throws {
        let forged: JSONObject = [
            "io.modelcontextprotocol/protocolVersion": "forged", "progressToken": 9, "x": 1,
        ]
        for text in [
            try Self.text(meta: forged, wantsProgress: true),
            try Self.text(["_meta": .object(forged)], wantsProgress: true),
            try Self.text(meta: forged, wantsProgress: true, logLevel: .info),
        ] {
            let meta = try #require(JSONValue(parsing: text)["params"]?["_meta"])
            #expect(meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28")
            #expect(meta["progressToken"] == 7 && meta["x"] == 1)
            #expect(text.components(of: "progressToken") == 1 && text.components(of: "protocolVersion") == 1)
        }
    }
}

extension String {
    /// The number of times that a text occurs.
    fileprivate func components(of text: String) -> Int {
        indices.count { self[$0...].hasPrefix(text) }
    }
}
