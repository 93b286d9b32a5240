import MCPCore
import MCPHarness
import Synchronization

/// A prompt that asks the person at the terminal whether a tool may run; without a person, nothing runs.
final class ApprovalPrompt: Sendable {
    private let sink: any Sink
    private let style: Style
    private let person: Person?
    /// Whether decisions can be kept permanently.
    private let remembers: Bool
    private let missed = Mutex(false)

    /// The number of characters up to which arguments are shown in full; the size of the rest is given, and
    /// it is shown on request.
    private static let shownCharacters = 4_000
    /// The number of lines of arguments above which the question names the tool again.
    private static let linesInSight = 12

    init(sink: any Sink, style: Style, person: Person?, remembers: Bool = false) {
        self.remembers = remembers
        self.sink = sink
        self.style = style
        self.person = person
    }

    /// Whether a call was denied because there was no person to ask.
    var wasMissed: Bool { missed.withLock { $0 } }

    func decide(_ request: ApprovalRequest) async -> ApprovalDecision {
        guard let person else {
            missed.withLock { $0 = true }
            // In a name with a slash, what stands before it would be a server.
            let isPlain = !request.tool.name.contains("/")
            let full = (isPlain ? "" : "\(request.invocation.source.name)/") + request.tool.name
            // A pattern could mean other tools as well.
            let isPattern = full.contains { "*?[".contains($0) }
            let hint =
                isPattern
                ? "at a terminal, a person is asked"
                : "--allow \(inlineText(ShellWord.quote(full))) allows it, without a question"
            sink.write(
                "denied: \(name(request)) requires approval, and nobody can be asked\nhint: \(hint)\n")
            return .denied(reason: "approval needs a terminal")
        }
        return await person.answer { await ask(request, $0) } ?? .denied(reason: "the call was abandoned")
    }

    /// Returns the names by which the user and the program know the tool: titles are the server's own words.
    private func name(_ request: ApprovalRequest) -> String {
        let tool = request.tool.name
        // One with blanks, or what looks like them, could go on with the question.
        let hasBlanks = tool.contains { $0.isWhitespace || $0 == "\u{2800}" }
        return "\(hasBlanks ? quoted(tool) : inlineText(tool)) of "
            + inlineText(request.invocation.source.name)
    }

    /// Asks about one call. The text shown comes from the model and the server, and is made harmless first.
    private func ask(
        _ request: ApprovalRequest, _ readLine: Person.LineReader
    ) async -> ApprovalDecision {
        let arguments = request.prettyArguments
        let hidden = arguments.unicodeScalars.count - Self.shownCharacters
        let lines = shown(arguments, hidden)
        let about = "\n" + (heading(request) + lines).joined(separator: "\n") + "\n"
        sink.write(about)
        // What is asked about may have scrolled away.
        let choices =
            (lines.count > Self.linesInSight ? "\(name(request)): " : "") + "[y]es, yes for this [r]un, "
            + (remembers ? "[a]lways, " : "")
            + (hidden > 0 ? "[s]how all, " : "") + "[N]o" + (remembers ? ", ne[v]er: " : ": ")
        while true {
            switch Self.answers.letter(of: await sink.ask(choices, about: about, readLine)) {
            case "y": return .approved()
            case "r": return .approved(remember: .run)
            case "a" where remembers: return .approved(remember: .always)
            case "v" where remembers: return .denied(reason: "the user never allows it", remember: .always)
            case "s":
                // Also where nothing was cut: it asks for the arguments, and does not decline.
                sink.write(shown(arguments, 0).joined(separator: "\n") + "\n")
            default: return .denied(reason: "the user declined")
            }
        }
    }

    private static let answers = PromptAnswer([
        "y": "yes", "r": "run", "a": "always", "s": "show", "n": "no", "v": "never",
    ])

    private func heading(_ request: ApprovalRequest) -> [String] {
        var lines = [style.bold("allow \(name(request)) to run?")]
        var claims = [request.sourceName, request.tool.title ?? "", request.tool.description ?? ""]
        claims.removeAll { $0.isEmpty || $0 == request.invocation.source.name || $0 == request.tool.name }
        if !claims.isEmpty {
            let mark = request.isTrusted ? "" : style.dim(" (according to the server)")
            lines.append("  \(claims.map { inlineText($0) }.joined(separator: " · "))\(mark)")
        }
        let declared = request.isTrusted ? [] : request.tool.declaredScopes
        lines += request.scopes.map { scope in
            let mark = declared.contains(scope) ? style.dim(" (according to the server)") : ""
            return "  · \(inlineText(scope.explanation))\(mark)"
        }
        if !request.isTrusted, let claim = Self.claim(request.tool.annotations) {
            lines.append("  · " + claim)
        }
        if let timeout = request.toolTimeout { lines.append("  · take up to \(TimeSpan.text(timeout))") }
        return lines
    }

    /// Returns what a server says against the worst that its tool could do.
    private static func claim(_ annotations: ToolAnnotations?) -> String? {
        var claims: [String] = []
        if annotations?.readOnlyHint == true {
            claims.append("changes nothing")
        } else if annotations?.destructiveHint == false {
            claims.append("deletes nothing")
        }
        if annotations?.openWorldHint == false { claims.append("reaches nothing outside its server") }
        return claims.isEmpty
            ? nil : "it says that it \(claims.joined(separator: " and ")); nobody has checked that"
    }

    private func shown(_ arguments: String, _ hidden: Int) -> [String] {
        let part =
            hidden > 0 ? String(arguments.unicodeScalars.prefix(Self.shownCharacters)) : arguments
        // Blanks and hidden characters within a line are named; its indentation stays.
        var lines = TerminalText.block(part, maxLine: .max).split(separator: "\n").map { line -> String in
            let indent = line.prefix { $0 == " " }
            return "  \(indent)\(VisibleText.line(String(line.dropFirst(indent.count))))"
        }
        if hidden > 0 { lines.append(style.bold("  … and \(hidden) characters that are not shown here")) }
        return lines
    }
}
