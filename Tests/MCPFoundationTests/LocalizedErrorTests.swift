import Foundation
import MCPCore
import MCPFoundation
import Testing

/// What an alert of an app says about an error.
@Suite struct LocalizedErrorTests {
    @Test func descriptions() {
        #expect((ToolError("b must be positive") as any Error).localizedDescription == "b must be positive")
        let errors: [any Error] = [
            MCPError(code: -32_000, message: "busy"), ClientError(.cannotConnect, "no connection"),
        ]
        for error in errors { #expect(error.localizedDescription == "\(error)") }
        let wrong = #expect(throws: JSONError.self) { try JSONValue(parsing: Data("{".utf8)) }
        #expect(wrong?.localizedDescription == wrong?.description)
    }
}
