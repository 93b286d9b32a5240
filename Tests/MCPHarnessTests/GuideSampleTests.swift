import MCPCore
import MCPHarness
import Synchronization
import TestSupport
import Testing

/// Code as the guides for client-side tools and host tools write it, type names aside: it compiles unchanged.
@Suite(.timeLimit(.minutes(5))) struct GuideSampleTests {
    // H02, H09: the cases of the guide's JSON value, with a number that is a Double.
    @Test func jsonValues() throws {
        let price = 1.5
        let count = 3
        let schema: JSONValue = .object([
            "type": .string("object"),
            "properties": .object([
                "amount": .object([
                    "type": .string("number"), "minimum": .number(1.5), "maximum": .number(price),
                    "multipleOf": .number(count), "default": .number(1),
                ]),
                "note": .object(["type": .string("string"), "enum": .array([.string("a"), .null])]),
            ]),
            "required": .array([.string("amount")]),
            "additionalProperties": .bool(false),
        ])
        let text =
            #"{"type":"object","properties":{"amount":{"type":"number","minimum":1.5,"maximum":1.5,"#
            + #""multipleOf":3,"default":1},"note":{"type":"string","enum":["a",null]}},"#
            + #""required":["amount"],"additionalProperties":false}"#
        #expect(schema.serialized() == text)
        // A round trip of all six cases by Codable.
        #expect(try JSONValue(encoding: schema) == schema)
        #expect(try RawJSON(schema).decode(JSONValue.self) == schema)
        #expect(JSONValue.number(Double.nan) == .null && JSONValue.number(Double.infinity) == .null)
        guard case .number(let number) = JSONValue.number(2.25) else { throw NothingThere() }
        #expect(number.double == 2.25)
        #expect([1, 2].map { JSONValue.number($0) } == [1, 2])
    }

    // The host tools guide: declaration, handler, policies, errors.
    @Test func hostTools() async throws {
        struct LookupArguments: Decodable { let sku: String }
        let lookup = HostTool(
            name: "lookup_item",
            description: "Look up an inventory item by SKU.",
            inputSchema: .object([
                "type": .string("object"),
                "properties": .object(["sku": .object(["type": .string("string")])]),
                "required": .array([.string("sku")]),
            ]),
            policy: .ask(.hostTool)
        ) { call in
            let arguments = try call.decode(LookupArguments.self)
            return "SKU \(arguments.sku): 12 in stock"
        }
        let remove = HostTool(
            name: "delete_item", description: "Delete an item.", inputSchema: ["type": "object"],
            policy: .deny(.files, .destructiveAction)
        ) { _ in ToolOutput(output: "deleted") }
        let inventory = HarnessPlugin("inventory", tools: [lookup, remove])
        let model = ScriptedModel(
            .calls(("lookup_item", #"{"sku":"RICE-1K"}"#), ("delete_item", "{}")), .text("Done."))
        let harness = try ToolHarness(
            name: "Inventory", summary: "Answers questions about stock.", capabilities: ["inventory lookup"],
            model: model, sources: [], plugins: [inventory]
        ) { request in
            request.scopes == [.hostTool] ? .approved() : .denied(reason: "not that")
        }
        var statuses: [ToolExecutionResult.Status] = []
        for try await event in harness.stream("What is left?") {
            switch event {
            case .toolCallCompleted(let result): statuses.append(result.status)
            default: break
            }
        }
        #expect(statuses == [.completed, .denied])
    }

    // A tool says what it needs, and the user is told.
    @Test func scopesReachTheQuestion() async throws {
        let fixture = HubFixture()
        let provider = await MainActor.run {
            let registry = ClientToolRegistry()
            registry.register(tool: LocationTool())
            return (HubFixture.provider(registry), registry)
        }
        try await fixture.attach(provider.0, "phone")
        let asked = Mutex<[([PermissionScope], Duration?)]>([])
        let harness = try ToolHarness(
            name: "x", summary: "", model: ScriptedModel(.calls(("getLocation", "{}")), .text("done")),
            sources: [ClientToolSource(fixture.hub, channel: "a")]
        ) { request in
            asked.withLock { $0.append((request.scopes, request.toolTimeout)) }
            return .approved()
        }
        #expect(try await harness.send("go").calls.map(\.status) == [.completed])
        #expect(asked.withLock { $0.map(\.0) } == [[.location]])
        #expect(asked.withLock { $0.map(\.1) } == [.seconds(90)])
        let payload = try await MainActor.run { try JSONValue(encoding: provider.1.registrationPayloads()) }
        #expect(payload[0]?["scopes"] == ["location"] && payload[0]?["timeoutMs"] == 90_000)
    }
}

/// The tool of the client-side tools guide, with what a device adds to it.
private final class LocationTool: ClientTool {
    let toolDefinition = Tool(
        name: "getLocation", description: "Where the user is",
        inputSchema: .object(["type": .string("object"), "properties": .object([:])]),
        annotations: .init(title: "Location"))
    let instructions = "Use getLocation when the user asks for places nearby."
    let showExternalSourcesIndicator = false
    let scopes: Set<PermissionScope> = [.location]
    let timeout: Duration? = .seconds(90)

    func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction] { [] }
}
