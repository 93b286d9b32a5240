import MCPCore
import MCPHarness

/// A host of MCP Apps for any front end: servers, calls of their tools, the views of those calls, the
/// questions to the user, and a conversation with a model (MCP Apps 2026-01-26).
///
/// ```swift
/// let host = AppHost()
/// let events = await host.events()
/// let server = try await host.addServer(.http("http://127.0.0.1:3001/mcp"), name: "clock")
/// try await host.call(server, "clock", [:])
/// for await event in events { show(event) }
/// ```
/// All decisions are made here. A front end shows the events, and passes the messages of its frames to
/// `receive` and the user's answers to `answer`. Views are informed only of what the protocol provides for,
/// and reach only the server that they came from.
public actor AppHost {
    private let counted = Counted(.appHost)

    /// The maximum size of one message of a view: 1 MiB. A longer one is dropped and logged.
    public static let maxMessageBytes = AppBridgeLimits().maxMessageBytes
    /// The maximum size of all files of one download: 16 MiB. More is refused.
    public static let maxDownloadBytes = 16 << 20
    /// The number of servers of one host.
    static let maxServers = 32
    /// The number of calls that can be repeated, and are shown after a reload.
    static let maxCalls = 200
    /// The number of entries of the history that are kept.
    static let maxHistory = 1_000
    /// The number of these that may be calls by views: one that calls endlessly does not displace those of
    /// the user.
    static let maxViewHistory = 250
    /// The number of items of the conversation that are shown after a reload.
    static let maxConversation = 500
    /// The maximum size of these items together: 4 MiB. The oldest are removed.
    static let maxConversationBytes = 4 << 20
    /// The maximum size of the results of all these calls, and of the arguments from views: 16 MiB. Of the
    /// oldest, only the card remains.
    static let maxResultBytes = 16 << 20

    /// The number of lines of the log that are shown after a reload.
    static let maxLines = 500
    /// The maximum size of these lines together: 4 MiB. The oldest are removed.
    static let maxLineBytes = 4 << 20

    let options: AppHostOptions
    let now: @Sendable () -> ContinuousClock.Instant
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
    private var lines: [HostLogEntry] = []
    private var lineBytes = 0
    var modelConversation = ModelConversation()
    var page = HostEnvironment()
    let decisions = RememberedDecisions()
    /// Decides about one call. Questions of different views do not wait for each other.
    var desk: ApprovalCoordinator {
        ApprovalCoordinator(
            { [weak self] in await self?.approveCall($0) ?? .denied() }, decisions, timeout: nil)
    }
    private var lastID = 0
    private(set) var listeners: [Int: AsyncStream<HostEvent>.Continuation] = [:]
    /// Whether the host has ended, and its events with it.
    package private(set) var isClosed = false

    /// Creates a host without servers.
    public init(_ options: AppHostOptions = AppHostOptions()) { self.init(options) { .now } }

    /// - Parameter now: the clock by which views are limited.
    package init(_ options: AppHostOptions, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.options = options
        self.now = now
        pastCalls = Self.bounded(options.history)
        for entry in options.history {
            if let resource = entry.resource { pins.pin(resource.uri, of: entry.server, resource.hash) }
        }
    }

    /// Returns the last entries, of which only some are calls by views.
    package static func bounded(_ entries: [HistoryEntry]) -> [HistoryEntry] {
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

    /// The number of events that may wait for one reader.
    static let maxWaitingEvents = 8_192

    /// Returns the events from now on, until the host is closed or the reader stops. Begin with `snapshot`.
    ///
    /// The stream of a reader that is 8,192 events behind ends as well; begin again with
    /// `eventsWithSnapshot`. That of a host that is closed is empty.
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

    /// Returns the events from now on, and those that bring a front end up to date.
    ///
    /// Every event is in exactly one of the two.
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
        log(HostLogEntry(source, level, .string(text)))
    }

    /// Adds a line to the log, and keeps it for a page that is reloaded.
    func log(_ line: HostLogEntry) {
        lines.append(line)
        lineBytes += line.bytes
        while lines.count > Self.maxLines || lineBytes > Self.maxLineBytes && lines.count > 1 {
            lineBytes -= lines.removeFirst().bytes
        }
        emit(.log(line))
    }

    /// Returns the events that rebuild everything from nothing, for a page that was reloaded.
    ///
    /// Its frames are empty, and each view begins again when its frame reports that it is ready.
    public func snapshot() -> [HostEvent] {
        var events = lines.map(HostEvent.log)
        for record in servers {
            events.append(.server(record.server))
            events.append(.tools(server: record.server.id, record.tools))
        }
        events += pastCalls.map(HostEvent.history)
        // A call by a view appears inside the view, which must exist first.
        let all = callOrder.compactMap { calls[$0]?.call }
        func isInView(_ call: HostedCall) -> Bool { call.callingView.map { views[$0] != nil } ?? false }
        events += all.filter { !isInView($0) }.map(HostEvent.call)
        for record in viewOrder.compactMap({ views[$0] }) {
            // Its frame is loaded again.
            var view = record.view
            view.isReady = false
            events.append(.viewOpened(view))
            if let problem = record.problem { events.append(.viewProblem(view: record.view.id, problem)) }
            if !record.tools.isEmpty { events.append(.viewTools(view: record.view.id, record.tools)) }
        }
        events += all.filter(isInView).map(HostEvent.call)
        events += conversation.map(HostEvent.conversation)
        if modelConversation.task != nil { events.append(.turn(isRunning: true)) }
        events += questionOrder.compactMap { questions[$0] }.filter(\.isOpen).map { .question($0.question) }
        return events
    }

    /// Ends everything: calls are cancelled, questions dismissed, views closed, servers released.
    public func close() async {
        isClosed = true
        modelConversation.task?.cancel()
        for record in calls.values { record.cancel?() }
        for id in questionOrder { closeQuestion(id, .cancel) }
        for id in viewOrder { removeView(id) }
        let connections = servers.map(\.connection)
        servers = []
        // Together: each may wait for a program that ignores the end of its input.
        await withTaskGroup(of: Void.self) { group in
            for connection in connections { group.addTask { await connection.stop() } }
        }
        for listener in listeners.values { listener.finish() }
        listeners = [:]
    }
}
