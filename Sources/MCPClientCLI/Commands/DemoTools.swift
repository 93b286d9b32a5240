import MCPCore
import Synchronization

/// Demonstration tools of `provide`, such as a device would offer, with made-up data.
enum DemoTools {
    static func server(_ tools: [DemoTool], _ console: Console) -> MCPServer {
        let server = MCPServer(ClientIdentity.name, version: ClientIdentity.version)
        for tool in Set(tools) { add(tool, to: server, console) }
        return server
    }

    private static func add(_ tool: DemoTool, to server: MCPServer, _ console: Console) {
        switch tool {
        case .greet:
            server.addTool("greet", "Greets the user on their screen", Argument("name", "whom to greet")) {
                (who: String?) in
                let text = "Hello, \(who ?? "you")!"
                console.line(inlineText(text))
                return "The user was greeted with: \(text)"
            }
        case .clipboard:
            let clipboard = Clipboard("nothing yet")
            server.addTool(
                "clipboard", "Reads the user's clipboard, or writes text to it",
                Argument("text", "the text to write; omit it to read the clipboard")
            ) { (text: String?) in clipboard.exchange(text) }
        case .location:
            server.addTool("location", "Where the user is") { () in
                Place(city: "Berlin", latitude: 52.52, longitude: 13.405)
            }
        case .notify:
            server.addTool("notify", "Shows the user a notification", Argument("text")) { (text: String) in
                console.line("notification: \(inlineText(text))")
                return "The notification was shown."
            }
        }
    }

    private struct Place: Codable, Sendable {
        var city: String
        var latitude: Double
        var longitude: Double
    }

    /// A text that tool calls read and replace.
    private final class Clipboard: Sendable {
        private let text: Mutex<String>

        init(_ text: String) { self.text = Mutex(text) }

        func exchange(_ new: String?) -> String {
            text.withLock { text in
                if let new { text = new }
                return text
            }
        }
    }
}
