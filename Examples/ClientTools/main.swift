// An app that offers a tool to the agents that use a daemon:
//     mcp-server --demo --listen 127.0.0.1:3001 --client-tools
//     example-client-tools ADDRESS CHANNEL [TOKEN]
// An https address, such as that of a proxy in front of the daemon, is reached by the platform's HTTP.
import MCPCore
import MCPFoundation
import Observation

final class GreetClientTool: ClientTool {
    let toolDefinition = Tool(
        name: "greetUser",
        description: "Display a native greeting to the user",
        inputSchema: .object([
            "type": .string("object"),
            "properties": .object([:]),
            "required": .array([]),
            "additionalProperties": .bool(false),
        ]),
        annotations: .init(title: "Greet user")
    )

    let instructions = "Use the greetUser tool when the user asks to be greeted."

    func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction] {
        [{ ActionHandler.shared.presentAlert("Greetings! The assistant asked me to greet you.") }]
    }
}

@MainActor @Observable final class ActionHandler: ClientToolActionHandling {
    static let shared = ActionHandler()
    private(set) var presentedAlert: String?

    func handle(_ actions: [ClientToolAction]) { for action in actions { action() } }

    func presentAlert(_ text: String) {
        presentedAlert = text
        print(text)
    }
}

let registry = ClientToolRegistry(handler: ActionHandler.shared)
registry.register(tool: GreetClientTool())

if CommandLine.arguments.count > 2, let address = ProviderAddress(CommandLine.arguments[1]) {
    let isRemote = CommandLine.arguments[1].hasPrefix("https:")
    let provider = ClientToolProvider(
        registry: registry, channel: CommandLine.arguments[2], clientID: "example", address: address,
        token: CommandLine.arguments.dropFirst(3).first, carrier: isRemote ? URLSessionCarrier() : nil)
    do {
        try await provider.run()
    } catch {
        print("cannot offer tools: \(error)")
    }
} else {
    print("usage: example-client-tools ADDRESS CHANNEL [TOKEN]")
}
