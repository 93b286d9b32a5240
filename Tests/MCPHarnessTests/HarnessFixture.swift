import MCPCore
import MCPHarness
import Synchronization

/// A host tool or two, a scripted model, and a record of what happened.
struct HarnessFixture {
    static let sku: JSONValue = [
        "type": "object", "properties": ["sku": ["type": "string"]], "required": ["sku"],
        "additionalProperties": false,
    ]

    let runs = Runs()

    /// Counts and orders what ran.
    final class Runs: Sendable {
        private let state = Mutex<[String]>([])
        func add(_ text: String) { state.withLock { $0.append(text) } }
        var all: [String] { state.withLock { $0 } }
    }

    func lookup(policy: ToolPolicy = .automatic, annotations: ToolAnnotations? = nil) -> HostTool {
        let runs = runs
        return HostTool(
            "lookup_item", description: "Looks an item up.", inputSchema: Self.sku, annotations: annotations,
            policy: policy
        ) { call in
            struct Arguments: Decodable { var sku: String }
            let sku = try call.decode(Arguments.self).sku
            runs.add("run \(sku)")
            return "\(sku): 12 in stock"
        }
    }

    func harness(
        _ model: any LanguageModel, _ tools: [HostTool], limits: HarnessLimits = .init(),
        policies: PolicyTable = .init(), options: HarnessOptions = .init(), approvals: ApprovalHandler? = nil
    ) throws -> ToolHarness {
        try ToolHarness(
            name: "Stock", summary: "Knows what is in stock.", capabilities: ["look items up"], model: model,
            sources: [HostToolSource(tools)], policies: policies, limits: limits, options: options,
            approvals: approvals)
    }

    static let askFor = #"{"sku":"A-1"}"#

    /// A model that looks one item up, and says what it read.
    static func lookingUp(_ arguments: String = askFor) -> ScriptedModel {
        ScriptedModel(
            .calls(("lookup_item", arguments)),
            .events { request in
                guard case .toolResults(let results)? = request.messages.last else { return [] }
                return [.textDelta("There it says: " + results.map(\.text).joined(separator: " | "))]
            })
    }

    /// All events of a turn, and the error that ended it.
    static func events(_ harness: ToolHarness, _ text: String = "How many?") async -> (
        [HarnessEvent], (any Error)?
    ) {
        var events: [HarnessEvent] = []
        do {
            for try await event in harness.stream(text) { events.append(event) }
        } catch {
            return (events, error)
        }
        return (events, nil)
    }
}

extension HarnessEvent {
    var word: String {
        switch self {
        case .textDelta: "text"
        case .usage: "usage"
        case .roundStarted(let round): "round \(round)"
        case .toolInputDelta: "input"
        case .toolCallRequested: "requested"
        case .approvalRequested: "approval"
        case .approvalRemembered: "remembered"
        case .toolProgress: "progress"
        case .externalSources: "external"
        case .toolCallCompleted(let result): result.status.rawValue
        case .warning: "warning"
        case .completed: "end"
        }
    }
}
