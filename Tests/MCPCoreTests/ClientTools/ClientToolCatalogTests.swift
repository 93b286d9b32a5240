import Testing

@testable import MCPCore

/// The names under which the tools of clients are listed.
@Suite struct ClientToolCatalogTests {
    private static func definition(_ name: String, _ description: String) throws -> ClientToolDefinition {
        try ClientToolDefinition(
            Tool(name, description: description), instructions: nil, parameters: nil,
            showsExternalSources: false)
    }

    /// The reason names whose tool is in the way.
    @Test(arguments: [
        ("p", "another tool of the client has this name"), ("q", "a tool of another client has this name"),
    ])
    func twoToolsOfOneName(_ second: String, _ reason: String) throws {
        let first = ClientRegistration(
            client: "p", order: 0, serial: 1, tools: [try Self.definition("t", "one")])
        let other = try Self.definition("t", "two")
        var registrations = [first]
        if second == "p" {
            registrations[0].tools.append(other)
        } else {
            registrations.append(ClientRegistration(client: second, order: 1, serial: 2, tools: [other]))
        }
        let catalog = ClientToolCatalog(registrations, serverTools: [])
        #expect(catalog.items.map(\.name) == ["t", "t__\(second)"])
        #expect(catalog.renamed[second]?.map(\.reason) == [reason])
    }
}
