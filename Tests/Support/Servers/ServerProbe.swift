@testable package import MCPCore

/// What a server has at work and what it counts, for tests that speak to it over its links.
package struct ServerProbe {
    private let server: MCPServer
    private var dispatcher: Dispatcher { server.dispatcher }

    fileprivate init(_ server: MCPServer) { self.server = server }

    /// Requests that are not yet answered.
    package var requests: Int { dispatcher.inFlight.count }
    /// Questions to clients that are not yet answered.
    package var questions: Int { dispatcher.serverCalls.count }
    /// Rounds of questions whose state is kept.
    package var states: Int { dispatcher.stateLedger.count }
    /// Tasks that are kept; nil without tasks.
    package var tasks: Int? { dispatcher.tasks?.count }
    /// Handlers of tasks that run; nil without tasks.
    package var taskHandlers: Int? { dispatcher.tasks?.handlersAtWork }
    /// Whether somebody waits for changes.
    package var hasSubscribers: Bool { dispatcher.subscriptions.bus.hasSubscribers }
    /// How long changes are gathered.
    package static var moment: Duration { ChangeBus.moment }
    package var limits: ServerLimits { dispatcher.options.limits }

    /// Calls that became tasks, so far.
    package var startedTasks: Int { dispatcher.counters.value(of: .tasks) }
    /// Responses to nothing, so far.
    package var strayResponses: Int { dispatcher.counters.value(of: .strayResponses) }
    /// Requests that were cancelled, so far.
    package var cancelled: Int { dispatcher.counters.value(of: .cancelled) }

    /// The most bytes of a kept state.
    package static var maxStateBytes: Int { RequestState.maxBytes }

    /// A task as its client sees it; nil when it is not kept.
    package func task(_ id: String) -> JSONValue? { dispatcher.tasks?.task(id, principal: "").map(Self.json) }

    /// A task as its client sees it.
    package static func json(_ task: ServerTask) -> JSONValue {
        var writer = JSONWriter()
        writer.beginObject()
        task.write(to: &writer)
        writer.endObject()
        return RawJSON(unchecked: writer.finish()).value
    }

    /// Tells subscribers now what would wait for the end of its moment.
    package func deliverChanges() { dispatcher.subscriptions.bus.deliverNow() }
    /// Ends what has passed its deadline.
    package func expireDeadlines() { dispatcher.deadlines.expire() }
    /// Answers all requests with an error, as a server does that stops.
    package func failAll(_ text: String) { dispatcher.failAll(text) }
    /// Fails all tasks, as a server does that stops.
    package func failTasks(_ text: String) { dispatcher.tasks?.failAll(text) }
}

extension MCPServer {
    package var probe: ServerProbe { ServerProbe(self) }

    /// A server whose time is another one.
    package convenience init(
        _ name: String, version: String = "1", title: String? = nil, instructions: String? = nil,
        options: ServerOptions = ServerOptions(), at clock: any TimeSource
    ) {
        self.init(
            Implementation(name: name, version: version, title: title), instructions: instructions,
            options: options, clock: clock)
    }

    /// Says that its tools come and go, as one of client tools does.
    package func announceThatToolsComeAndGo() throws { try update { $0.toolsComeAndGo = true } }
}

extension RunningServer {
    /// The ports of its addresses.
    package var ports: [UInt16] {
        addresses.compactMap { address in if case .tcp(_, let port) = address.kind { port } else { nil } }
    }

    /// The first of them.
    package func port() throws -> UInt16 {
        guard let port = ports.first else { throw NothingThere() }
        return port
    }
}

extension ResultWriter {
    /// Answers with a result that is there as a whole.
    package mutating func whole(_ result: CallToolResult) throws { try self.result(result) }
}
