import Testing

@testable import MCPCore

@Suite struct ResultWriterTests {
    /// What a handler writes, as the object it becomes.
    private static func written(
        _ version: String = "2026-07-28", _ body: (inout ResultWriter) throws -> Void
    ) throws -> JSONValue {
        var json = JSONWriter()
        json.beginObject()
        var writer = ResultWriter(json: json, revision: try #require(Revision.named(version)))
        try body(&writer)
        writer.close()
        var out = JSONWriter()
        swap(&out, &writer.json)
        out.endObject()
        return try JSONValue(parsing: String(out.finish()))
    }

    // TOOL-11: content is always there.
    @Test func nothing() throws { #expect(try Self.written { _ in } == ["content": []]) }

    @Test func texts() throws {
        let raw = try RawJSON(validating: #"{"s":"a\u00e9\n","n":5,"o":{"x":[1]}}"#)
        let result = try Self.written { out in
            out.text("plain \"q\"")
            out.text(raw["s"])
            out.text(raw["n"])
            out.text(raw["o"])
            out.text(raw["none"])
        }
        let texts = result["content"]?.arrayValue?.compactMap { $0["text"]?.stringValue }
        #expect(texts == ["plain \"q\"", "aé\n", "5", #"{"x":[1]}"#, "null"])
    }

    @Test func failure() throws {
        let result = try Self.written { out in
            out.text("no")
            out.isError = true
        }
        #expect(result == ["content": [["type": "text", "text": "no"]], "isError": true])
    }

    // TOOL-12, TOOL-13, TOOL-16
    @Test(arguments: [
        ("2024-11-05", #"{"a":1}"#, false), ("2025-03-26", #"{"a":1}"#, false),
        ("2025-06-18", #"{"a":1}"#, true),
        ("2025-06-18", "[1]", false), ("2025-11-25", "null", false), ("2026-07-28", "[1]", true),
        ("2026-07-28", "null", true), ("2026-07-28", #""t""#, true),
    ]) func structured(_ version: String, _ value: String, _ isShown: Bool) throws {
        let result = try Self.written(version) { $0.structured(raw: try RawJSON(validating: value)) }
        // A plain `nil` would be the JSON value null.
        #expect(result["structuredContent"] == (isShown ? try JSONValue(parsing: value) : .none))
        #expect(result["content"] == [["type": "text", "text": .string(value)]])
    }

    @Test func structuredBesideContent() throws {
        let result = try Self.written { out in
            out.text("for people")
            try out.structured(["a": 1])
        }
        #expect(
            result == ["content": [["type": "text", "text": "for people"]], "structuredContent": ["a": 1]])
    }

    @Test func finishedResults() throws {
        let results: [CallToolResult] = [
            .text("a"), .error("b"), .structured(["c": 1]), CallToolResult(),
            CallToolResult(structuredContent: ["d": [1]]),
            CallToolResult(
                content: [.image([1], mimeType: "image/png")], structuredContent: .null, isError: true),
        ]
        for result in results {
            #expect(try Self.written { try $0.result(result) } == result.json)
        }
    }
}
