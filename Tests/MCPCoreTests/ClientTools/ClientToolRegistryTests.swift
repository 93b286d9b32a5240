import MCPCore
import Testing

/// A tool with everything open.
@MainActor final class AnyClientTool: ClientTool {
    let toolDefinition: Tool
    let instructions: String
    let showExternalSourcesIndicator: Bool
    var actions: [ClientToolAction] = []
    var result: ClientToolResult?
    private(set) var invocations: [ClientToolInvocation] = []

    init(_ tool: Tool, instructions: String = "", external: Bool = false) {
        toolDefinition = tool
        self.instructions = instructions
        showExternalSourcesIndicator = external
    }

    func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction] {
        invocations.append(invocation)
        return actions
    }

    func call(_ invocation: ClientToolInvocation) async throws -> ClientToolResult? {
        if result != nil { invocations.append(invocation) }
        return result
    }
}

@MainActor @Suite struct ClientToolRegistryTests {
    // C01
    @Test func theToolOfTheGuideRegisters() {
        let registry = ClientToolRegistry()
        registry.register(tool: GreetClientTool())
        #expect(registry.registrationPayloads().map(\.name) == ["greetUser"])
    }

    // C03, C11
    @Test func payloadsHaveTheShapeOfTheGuide() throws {
        let registry = ClientToolRegistry()
        registry.register(tool: GreetClientTool())
        registry.register(
            tool: AnyClientTool(Tool(name: "bare", description: " "), instructions: " Use it. "))
        let json = try JSONValue(encoding: registry.registrationPayloads())
        #expect(
            json == [
                [
                    "name": "greetUser", "description": "Display a native greeting to the user",
                    "instructions":
                        "Use the greetUser tool when the user asks to be greeted. Example: \"Please greet me\".",
                    "parameters": [
                        "type": "object", "properties": [:], "required": [], "additionalProperties": false,
                    ],
                    "showExternalSourcesIndicator": false,
                ],
                [
                    "name": "bare", "description": "Use it.", "instructions": "Use it.",
                    "parameters": ["type": "object"], "showExternalSourcesIndicator": false,
                ],
            ])
    }

    // C09
    @Test func aToolOfTheSameNameTakesThePlace() {
        let registry = ClientToolRegistry()
        for text in ["first", "second"] {
            registry.register(tool: AnyClientTool(Tool(name: "a", description: text)))
            registry.register(tool: AnyClientTool(Tool(name: "b", description: "b")))
        }
        #expect(registry.registrationPayloads().map(\.description) == ["second", "b"])
        registry.unregister(name: "a")
        #expect(registry.registrationPayloads().map(\.name) == ["b"])
    }

    // C05, C08
    @Test func theHandlerRunsTheActionsInOrder() async throws {
        let handler = ClientToolActionHandler()
        let registry = ClientToolRegistry(handler: handler)
        let tool = AnyClientTool(Tool(name: "three", description: "x"))
        var order: [Int] = []
        tool.actions = (1 ... 3).map { number in
            {
                MainActor.assertIsolated()
                order.append(number)
            }
        }
        registry.register(tool: tool)
        let result = try await registry.dispatch(ClientToolInvocation(tool: .init(name: "three")))
        #expect(order == [1, 2, 3])
        #expect(handler.handled == [3])
        #expect(result == .text("three: done"))
    }

    // C10
    @Test func anUnknownToolIsAnErrorAndNoCrash() async throws {
        let registry = ClientToolRegistry()
        let invocation = ClientToolInvocation(tool: .init(name: "none"))
        #expect(registry.handleInvocation(invocation).isEmpty)
        #expect(try await registry.dispatch(invocation).isError)
    }

    // C06
    @Test func argumentsDecode() throws {
        struct Query: Codable, Equatable { var city: String }
        let invocation = ClientToolInvocation(
            tool: .init(name: "a"), args: Array(#"{"city":"Oslo"}"#.utf8))
        #expect(try invocation.decode(Query.self) == Query(city: "Oslo"))
        #expect(throws: (any Error).self) {
            try ClientToolInvocation(tool: .init(name: "a")).decode(Query.self)
        }
    }
}
