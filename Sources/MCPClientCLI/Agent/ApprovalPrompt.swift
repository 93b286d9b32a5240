import MCPCore
import Synchronization

/// Asks the person at the terminal whether a tool may run; nothing runs when nobody is there.
final class ApprovalPrompt: Sendable {
    private let sink: any Sink
    private let style: Style
    private let readLine: (@Sendable () async -> String?)?
    private let missed = Mutex(false)

    init(sink: any Sink, style: Style, readLine: (@Sendable () async -> String?)?) {
        self.sink = sink
        self.style = style
        self.readLine = readLine
    }

    /// A call was denied because nobody could be asked.
    var wasMissed: Bool { missed.withLock { $0 } }

    /// What is shown comes from the model and the server, and is made harmless first.
    func decide(_ request: ApprovalRequest) async -> ApprovalDecision {
        let title = "\(inlineText(request.sourceName)) \(inlineText(request.tool.displayName))"
        guard let readLine else {
            missed.withLock { $0 = true }
            sink.write("denied: \(title) has to be approved, and nobody is there to ask\n")
            return .denied(reason: "nobody is there to approve it")
        }
        var lines = ["", style.bold("may \(title) run?")]
        if let description = request.tool.description {
            let mark = request.isTrusted ? "" : style.dim(" (says the server)")
            lines.append("  \(inlineText(description))\(mark)")
        }
        lines += request.scopes.map { "  · \(inlineText($0.explanation))" }
        lines += TerminalText.block(request.prettyArguments).split(separator: "\n").map { "  \($0)" }
        sink.write(lines.joined(separator: "\n") + "\n")
        sink.write("[y]es, yes for this [r]un, [N]o: ")
        switch await readLine()?.trimmingSpaces().lowercased().first {
        case "y": return .approved()
        case "r": return .approved(remember: .run)
        default: return .denied(reason: "the user said no")
        }
    }
}
