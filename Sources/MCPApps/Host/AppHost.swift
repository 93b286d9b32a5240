import MCPCore
import MCPHarness

/// A host of MCP Apps: servers, calls of their tools, the views of those calls, the questions to the user,
/// and a conversation with a model, for any front end (MCP Apps 2026-01-26).
///
/// ```swift
/// let host = AppHost()
/// let events = await host.events()
/// let server = try await host.addServer(.http("http://127.0.0.1:3001/mcp"), name: "clock")
/// try await host.call(server, "clock", [:])
/// for await event in events { show(event) }
/// ```
/// All that is decided is decided here; a front end shows the events, hands the messages of its frames to
/// `receive` and the user's answers to `answer`. Views are told only what the protocol tells them, and reach
/// only the server they came from.
public actor AppHost {
    private let counted = Counted(.appHost)

    /// The size of one message of a view: 1 MiB. A longer one is dropped, and the log says so.
    public static let maxMessageBytes = AppBridgeLimits().maxMessageBytes
    /// The size of all files of one download: 16 MiB. More is refused.
    public static let maxDownloadBytes = 16 << 20
    /// Servers of one host.
    static let maxServers = 32
    /// Calls that can be repeated, and are shown after a reload.
    static let maxCalls = 200
    /// Entries of the history that are kept.
    static let maxHistory = 1_000
    /// Of these, calls of views: one that calls without end does not displace those of the user.
    static let maxViewHistory = 250
    /// Pieces of the conversation that are shown after a reload.
    static let maxConversation = 500
    /// The size of these pieces together: 4 MiB. The oldest go.
    static let maxConversationBytes = 4 << 20
    /// The size of what all these calls were answered, and of what views called with: 16 MiB. Of the oldest
    /// only the card stays.
    static let maxResultBytes = 16 << 20

    let options: AppHostOptions
    var servers: [ServerRecord] = []
    var calls: [HostedCall.ID: CallRecord] = [:]
    /// The ids of the calls in order.
    var callOrder: [HostedCall.ID] = []
    var views: [HostedView.ID: ViewRecord] = [:]
    var viewOrder: [HostedView.ID] = []
    var questions: [HostQuestion.ID: QuestionRecord] = [:]
    var questionOrder: [HostQuestion.ID] = []
    var pastCalls: [HistoryEntry]
    var pins = DocumentPins()
    var conversation: [ConversationItem] = []
    var modelConversation = ModelConversation()
    var page = HostEnvironment()
    let decisions = RememberedDecisions()
    private(set) lazy var desk = ApprovalCoordinator(
        { [weak self] in await self?.approveCall($0) ?? .denied() }, decisions, timeout: nil)
    private var lastID = 0
    private(set) var listeners: [Int: AsyncStream<HostEvent>.Continuation] = [:]
    private var isClosed = false

    /// A host without servers.
    public init(_ options: AppHostOptions = AppHostOptions()) {
        self.options = options
        pastCalls = Self.bounded(options.history)
        for entry in options.history {
            if let resource = entry.resource { pins.pin(resource.uri, of: entry.server, resource.hash) }
        }
    }

    /// The last entries, of which only some are calls of views.
    static func bounded(_ entries: [HistoryEntry]) -> [HistoryEntry] {
        var kept: [HistoryEntry] = []
        var ofViews = 0
        for entry in entries.reversed() where kept.count < maxHistory {
            if entry.json["by"] == "view" {
                ofViews += 1
                if ofViews > maxViewHistory { continue }
            }
            kept.append(entry)
        }
        return kept.reversed()
    }

    func nextID<Subject>(_ prefix: String) -> HostID<Subject> {
        lastID += 1
        return HostID(rawValue: "\(prefix)\(lastID)")
    }

    // MARK: Events

    /// Events that wait for one reader.
    static let maxWaitingEvents = 8_192

    /// What happens from now on, until the host is closed or the reader stops. Begin with `snapshot`.
    ///
    /// The stream of a reader that is 8,192 events behind ends; begin anew with `eventsWithSnapshot`.
    public func events() -> AsyncStream<HostEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: HostEvent.self, bufferingPolicy: .bufferingOldest(Self.maxWaitingEvents))
        guard !isClosed else {
            continuation.finish()
            return stream
        }
        lastID += 1
        let id = lastID
        listeners[id] = continuation
        continuation.onTermination = { [weak self] _ in Task { await self?.stopListening(id) } }
        return stream
    }

    /// The events from now on, and those that bring a front end there: no event stands in both or in neither.
    public func eventsWithSnapshot() -> (snapshot: [HostEvent], events: AsyncStream<HostEvent>) {
        (snapshot(), events())
    }

    private func stopListening(_ id: Int) { listeners[id] = nil }

    func emit(_ event: HostEvent) {
        for (id, listener) in listeners {
            guard case .dropped = listener.yield(event) else { continue }
            listener.finish()
            listeners[id] = nil
        }
    }

    func log(_ source: String, _ level: LoggingLevel, _ text: String) {
        emit(.log(HostLogEntry(source, level, .string(text))))
    }

    /// The events that build everything up from nothing: for a page that was loaded again. Its frames are
    /// empty, and each view begins anew when its frame says that it is there.
    public func snapshot() -> [HostEvent] {
        var events: [HostEvent] = []
        for record in servers {
            events.append(.server(record.server))
            events.append(.tools(server: record.server.id, record.tools))
        }
        events += pastCalls.map(HostEvent.history)
        // A call of a view stands in the view, which has to be there first.
        let all = callOrder.compactMap { calls[$0]?.call }
        func isInView(_ call: HostedCall) -> Bool { call.callingView.map { views[$0] != nil } ?? false }
        events += all.filter { !isInView($0) }.map(HostEvent.call)
        for record in viewOrder.compactMap({ views[$0] }) {
            events.append(.viewOpened(record.view))
            if let problem = record.problem { events.append(.viewProblem(view: record.view.id, problem)) }
            if !record.tools.isEmpty { events.append(.viewTools(view: record.view.id, record.tools)) }
        }
        events += all.filter(isInView).map(HostEvent.call)
        events += conversation.map(HostEvent.conversation)
        events += questionOrder.compactMap { questions[$0] }.filter(\.isOpen).map { .question($0.question) }
        return events
    }

    /// Ends everything: calls are cancelled, questions left, views closed, servers let go.
    public func close() async {
        isClosed = true
        modelConversation.task?.cancel()
        for record in calls.values { record.cancel?() }
        for id in questionOrder { closeQuestion(id, .cancel) }
        for id in viewOrder { removeView(id) }
        for record in servers { await record.connection.stop() }
        servers = []
        for listener in listeners.values { listener.finish() }
        listeners = [:]
    }
}
