import MCPCore
import TestSupport
import Testing

/// docs/json.md says what the tests prove: it is written from the same table.
@Suite struct JSONDocumentTests {
    @Test func isUpToDate() throws {
        let isUpToDate = try RepositoryFile.isUpToDate("docs/json.md", JSONDocument.text)
        #expect(isUpToDate, "docs/json.md is out of date: run make docs")
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
