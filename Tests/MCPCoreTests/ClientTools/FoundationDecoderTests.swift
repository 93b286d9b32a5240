import Foundation
import MCPCore
import Testing

/// What an app that has Foundation does with the arguments of a client-side tool.
@Suite struct FoundationDecoderTests {
    // C06
    @Test func argumentsDecode() throws {
        struct Query: Codable, Equatable { var city: String }
        let invocation = ClientToolInvocation(
            tool: .init(name: "a"), args: Array(#"{"city":"Oslo"}"#.utf8))
        let data = Data(try #require(invocation.args))
        #expect(try JSONDecoder().decode(Query.self, from: data) == Query(city: "Oslo"))
    }
}
