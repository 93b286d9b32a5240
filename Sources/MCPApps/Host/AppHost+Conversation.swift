import MCPCore
import MCPHarness

/// The conversation with the model: one turn at a time.
struct ModelConversation {
    var harness: ToolHarness?
    var task: Task<Void, Never>?
    /// The messages that were sent while the model was busy.
    var waiting: [String] = []
    /// The host's ids of the model's calls, by the model's ids.
    var calls: [String: HostedCall.ID] = [:]
    /// The item with the text that the model is writing, and whether that has more than one piece.
    var item: ConversationItem.ID?
    var itemHasGrown = false
    /// The arguments as the model writes them, by the model's id of the call.
    var partials: [String: PartialInput] = [:]
    /// The times of the last answers for views and servers, for the limit on them.
    var samples: [ContinuousClock.Instant] = []
}

/// The arguments of a call as far as the model has written them.
struct PartialInput {
    var name: String?
    var text = ""
    /// The size of the text that was last shown.
    var shown = 0

    /// Whether there is enough more to show: the whole text is read each time.
    var isDue: Bool { text.utf8.count - shown > shown / 32 }
}

extension AppHost {
    /// Sends a message to the model.
    ///
    /// The answer arrives as events. Messages that are sent while the model is busy are sent on together
    /// afterwards.
    /// - Throws: `AppHostError.noModel`.
    public func say(_ text: String) throws(AppHostError) {
        guard options.model != nil else { throw .noModel }
        add(ConversationItem(id: nextID("m"), author: .user, content: [.text(text)]))
        modelConversation.waiting.append(text)
        nextTurn()
    }

    /// Stops the model and the calls that it makes.
    public func stopTalking() { modelConversation.task?.cancel() }

    func add(_ item: ConversationItem) {
        var item = item
        item.bytes = JSONValue.array(item.content.map(\.json)).serialized().utf8.count
        conversation.append(item)
        limitConversation()
        emit(.conversation(item))
    }

    private func limitConversation() {
        var bytes = conversation.reduce(0) { $0 + $1.bytes }
        while conversation.count > Self.maxConversation
            || bytes > Self.maxConversationBytes && conversation.count > 1
        {
            bytes -= conversation.removeFirst().bytes
        }
    }

    // MARK: Views

    /// Sends a message from a view in the user's name.
    func say(_ content: [ContentBlock], _ view: HostedView) async throws -> JSONValue {
        let text = Self.text(content)
        if options.model != nil, !options.trustsMessages {
            guard try await ask(.message(text), server: view.serverName, view: view.id).isYes else {
                throw Self.refusal("The user declined to send the message.")
            }
        }
        add(ConversationItem(id: nextID("m"), author: .view(view.serverName), content: content))
        if options.model != nil {
            modelConversation.waiting.append(text)
            nextTurn()
        }
        return [:]
    }

    /// Accepts what a view wants the model to know at its next turn; only the last one counts.
    func takeContext(_ content: [ContentBlock], _ structured: JSONObject?, _ id: HostedView.ID) -> JSONValue {
        guard views[id] != nil else { return [:] }
        views[id]?.modelContext = (content, structured)
        views[id]?.isContextNew = true
        views[id]?.hasUnshownContext = true
        if views[id]?.contextRests == false { showContext(of: id) }
        return [:]
    }

    /// The shortest time between two contexts of a view that are shown: it may report its state all the time.
    static let contextPause = Duration.seconds(1)

    private func showContext(of id: HostedView.ID) {
        guard let view = views[id]?.view, let (content, structured) = views[id]?.modelContext else { return }
        views[id]?.hasUnshownContext = false
        views[id]?.contextRests = true
        Task { [weak self] in
            try? await Task.pause(for: Self.contextPause)
            await self?.showNextContext(of: id)
        }
        var shown = content
        if let structured { shown.append(.text(JSONValue.object(structured).serialized())) }
        let item = ConversationItem(
            id: HostID(rawValue: "context-\(id)"), author: .context(view.serverName), content: shown)
        conversation.removeAll { $0.id == item.id }
        add(item)
    }

    private func showNextContext(of id: HostedView.ID) {
        views[id]?.contextRests = false
        if views[id]?.hasUnshownContext == true { showContext(of: id) }
    }

    /// Returns, in words, what open views want the model to know and it does not know yet.
    private func takeContexts() -> String {
        var contexts = ViewContext(sources: servers.map { ($0.server.id.rawValue, $0.server.name) })
        for id in viewOrder {
            // What the model is told is shown before.
            if views[id]?.hasUnshownContext == true { showContext(of: id) }
            guard let record = views[id], record.isContextNew, let context = record.modelContext else {
                continue
            }
            views[id]?.isContextNew = false
            let isForged = contexts.add(
                of: (record.view.server.rawValue, record.view.serverName), tool: record.view.tool,
                Self.text(context.content), context.structured)
            if isForged {
                log(
                    "view of \(record.view.serverName)", .warning,
                    "its context imitates that of another server; the model was not told these lines")
            }
        }
        return contexts.text.isEmpty ? "" : "\n\n\(contexts.text)"
    }

    /// Returns the blocks as text, for a model that accepts only text.
    static func text(_ content: [ContentBlock]) -> String {
        content.map { $0.text ?? $0.resource?.text ?? "[\($0.type.rawValue)]" }.joined(separator: "\n")
    }

    // MARK: Turns

    private func nextTurn() {
        guard modelConversation.task == nil, !modelConversation.waiting.isEmpty else { return }
        let text = modelConversation.waiting.joined(separator: "\n\n") + takeContexts()
        modelConversation.waiting = []
        modelConversation.task = Task {
            await turn(text)
            modelConversation.task = nil
            if modelConversation.waiting.isEmpty { emit(.turn(isRunning: false)) }
            nextTurn()
        }
        emit(.turn(isRunning: true))
    }

    private func turn(_ text: String) async {
        defer { endItem() }
        modelConversation.calls = [:]
        modelConversation.partials = [:]
        do {
            let harness = try harness()
            try await harness.use(sources)
            let handle = harness.streamHandle(text)
            try await withTaskCancellationHandler {
                for try await event in handle.events { take(event) }
                // The events of a turn that is cancelled may just end.
                try Task.checkCancellation()
            } onCancel: {
                handle.cancel()
            }
        } catch is CancellationError {
            add(ConversationItem(id: nextID("m"), author: .host, content: [.text("Stopped.")]))
        } catch {
            let text = "The model did not answer: \(Self.words(error))"
            add(ConversationItem(id: nextID("m"), author: .host, content: [.text(text)]))
        }
        // These calls began while the model was writing them, and were never made.
        for id in modelConversation.calls.values where calls[id]?.call.state == .queued { abandon(id) }
    }

    private func harness() throws -> ToolHarness {
        if let harness = modelConversation.harness { return harness }
        guard let model = options.model else { throw AppHostError.noModel }
        var limits = HarnessLimits()
        limits.toolTimeout = nil
        var behaviour = HarnessOptions()
        behaviour.decisions = decisions
        let harness = try ToolHarness(
            name: options.info.name,
            summary: "You help the user with the tools you are given; some of them show a view to the user.",
            model: model, sources: [], policies: options.policies, limits: limits, options: behaviour
        ) { [weak self] in await self?.approve($0, view: nil) ?? .denied() }
        modelConversation.harness = harness
        return harness
    }

    /// The sources of tools: the servers, and the views that offer tools.
    private var sources: [any ToolSource] {
        servers.map(\.modelSource) + viewOrder.compactMap { viewSource($0) }
    }

    private func take(_ event: HarnessEvent) {
        switch event {
        case .textDelta(let text): grow(text)
        case .toolInputDelta(let callID, let name, let partial): growInput(callID, name, partial)
        case .toolCallRequested(let request): requested(request)
        case .toolProgress(let callID, let progress):
            if let id = modelConversation.calls[callID] { progressed(id, progress) }
        case .toolCallCompleted(let result):
            endItem()
            if let id = modelConversation.calls[result.invocation.callID] { finish(id, result) }
        case .warning(let text): log("model", .warning, text)
        case .usage, .roundStarted, .approvalRequested, .approvalRemembered, .externalSources, .completed:
            break
        }
    }

    private func grow(_ text: String) {
        if let id = modelConversation.item, let index = conversation.lastIndex(where: { $0.id == id }) {
            // In place: a copy for each piece would cost more than the text.
            conversation[index].content[0].text? += text
            conversation[index].bytes += text.utf8.count
            modelConversation.itemHasGrown = true
            emit(.conversationDelta(id: id, text))
        } else {
            let item = ConversationItem(id: nextID("m"), author: .model, content: [.text(text)])
            modelConversation.item = item.id
            modelConversation.itemHasGrown = false
            add(item)
        }
    }

    private func endItem() {
        guard let id = modelConversation.item else { return }
        modelConversation.item = nil
        guard modelConversation.itemHasGrown, let item = conversation.last(where: { $0.id == id }) else {
            return
        }
        emit(.conversation(item))
    }

    // MARK: Calls by the model

    /// Adds a piece to a call's arguments: the view shows them while they are written, if the call needs no
    /// approval. A view can pass on what it receives, so it receives nothing before the call is allowed.
    private func growInput(_ callID: String, _ name: String?, _ piece: String) {
        var partial = modelConversation.partials.removeValue(forKey: callID) ?? PartialInput()
        partial.name = partial.name ?? name
        partial.text += piece
        let isDue = partial.isDue
        if isDue { partial.shown = partial.text.utf8.count }
        modelConversation.partials[callID] = partial
        guard isDue, partial.text.utf8.count <= Self.maxMessageBytes else { return }
        if modelConversation.calls[callID] == nil, let name = partial.name,
            let (server, tool) = offered(name), (try? tool.uiResourceURI()) ?? nil != nil,
            runsUnasked(tool, of: server)
        {
            modelConversation.calls[callID] = open(source: .server(server), tool, [:], by: .model, from: nil)
        }
        guard let id = modelConversation.calls[callID], let healed = PartialJSON.heal(partial.text) else {
            return
        }
        calls[id]?.partial = healed
        if let view = calls[id]?.call.view {
            update(view) { $0.toolInputPartial(healed) }
        } else {
            loadView(id)
        }
    }

    /// Returns whether a call by the model of this tool runs without a question.
    private func runsUnasked(_ tool: Tool, of server: HostedServer.ID) -> Bool {
        guard let source = record(ofServer: server)?.modelSource else { return false }
        switch options.policies.policy(for: tool, of: source) {
        case .automatic: return true
        case .ask: return decisions.allows(tool, of: source)
        case .deny: return false
        }
    }

    /// Returns the tool that a model means by a name.
    ///
    /// The rule is that of the harness: the first tool keeps its name, the others have their source as a
    /// prefix, and a name that looks like one of another source means that source.
    private func offered(_ name: String) -> (server: HostedServer.ID, Tool)? {
        func find(_ fits: (ServerRecord, Tool) -> Bool) -> (server: HostedServer.ID, Tool)? {
            for record in servers {
                let tool = record.tools.first { $0.visibility.contains(.model) && fits(record, $0) }
                if let tool { return (record.server.id, tool) }
            }
            return nil
        }
        return find { "\($0.server.id)__\($1.name)" == name } ?? find { $1.name == name }
    }

    private func requested(_ request: ToolExecutionRequest) {
        endItem()
        if let tool = request.tool { _ = note(request.invocation, tool) }
    }

    /// Notes that the harness is about to call a server; its event for that may arrive later than this.
    func modelCallBegins(_ invocation: ToolInvocation) -> JSONObject {
        let tools = record(of: invocation.source)?.tools
        guard let tool = tools?.first(where: { $0.name == invocation.name }) else { return [:] }
        return callBegins(note(invocation, tool))
    }

    func modelCallEnds(_ invocation: ToolInvocation, with outcome: Result<ServerAnswer, any Error>) {
        if let id = modelConversation.calls[invocation.callID] { callEnds(id, with: outcome) }
    }

    /// Records a call by the model, once, with its arguments.
    private func note(_ invocation: ToolInvocation, _ tool: Tool) -> HostedCall.ID {
        let arguments = invocation.argumentsJSON ?? [:]
        let source = source(invocation.source)
        let known = modelConversation.calls[invocation.callID]
        let id: HostedCall.ID
        if let known, calls[known]?.call.tool == tool.name, calls[known]?.call.source == source {
            id = known
            guard calls[id]?.hasBegun == false else { return id }
            change(id) { $0.call.arguments = arguments }
        } else {
            // The model began to write a call of another tool.
            if let known, calls[known]?.call.state == .queued { abandon(known) }
            id = open(source: source, tool, arguments, by: .model, from: nil)
            modelConversation.calls[invocation.callID] = id
        }
        calls[id]?.cancel = { [weak self] in Task { await self?.stopTalking() } }
        return id
    }

    /// Gives up a call that the model began to write and did not make.
    private func abandon(_ id: HostedCall.ID) {
        change(id) {
            $0.call.state = .cancelled
            $0.call.problem = "The model did not finish the call."
        }
        tellEnd(id)
        if let source = calls[id]?.call.source { closeForms(of: source) }
    }

    // MARK: Answers of the model for views and servers

    /// The number of answers for views and servers together in a minute.
    static let maxSamples = 20

    private func checkSamples() throws {
        let minute = ContinuousClock.now - .seconds(60)
        modelConversation.samples.removeAll { $0 < minute }
        guard modelConversation.samples.count < Self.maxSamples else {
            throw Self.refusal(
                "The model answers \(Self.maxSamples) such requests a minute; try again later.")
        }
    }

    /// Lets the model answer a view or a server, if the user agrees.
    func sample(
        _ request: CreateMessageRequest, server: HostedServer.ID, view: HostedView.ID?
    ) async throws -> CreateMessageResult {
        guard let model = options.model else { throw MCPError.methodNotFound("sampling/createMessage") }
        guard request.tools.isEmpty, request.toolChoice == nil else {
            throw MCPError.invalidParams("The model cannot be given tools in a sampling request.")
        }
        try checkSamples()
        let said = request.messages.map { (isUser: $0.role == .user, text: Self.text($0.content)) }
        // The model receives only what the user agrees to.
        var parts = request.systemPrompt.map { ["System prompt:\n\($0)"] } ?? []
        parts += said.map { "\($0.isUser ? "User" : "Assistant"):\n\($0.text)" }
        let question = parts.joined(separator: "\n\n")
        guard question.utf8.count <= Self.maxMessageBytes else {
            throw MCPError.invalidParams(
                "More than \(Self.maxMessageBytes >> 20) MiB cannot be sent to the model.")
        }
        let name = self.name(of: .server(server))
        guard
            try await ask(
                .sampling(question), server: name, view: view, for: view.map { .view($0) } ?? .server(server)
            ).isYes
        else {
            throw Self.refusal("The user does not want the model to answer.")
        }
        // Only what the user allows counts: nobody else uses up the answers of others.
        try checkSamples()
        modelConversation.samples.append(.now)
        let messages = said.map { $0.isUser ? ModelMessage.user($0.text) : .assistant($0.text, []) }
        let turn = try await Race.run(within: options.timeout) {
            try await ModelTurn.read(
                model, ModelRequest(system: request.systemPrompt, messages: messages), limit: 1 << 20
            ) { _ in }
        }
        return CreateMessageResult(content: [.text(turn.text)], model: options.info.name)
    }
}
