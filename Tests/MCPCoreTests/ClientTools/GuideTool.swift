import MCPCore

// The example tool of the client-side tools guide, as an app has it, without the UUID of Foundation.

@MainActor
final class GreetClientTool: ClientTool {
    let toolDefinition: Tool = {
        let schema: Value = .object([
            "type": .string("object"),
            "properties": .object([:]),
            "required": .array([]),
            "additionalProperties": .bool(false),
        ])

        return Tool(
            name: "greetUser",
            description: "Display a native greeting to the user",
            inputSchema: schema,
            annotations: .init(title: "Greet user")
        )
    }()

    let instructions =
        "Use the greetUser tool when the user asks to be greeted. Example: \"Please greet me\"."

    let showExternalSourcesIndicator = false

    func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction] {
        let title = "Greetings!"
        let message = "Hello there! The assistant asked me to greet you."

        return [
            {
                ClientToolActionHandler.shared.presentAlert(
                    ClientToolAlert(title: title, message: message)
                )
            }
        ]
    }
}

struct ClientToolAlert: Identifiable {
    let id = UInt64.random(in: .min ... .max)
    let title: String
    let message: String
}

final class ClientToolActionHandler: ClientToolActionHandling {
    static let shared = ClientToolActionHandler()

    private(set) var presentedAlerts: [ClientToolAlert] = []
    private(set) var handled: [Int] = []

    init() {}

    func handle(_ actions: [ClientToolAction]) {
        handled.append(actions.count)
        actions.forEach { $0() }
    }

    func presentAlert(_ alert: ClientToolAlert) { presentedAlerts.append(alert) }
}
