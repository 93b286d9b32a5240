import MCPCore
import MCPHarness

/// What is in store.
actor Store {
    private var stock = ["PASTA-500": 12, "RICE-1K": 0]

    func count(_ sku: String) -> Int? { stock[sku] }

    func remove(_ sku: String) -> Bool { stock.removeValue(forKey: sku) != nil }
}

struct Item: Codable, Sendable {
    var sku: String
}

let store = Store()
let sku: JSONValue = [
    "type": "object",
    "properties": ["sku": ["type": "string", "description": "The stock keeping unit"]],
    "required": ["sku"],
]

let lookup = HostTool("lookup_item", description: "How many of an item are in store.", inputSchema: sku) {
    call in
    let sku = try call.decode(Item.self).sku
    guard let count = await store.count(sku) else { return "There is no item \(sku)." }
    return "\(count) of \(sku) are in store."
}

let delete = HostTool(
    "delete_item", description: "Takes an item out of the catalogue.", inputSchema: sku,
    policy: .ask(.destructiveAction)
) { call in
    let sku = try call.decode(Item.self).sku
    return await store.remove(sku) ? "\(sku) is gone." : "There is no item \(sku)."
}

// A model that needs no network: it looks one item up, and deletes what has run out.
let model = ScriptedModel(
    .calls(("lookup_item", #"{"sku":"RICE-1K"}"#)),
    .calls(("delete_item", #"{"sku":"RICE-1K"}"#)),
    .events { request in
        guard case .toolResults(let results)? = request.messages.last else { return [] }
        return [.textDelta("Done: " + results.map(\.text).joined())]
    })

let harness = try ToolHarness(
    name: "Stock keeper", summary: "Knows what is in store.", model: model,
    sources: [HostToolSource([lookup, delete])]
) { request in
    let words = request.scopes.map(\.explanation).joined(separator: ", ")
    print("may \(request.tool.displayName) \(words)? \(request.invocation.arguments)")
    return CommandLine.arguments.contains("--yes") ? .approved() : .denied(reason: "the user said no")
}

for try await event in harness.stream("Clean up the rice.") {
    switch event {
    case .toolCallCompleted(let result):
        print("\(result.invocation.name): \(result.status.rawValue), \(result.output.text)")
    case .completed(let reply): print(reply.text)
    default: break
    }
}
