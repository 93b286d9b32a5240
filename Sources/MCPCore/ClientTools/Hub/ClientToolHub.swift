/// A hub that passes the calls of agents to the programs that offer the tools. The tools are grouped in
/// channels; no channel sees the tools of another one.
///
/// Each channel is an MCP server that any agent can connect to. Programs use a connection on which they are
/// the MCP server (`attach`), or the HTTP endpoints of `ClientToolEndpoints`.
public actor ClientToolHub {
    private let counted = Counted(.toolHub)
    let options: ClientToolOptions
    let clock: any TimeSource
    nonisolated let servers: ChannelServers
    private let alarm: Alarm

    var channels: [String: ClientToolChannel] = [:]
    var calls: [String: ClientToolCall] = [:]
    var totals = ClientToolCounts()
    private var nextNumber = 0

    /// Creates a hub without clients.
    ///
    /// - Parameters:
    ///   - options: the time limits, the routing, and the destination of log lines.
    ///   - makeServer: creates the MCP server of a channel with the tools that exist without any client.
    ///     Called once for each channel, at most 1,000 times, from any thread.
    public init(
        options: ClientToolOptions = ClientToolOptions(),
        makeServer: @escaping @Sendable (_ channel: String) throws -> MCPServer
    ) {
        self.init(options: options, clock: SystemClock(), makeServer: makeServer)
    }

    init(
        options: ClientToolOptions, clock: any TimeSource,
        makeServer: @escaping @Sendable (_ channel: String) throws -> MCPServer
    ) {
        self.options = options
        self.clock = clock
        servers = ChannelServers(defaultChannel: options.defaultChannel, make: makeServer)
        alarm = Alarm(label: "mcp.clienttools", clock: clock)
    }

    /// Returns the MCP server of a channel; nil selects the default channel.
    ///
    /// - Throws: `RegistrationError` for a name that no channel can have, and when there are already 1,000
    ///   channels; any error that `makeServer` throws.
    public nonisolated func server(for channel: String? = nil) throws -> MCPServer {
        try servers.server(for: channel ?? options.defaultChannel)
    }

    /// The servers of all channels that were requested, in no particular order.
    public nonisolated var allServers: [MCPServer] { servers.all }

    /// Recreates the servers' own offerings, for programs whose configuration has changed; the tools of
    /// clients stay, except for those whose name is now taken.
    /// - Throws: any error that `makeServer` throws.
    public func reload() throws {
        for channel in try servers.reload() where channels[channel] != nil { try show(channel) }
    }

    /// The current counts, and the totals so far.
    public var counts: ClientToolCounts {
        var counts = totals
        counts.channels = channels.values.count { $0.isUsed }
        counts.clients = channels.values.reduce(0) { $0 + $1.registrations.count }
        counts.tools = channels.values.reduce(0) { $0 + $1.catalog.items.count }
        counts.listeners = channels.values.reduce(0) { $0 + $1.feed.count }
        counts.callsInFlight = calls.count
        return counts
    }

    /// Ends all connections to clients, all event streams and all calls.
    public func stop() async {
        let text = "The server is stopping; it is not known whether this was executed."
        for id in Array(calls.keys) { end(id, with: .error(text)) }
        let links = channels.values.flatMap { $0.registrations.values.compactMap(\.link) }
        for channel in channels.values { channel.feed.endAll() }
        for name in Array(channels.keys) {
            channels[name] = nil
            try? servers.show([], instructions: [], in: name)
        }
        for link in links { await link.client.close() }
    }

    func nextSerial() -> Int {
        nextNumber += 1
        return nextNumber
    }

    func log(_ line: @autoclosure () -> String) {
        if let log = options.log { log(line()) }
    }

    // MARK: Tools shown to agents

    /// Shows the current tools of a channel's clients.
    func show(_ name: String) throws {
        guard var channel = channels[name] else { return }
        let own =
            channel.listed.isEmpty ? [] : servers.ownTools(of: name, isReserved: channel.isReserved)
        channel.catalog = ClientToolCatalog(channel.listed, serverTools: own)
        let before = channel.shown
        channel.shown = [:]
        var entries: [ToolEntry] = []
        for item in channel.catalog.items {
            // In an order that stays when one of several connects again.
            let clients = runners(of: item, in: channel).sorted { $0.order < $1.order }.map(\.client)
            guard !clients.isEmpty else { continue }
            let known = before[item.name].flatMap {
                $0.definition == item.definition && $0.clients == clients ? $0 : nil
            }
            // A definition was checked when it arrived, and the names consist of allowed characters.
            guard let shown = known ?? (try? make(item, from: clients, in: name)) else { continue }
            channel.shown[item.name] = shown
            entries.append(shown.entry)
        }
        let guidance = ClientToolGuidance(channel, serverTools: own)
        for remark in guidance.remarks where !channel.remarks.contains(remark) {
            log("client tools: instructions channel=\(name) \(remark)")
        }
        channel.remarks = guidance.remarks
        channel.guidance = guidance.lines
        channels[name] = channel
        try servers.show(
            entries, instructions: guidance.lines, in: name, isReserved: channel.isReserved)
    }

    /// Returns what the clients of a channel tell a model about their tools, a line for each.
    func clientInstructions(of channel: String) -> [String] { channels[channel]?.guidance ?? [] }

    private func make(
        _ item: ClientToolCatalog.Item, from clients: [String], in channel: String
    ) throws(RegistrationError) -> ShownClientTool {
        let tool = item.definition.shown(as: item.name, from: clients)
        let limit = timeout(of: item.definition) + options.graceTime + .seconds(10)
        let entry = try ToolEntry(
            tool, timeout: limit, task: .optional, schemas: ClientToolLimits.schemas,
            handler: .asynchronous(handler(of: item, in: channel)))
        return ShownClientTool(definition: item.definition, clients: clients, entry: entry)
    }

    private func handler(
        of item: ClientToolCatalog.Item, in channel: String
    ) -> @Sendable (ToolCall, RequestContext) async throws -> CallToolResult {
        { [weak self] call, context in
            guard let self else { throw MCPError.internalError("The server is stopping") }
            var report: (@Sendable (ProgressReport) -> Void)?
            if context.wantsProgress { report = { context.report($0) } }
            return try await self.call(
                call.name, in: channel, call.arguments, meta: context.meta, report: report,
                whenLong: {
                    // If there is no room for a task, or the agent does not support them, the request
                    // continues.
                    try? await context.becomeTask(statusMessage: "waiting for client")
                })
        }
    }

    /// Returns the tools of a channel's clients as agents see them.
    func clientTools(of channel: String) -> [Tool] {
        guard let channel = channels[channel] else { return [] }
        return channel.catalog.items.compactMap { channel.shown[$0.name]?.entry.tool }
    }

    func timeout(of tool: ClientToolDefinition) -> Duration { tool.timeout ?? options.callTimeout }

    // MARK: Time

    /// Wakes the hub at this time, or earlier.
    func wake(at moment: MonotonicInstant) {
        guard moment < .never else { return }
        alarm.set(for: moment, waking: self) { hub in Task { [weak hub] in await hub?.tick() } }
    }

    /// Processes everything that is due and sleeps until the next deadline.
    func tick() {
        let now = clock.now
        var next = expireCalls(now)
        for name in Array(channels.keys) { next = min(next, expire(name, now)) }
        wake(at: next)
    }
}
