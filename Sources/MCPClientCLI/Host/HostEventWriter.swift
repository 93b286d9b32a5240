import MCPApps
import MCPCore
import MCPHarness

/// A writer of events in the form that the page reads: with the texts that it shows, so that it needs no
/// knowledge of MCP.
struct HostEventWriter {
    private let ports: SandboxPorts
    private var names: [HostedServer.ID: String] = [:]
    /// The open views, which are also the sources of their tools.
    private var views: [HostedView.ID: HostedView] = [:]
    /// The parts and choices of the forms of the open questions.
    private var forms: [HostQuestion.ID: Int] = [:]
    /// The text that the model is writing, or the last one that it wrote.
    private var growing: GrowingText?

    /// A text as far as the page has it.
    private struct GrowingText {
        let id: ConversationItem.ID
        var bytes: Int
        var end: VisibleText.End
        /// Whether the page has all that it shows of the text.
        var isCut: Bool { bytes > ContentJSON.maxText }
    }

    init(ports: SandboxPorts) { self.ports = ports }

    /// Returns the event as JSON; nil when there is nothing for a page to show.
    mutating func json(_ event: HostEvent) -> JSONValue? {
        switch event {
        case .server(let server):
            names[server.id] = server.name
            return Self.json(server)
        case .serverRemoved(let id):
            ports.release(server: id)
            return ["type": "server.gone", "id": .string(id.rawValue)]
        case .tools(let server, let tools): return json(tools, of: server)
        case .call(let call): return json(call)
        case .viewOpened(let view):
            views[view.id] = view
            return json(view)
        case .view(let view):
            views[view.id] = view
            return Self.state(view)
        case .viewMessage(let view, let message):
            // As text, which the page passes on: a long result would hold it up while it is read.
            let text = message.serialized()
            return ["type": "view.msg", "id": .string(view.rawValue), "message": .string(text)]
        case .viewSize(let view, _, let height):
            return [
                "type": "view.size", "id": .string(view.rawValue),
                "height": height.map { JSONValue($0) } ?? .null,
            ]
        case .viewMode(let view, let mode):
            return ["type": "view.mode", "id": .string(view.rawValue), "mode": .string(mode.rawValue)]
        case .viewProblem(let view, let text):
            return ["type": "view.note", "id": .string(view.rawValue), "problem": Self.text(text)]
        case .viewClosed(let view):
            views[view] = nil
            return ["type": "view.close", "id": .string(view.rawValue)]
        case .viewTools(let view, let tools): return Self.json(tools, ofView: view)
        case .question(let question): return json(question)
        case .questionClosed(let id):
            forms[id] = nil
            return ["type": "question.closed", "id": .string(id.rawValue)]
        case .openLink(let url): return ["type": "openLink", "url": .string(url)]
        case .download(let file):
            return [
                "type": "download", "name": .string(file.name), "mimeType": .string(file.mimeType),
                "data": .string(Base64.encode(file.bytes)),
            ]
        case .conversation(let item): return json(item)
        case .conversationDelta(let id, let text): return json(text, behind: id)
        case .turn(let isRunning): return ["type": "turn", "isTalking": .bool(isRunning)]
        case .log(let line): return Self.json(line)
        case .history(let entry): return Self.json(entry)
        }
    }

    /// A name, a title or a caption, with all that is in it, up to a length at which it leaves room for
    /// others: no name passes for another one.
    static func line(_ text: String, atMost limit: Int = HostEventWriter.maxName) -> JSONValue {
        .string(VisibleText.line(ContentJSON.clipped(text, limit)))
    }

    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    // MARK: Servers and tools

    private static func json(_ server: HostedServer) -> JSONValue {
        var parts: [String] = []
        if let info = server.info, info.name != server.name {
            parts.append(ContentJSON.clipped(info.name, maxPart))
        }
        if let version = server.info?.version, !version.isEmpty {
            parts.append(ContentJSON.clipped(version, maxPart))
        }
        if let version = server.version {
            parts.append("MCP \(version.text)")
            parts.append(count(server.toolCount, "tool"))
        }
        let (state, problem): (String, String?) =
            switch server.state {
            case .connecting: ("connecting", nil)
            case .connected where server.isSilenced:
                (
                    "connected",
                    "You declined several of its questions in a row, so it may not ask any more, "
                        + "until you call one of its tools."
                )
            case .connected: ("connected", nil)
            case .lost(let problem) where server.needsLogin:
                ("lost", "\(problem); in a terminal: mcp-client login \(ShellWord.quote(server.target))")
            case .lost(let problem): ("lost", problem)
            }
        if parts.isEmpty { parts = [state == "connecting" ? "connecting…" : "not reached"] }
        return [
            "type": "server.state", "id": .string(server.id.rawValue), "name": line(server.name),
            "target": line(server.target, atMost: maxLine), "state": .string(state), "problem": text(problem),
            "line": line(parts.joined(separator: " · ")), "canReconnect": .bool(state == "lost"),
            "removal": line("Remove \(server.name)"),
        ]
    }

    private static func count(_ number: Int, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }

    private func json(_ tools: [Tool], of server: HostedServer.ID) -> JSONValue {
        [
            "type": "tools", "id": .string(server.rawValue),
            "name": .string(names[server] ?? server.rawValue),
            "count": JSONValue(tools.count),
            "tools": .array(
                tools.map { tool in
                    [
                        "id": .string(tool.name), "tool": .string(tool.name),
                        "server": .string(server.rawValue), "title": Self.line(tool.displayName),
                        "name": tool.displayName == tool.name ? .null : Self.line(tool.name),
                        "description": Self.text(tool.description.map { Self.clipped($0) }),
                        "badge": .string(Self.badge(tool)),
                        "isForViews": .bool(!tool.visibility.contains(.model)),
                    ]
                }),
        ]
    }

    /// Returns the event for the tools that a view offers, which are shown at the view.
    private static func json(_ tools: [Tool], ofView view: HostedView.ID) -> JSONValue {
        // No name is so long that it hides the others.
        var names = tools.prefix(maxOffers).map { ContentJSON.clipped($0.name, maxPart) }
        if tools.count > maxOffers { names.append("and \(tools.count - maxOffers) more") }
        let text = "It offers \(count(tools.count, "tool")) to the model: \(names.joined(separator: ", "))."
        return [
            "type": "view.note", "id": .string(view.rawValue),
            "offers": tools.isEmpty ? .null : line(text, atMost: maxLine),
        ]
    }

    /// The tools of a view that are named at it.
    private static let maxOffers = 20

    private static func badge(_ tool: Tool) -> String {
        var words: [String] = []
        if (try? tool.uiResourceURI()) != nil { words.append("view") }
        if !tool.visibility.contains(.app) { words.append("for the model") }
        return words.joined(separator: " · ")
    }

    // MARK: Calls

    private func json(_ call: HostedCall) -> JSONValue {
        let by =
            switch call.requestedBy {
            case .user: "you"
            case .model: "the model"
            case .view: "a view"
            }
        let (name, isServer): (String?, Bool) =
            switch call.source {
            case .server(let id): (names[id], names[id] != nil)
            case .view(let id): (views[id].map { "view of \($0.serverName)" }, false)
            }
        var line = [name ?? call.source.rawValue, "by \(by)"]
        if let duration = call.duration { line.append(TimeSpan.text(duration)) }
        let isByView = call.callingView != nil
        // A call with arguments that are too long for a form is repeated unchanged.
        let canRetry = isServer && !isByView
        let canUse = canRetry && call.arguments.serialized().utf8.count <= Self.maxArguments
        let progress = call.progress
        return [
            "type": "call.state", "id": .string(call.id.rawValue), "server": .string(call.source.rawValue),
            "tool": .string(call.tool), "shown": Self.line(call.tool),
            "label": Self.line("Call of \(call.tool)"),
            "state": .string(call.state.rawValue), "stateText": .string(Self.words(call.state)),
            "line": Self.line(line.joined(separator: " · ")), "isOver": .bool(call.state.isOver),
            "canUse": .bool(canUse), "canRetry": .bool(canRetry && call.state.isOver),
            "isLoadingView": .bool(call.isLoadingView), "canShow": .bool(call.canShowView),
            "isWorking": .bool(!call.state.isOver && progress != nil),
            "progress": progress?.total == nil ? .null : JSONValue(progress?.progress ?? 0),
            "total": progress?.total.map { JSONValue($0) } ?? .null,
            "progressText": Self.text(progress.map { Self.clipped(Self.words($0)) }),
            "problem": Self.text(call.problem.map(Self.clipped)),
            "view": Self.text(call.view?.rawValue),
            "callingCall": Self.text(call.callingCall?.rawValue),
            "arguments": canUse ? call.arguments : .null,
            "argumentsText": .string(ContentJSON.pretty(call.arguments, Self.maxLine)),
            "content": call.result.map { .array(ContentJSON.blocks($0)) } ?? .null,
        ]
    }

    static func words(_ state: HostedCall.State) -> String {
        switch state {
        case .loadingUI: "loading view"
        case .ready: "working"
        case .failed: "failed"
        case .queued, .calling, .completed, .denied, .cancelled: state.rawValue
        }
    }

    private static func words(_ progress: ProgressReport) -> String {
        let number = TimeSpan.decimal(progress.progress)
        let count = progress.total.map { "\(number) of \(TimeSpan.decimal($0))" } ?? number
        return progress.message.map { "\(count) · \($0)" } ?? count
    }

    // MARK: Views

    private func json(_ view: HostedView) -> JSONValue {
        let address = ports.address(ofView: view.id, server: view.server)
        var warnings: [String] = []
        if view.hasChanged {
            warnings.append("This page differs from the one at this address last time.")
        }
        let domains = view.csp.externalDomains
        if !domains.isEmpty { warnings.append("It may reach \(domains.joined(separator: ", ")).") }
        if !view.csp.rejected.isEmpty {
            let left = view.csp.rejected.prefix(5).map { inlineText($0) }.joined(separator: ", ")
            warnings.append("Left out of its policy: \(left).")
        }
        let refused = view.resource.meta.permissions.subtracting(view.permissions).map(\.rawValue).sorted()
        if !refused.isEmpty {
            warnings.append(
                "It asks for \(refused.joined(separator: ", ")), which it may not use; "
                    + "start with --grant \(refused.joined(separator: ",")) to allow that.")
        }
        let problem =
            address == nil ? "No port is left for the views of this server; remove another server." : nil
        return [
            "type": "view.open", "id": .string(view.id.rawValue), "call": .string(view.call.rawValue),
            "origin": Self.text(address?.origin), "src": Self.text(address?.source),
            "allow": .string(SandboxHandler.allow(view)),
            "grants": .string(view.permissions.map(\.feature).sorted().joined(separator: ", ")),
            "caption": Self.line("\(view.serverName) · \(view.tool)"),
            "border": view.resource.meta.prefersBorder.map { .string("\($0)") } ?? .null,
            "shortHash": .string(String(view.resource.hash.prefix(8))),
            "about": .string("\(VisibleText.line(view.resource.uri))\nSHA-256 \(view.resource.hash)"),
            "warning": .string(warnings.joined(separator: " ")), "problem": Self.text(problem),
            "mode": .string(view.mode.rawValue), "isReady": .bool(view.isReady),
        ]
    }

    /// Returns the event for the state of a view, which is shown at the view.
    private static func state(_ view: HostedView) -> JSONValue {
        var notes: [String] = []
        if view.usesWebRTC {
            notes.append("It uses WebRTC: it can send what it sees to any address, whatever its policy says.")
        }
        if view.isHeld {
            notes.append(
                "It was put back, so it may not change its size until it has not asked for 10 s. "
                    + "“Full screen” works.")
        }
        if view.isSilenced {
            notes.append("You declined several of its questions in a row, so it may not ask any more.")
        }
        return [
            "type": "view.note", "id": .string(view.id.rawValue), "isReady": .bool(view.isReady),
            "notes": .string(notes.joined(separator: " ")), "allowsCalls": .bool(view.allowsCalls),
            "isTrustedOrSilent": .bool(view.allowsCalls || view.isSilenced),
            "waiting": view.waitingQuestions == 0 ? .null : .string("\(view.waitingQuestions) more"),
            "canExpand": .bool(view.isReady && view.modes.contains(.fullscreen)),
        ]
    }

    /// The parts and choices that the forms of all open questions have together.
    static let maxFormParts = 8_000

    private mutating func json(_ question: HostQuestion) -> JSONValue {
        forms[question.id] = nil
        let json = QuestionJSON.json(question, room: Self.maxFormParts - forms.values.reduce(0, +))
        forms[question.id] = json["form"].map(FormSpec.weight)
        return json
    }

    // MARK: Conversation, log, history

    /// Returns the event for an item; nil for a text of the model that was passed on in pieces, and is
    /// complete on the page.
    private mutating func json(_ item: ConversationItem) -> JSONValue? {
        guard item.author == .model else { return Self.json(item) }
        if let known = growing, known.id == item.id {
            growing = nil
            if known.isCut { return Self.json(item) }
            return nil
        }
        var end = VisibleText.End()
        let text = item.text
        _ = VisibleText.naming(text, after: &end)
        growing = GrowingText(id: item.id, bytes: text.utf8.count, end: end)
        return Self.json(item)
    }

    /// Returns the event for a piece of a text, up to what the page shows of one; nil for what is behind
    /// that. At the end, the page receives the beginning again, with the size of the whole text.
    private mutating func json(_ text: String, behind id: ConversationItem.ID) -> JSONValue? {
        guard var known = growing, known.id == id, !known.isCut else { return nil }
        let room = ContentJSON.maxText - known.bytes
        known.bytes += text.utf8.count
        let fitting = known.isCut ? ContentJSON.beginning(of: text, room) + "…" : text
        let shown = VisibleText.naming(fitting, after: &known.end)
        growing = known
        return ["type": "chat.delta", "id": .string(id.rawValue), "text": .string(shown)]
    }

    private static func json(_ item: ConversationItem) -> JSONValue {
        let (author, who) =
            switch item.author {
            case .user: ("user", "You")
            case .view(let server): ("view", "A view of the server “\(server)”, on your behalf")
            case .model: ("model", "Model")
            case .context(let server): ("context", "A view of the server “\(server)”, for future turns")
            case .host: ("host", "Host")
            }
        return [
            "type": "chat", "id": .string(item.id.rawValue), "author": .string(author), "who": line(who),
            "content": .array(ContentJSON.blocks(item.content, maxBytes: Self.maxSaid).map(visible)),
        ]
    }

    /// Names the characters in a piece of the conversation that nobody would see: a model reads them.
    private static func visible(_ block: JSONValue) -> JSONValue {
        guard var shown = block.objectValue else { return block }
        for key in ["text", "label", "about"] {
            if let text = shown[key]?.stringValue { shown[key] = .string(VisibleText.naming(text)) }
        }
        return .object(shown)
    }

    private static func json(_ line: HostLogEntry) -> JSONValue {
        let text = line.data.stringValue ?? ContentJSON.pretty(line.data, maxLine)
        let id = String(UInt64.random(in: 0 ... .max), radix: 36)
        return [
            "type": "log", "id": .string(id), "level": .string(line.level.rawValue),
            "line": Self.line("\(line.level.rawValue) · \(line.source)"),
            "time": .string(line.time.description),
            "text": .string(clipped(text)),
        ]
    }

    private static func json(_ entry: HistoryEntry) -> JSONValue {
        let json = entry.json
        var line = [entry.server]
        switch json["by"]?.stringValue {
        case "user": line.append("by you")
        case "view": line.append("by the view" + (json["view"]?.stringValue.map { " of \($0)" } ?? ""))
        case let by?: line.append("by \(by)")
        case nil: break
        }
        if let time = json["milliseconds"]?.doubleValue {
            line.append(TimeSpan.text(.microseconds(Int64(min(max(time, 0), 1e12) * 1000))))
        }
        var shown: JSONObject = ["arguments": entry.arguments]
        for name in ["result", "problem", "resource"] { shown[name] = json[name] }
        let state = json["state"]?.stringValue ?? ""
        // Of arguments that are too long for the history, the size is all that is left.
        let canUse =
            entry.arguments.objectValue != nil && entry.arguments.serialized().utf8.count <= maxArguments
        return [
            "type": "history", "id": .string(entry.id), "tool": .string(entry.tool),
            "shown": Self.line(entry.tool),
            "server": .string(entry.server), "state": .string(state),
            "canUse": .bool(canUse), "arguments": canUse ? entry.arguments : .null,
            "stateText": .string(HostedCall.State(rawValue: state).map(words) ?? state),
            "isByView": .bool(json["by"]?.stringValue == "view"),
            "line": Self.line(line.joined(separator: " · ")), "time": json["time"] ?? .null,
            "text": .string(ContentJSON.pretty(.object(shown), maxLine)),
        ]
    }

    /// The most that a page shows of a name, a title, a label or a caption: 256 bytes.
    static let maxName = 256
    /// The most that a page shows of what a server calls itself, and of its version: 64 bytes each.
    static let maxPart = 64
    /// The most that a page shows of one line: 16 KiB.
    static let maxLine = 16 << 10
    /// The most that a page shows of one message, including its images: 256 KiB.
    static let maxSaid = 256 << 10
    /// The size of the longest arguments that are put into a form: 256 KiB.
    private static let maxArguments = 256 << 10

    static func clipped(_ text: String) -> String { ContentJSON.clipped(text, maxLine) }
}
