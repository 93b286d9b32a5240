@testable import MCPCore

/// A server, its clients and its handlers in one thread, beside a model of what has to happen.
// SAFETY: a world and everything in it is used by one thread only.
final class SimulatedWorld: @unchecked Sendable {
    static let stopText = "The server is stopping"
    /// Requests in flight per connection.
    static let limit = 3
    /// Simulated; nothing in real time happens within a run.
    static let deadlines: [(tool: String, timeout: Duration)] = [
        ("short", .seconds(3600)), ("long", .seconds(36_000)),
    ]

    let server: MCPServer
    let clock = SimulatedClock()
    let executor = SimulatedExecutor()
    let fault: Fault?
    private var nextChannel: UInt64 = 1

    // What belongs to one schedule.
    private(set) var connections: [SimulatedConnection] = []
    private(set) var calls: [SimulatedCall] = []
    private var sinks: [SimulatedSink] = []
    var isStopped = false
    /// What the counters have to grow by.
    var expected: [ServerCounters.Event: Int] = [:]
    private var before: [ServerCounters.Event: Int] = [:]
    private(set) var violation: String?

    init(fault: Fault? = nil) throws {
        self.fault = fault
        var options = ServerOptions()
        options.limits.maxRequestsInFlight = Self.limit
        server = MCPServer(Implementation(name: "sim", version: "1"), options: options, clock: clock)
        for (tool, timeout) in Self.deadlines {
            try server.register(Tool(tool, inputSchema: ["type": "object"]), timeout: timeout) {
                [unowned self] call, context in
                guard let number = call.arguments["n"]?.int, calls.indices.contains(number) else {
                    throw ToolError("no such call")
                }
                return try await calls[number].play(self, context)
            }
        }
        try server.registerRaw(Tool("now", inputSchema: ["type": "object"])) { _, _, out in out.text("now") }
    }

    var dispatcher: Dispatcher { server.dispatcher }

    /// Forgets the last schedule.
    func begin() {
        calls = []
        sinks = []
        isStopped = false
        expected = [:]
        violation = nil
        connections = []
        for place in 0 ..< 3 { connect(isModern: place > 0) }
        for event in ServerCounters.Event.allCases { before[event] = dispatcher.counters.value(of: event) }
    }

    func connect(isModern: Bool) {
        connections.append(SimulatedConnection(channelID: nextChannel, isModern: isModern))
        nextChannel += 1
    }

    func require(_ condition: Bool, _ call: SimulatedCall?, _ text: @autoclosure () -> String) {
        guard !condition, violation == nil else { return }
        violation = call.map { "call \($0.number) (id \($0.id)): \(text())" } ?? text()
    }

    func sink(of call: SimulatedCall) -> SimulatedSink? { sinks[call.number] }

    /// The requests whose ids are taken.
    func inFlight(on connection: SimulatedConnection) -> [SimulatedCall] {
        calls.filter { $0.connection === connection && $0.isInFlight }
    }

    // MARK: Messages

    private func send(
        _ text: String, on connection: SimulatedConnection, sink: () -> any ResponseSink
    ) -> (disposition: Disposition, answer: RawJSON?) {
        var channel = ServerChannel(id: connection.channelID)
        if !connection.isModern {
            channel.session = NegotiatedSession(revision: .newestLegacy, abilities: [])
        }
        var writer = JSONWriter()
        let disposition = dispatcher.receive(
            ByteSlice(text), from: &channel, into: &writer, sink: sink)
        guard case .answered = disposition else { return (disposition, nil) }
        return (disposition, try? RawJSON(validating: writer.finish()))
    }

    private func params(_ members: String, _ connection: SimulatedConnection, _ token: Int?) -> String {
        let token = token.map { #""progressToken":\#($0)"# }
        let claim =
            connection.isModern
            ? #""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#
            : nil
        return #"{\#(members),"_meta":{\#([token, claim].compactMap(\.self).joined(separator: ","))}}"#
    }

    /// A request whose answer comes at once: what it is, or the code of its error.
    func askNow(_ id: String, on connection: SimulatedConnection) -> RawJSON? {
        let params = params(#""name":"now","arguments":{}"#, connection, nil)
        return send(
            #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":\#(params)}"#, on: connection
        ) { NoSink() }.answer
    }

    /// A request whose handler the schedule leads. Returns the call, or the refusal.
    func ask(
        _ id: String, on connection: SimulatedConnection, tool: Int, hasToken: Bool
    ) -> (call: SimulatedCall?, refusal: RawJSON?) {
        let (name, timeout) = Self.deadlines[tool]
        let call = SimulatedCall(
            number: calls.count, connection: connection, id: id, hasToken: hasToken,
            deadline: (clock.now + timeout).nanoseconds)
        let sink = SimulatedSink(call, self)
        let other = sinks.last
        calls.append(call)
        sinks.append(sink)
        let members = #""name":"\#(name)","arguments":{"n":\#(call.number)}"#
        let params = params(members, connection, hasToken ? call.number : nil)
        let (disposition, answer) = send(
            #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":\#(params)}"#, on: connection
        ) {
            if let fault { return FaultySink(fault, sink, other: other) }
            return sink
        }
        guard case .deferred(let exchange) = disposition else {
            calls.removeLast()
            sinks.removeLast()
            return (nil, answer)
        }
        call.exchange = exchange
        return (call, nil)
    }

    func cancel(_ id: String, on connection: SimulatedConnection) {
        let params = params(#""requestId":\#(id)"#, connection, nil)
        let (disposition, _) = send(
            #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":\#(params)}"#, on: connection
        ) { NoSink() }
        if case .accepted = disposition { return }
        require(false, nil, "a notification was answered")
    }

    // MARK: The end

    /// Lets every handler come to its end and compares what is left with the model.
    func finish() {
        while executor.waiting > 0 || calls.contains(where: \.isParked) {
            if executor.waiting > 0 {
                executor.run(0)
            } else {
                for call in calls { call.resume(.ends(.returned)) }
            }
        }
        for call in calls {
            require(!call.isInFlight, call, "the handler never ended")
            require(sinks[call.number].endings == 1, call, "ended \(sinks[call.number].endings) times")
        }
        require(
            dispatcher.inFlight.count == 0, nil, "\(dispatcher.inFlight.count) requests are left in flight")
        for event in ServerCounters.Event.allCases {
            let counted = dispatcher.counters.value(of: event) - before[event, default: 0]
            let wanted = expected[event, default: 0]
            require(counted == wanted, nil, "\(counted) \(event) were counted instead of \(wanted)")
        }
        // No alarm of this schedule is left to the next one.
        clock.advance(by: .seconds(36_000))
    }
}

/// For messages that must not need one.
private final class NoSink: ResponseSink {
    let executor: (any TaskExecutor)? = nil
    func notify(_ message: ByteSlice) {}
    func finish(_ answer: Answer?) {}
}
