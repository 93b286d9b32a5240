import Foundation
import MCPCore
import Testing

/// docs/json.md says what the tests prove: it is written from the same table.
@Suite struct JSONDocumentTests {
    private static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../docs/json.md").standardized

    @Test func isUpToDate() throws {
        if ProcessInfo.processInfo.environment["MCP_WRITE_DOCS"] == "1" {
            try Data(JSONDocument.text.utf8).write(to: Self.url)
        }
        let committed = (try? String(contentsOf: Self.url, encoding: .utf8)) ?? ""
        #expect(
            committed == JSONDocument.text,
            "docs/json.md is out of date: run MCP_WRITE_DOCS=1 swift test --filter JSONDocumentTests")
    }

    /// The example of the document.
    @Test func exampleWorks() throws {
        struct Forecast: Codable { var place: String; var days: Int }
        let arguments = try RawJSON(validating: #"{"place":"Köln","days":3.0}"#)
        #expect(arguments["place"]?.string == "Köln")
        #expect(try arguments.decode(Forecast.self).days == 3)
        let answer: JSONValue = ["sunny": true, "degrees": [18, 21.5, nil]]
        #expect(answer.serialized() == #"{"sunny":true,"degrees":[18,21.5,null]}"#)
        #expect(answer["degrees"]?[1]?.doubleValue == 21.5)
        let error = #expect(throws: JSONError.self) {
            try RawJSON(validating: #"{"place":"Köln","days":"three"}"#).decode(Forecast.self)
        }
        #expect(error?.description == "/days: expected an integer, found a string")
    }
}
