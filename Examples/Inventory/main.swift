import MCPCore
import MCPHarness

/// The stock of a store.
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

let lookup = HostTool("lookup_item", description: "The quantity of an item in stock.", inputSchema: sku) {
    call in
    let sku = try call.decode(Item.self).sku
    guard let count = await store.count(sku) else { return "There is no item \(sku)." }
    return "\(count) of \(sku) are in stock."
}

let delete = HostTool(
    "delete_item", description: "Removes an item from the catalogue.", inputSchema: sku,
    policy: .ask(.destructiveAction)
) { call in
    let sku = try call.decode(Item.self).sku
    return await store.remove(sku) ? "\(sku) is gone." : "There is no item \(sku)."
}

// A model that needs no network: it looks up one item, and deletes it because it has run out.
let model = ScriptedModel(
    .calls(("lookup_item", #"{"sku":"RICE-1K"}"#)),
    .calls(("delete_item", #"{"sku":"RICE-1K"}"#)),
    .events { request in
        guard case .toolResults(let results)? = request.messages.last else { return [] }
        return [.textDelta("Done: " + results.map(\.text).joined())]
    })

let harness = try ToolHarness(
    name: "Stock keeper", summary: "Knows what is in stock.", model: model,
    sources: [HostToolSource([lookup, delete])]
) { request in
    let words = request.scopes.map(\.explanation).joined(separator: ", ")
    print("may \(request.tool.displayName) \(words)? \(request.invocation.arguments)")
    return CommandLine.arguments.contains("--yes") ? .approved() : .denied(reason: "the user declined")
}

for try await event in harness.stream("Clean up the rice.") {
    switch event {
    case .toolCallCompleted(let result):
        print("\(result.invocation.name): \(result.status.rawValue), \(result.output.text)")
    case .completed(let reply): print(reply.text)
    default: break
    }
}
