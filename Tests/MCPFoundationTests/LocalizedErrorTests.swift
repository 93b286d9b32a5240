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
            AuthorizationError(.loginRequired, "log in first"), TLSError(.certificate, "it has expired"),
        ]
        for error in errors { #expect(error.localizedDescription == "\(error)") }
        let schema = #expect(throws: SchemaError.self) {
            try CompiledSchema(JSONValue(parsing: "{\"type\":5}"))
        }
        #expect(schema?.localizedDescription == schema?.description)
        let registration = #expect(throws: RegistrationError.self) {
            let server = MCPServer("s", version: "1")
            for _ in 0 ..< 2 { try server.register(Prompt("twice")) { _, _ in GetPromptResult([]) } }
        }
        #expect(registration?.localizedDescription == registration?.description)
        let wrong = #expect(throws: JSONError.self) { try JSONValue(parsing: Data("{".utf8)) }
        #expect(wrong?.localizedDescription == wrong?.description)
    }
}
