import TestSupport

@testable import MCPCore

/// Something that may happen next. A new one is a case, when it is possible, and what the model expects.
enum Action: CaseIterable, Sendable {
    /// A request comes; its id may have been used before, by this client or another one.
    case request
    /// A request comes with an id that is being served.
    case duplicate
    /// A handler's task goes on.
    case run
    /// A handler is told to report progress, maybe less than before.
    case progress
    /// A handler is told to end in one of its ways.
    case finish
    /// A client gives a request up, one that is open, over, or another client's.
    case cancel
    /// The response stream of a modern request is closed.
    case disconnect
    /// Time passes, maybe beyond deadlines.
    case advance
    /// A client's connection ends, and another client comes.
    case close
    /// The server stops.
    case stop

    /// How often it is taken, compared with others.
    var weight: Int {
        switch self {
        case .run: 8
        case .request, .progress, .finish: 4
        case .cancel, .disconnect, .duplicate: 2
        case .advance, .close: 1
        case .stop: 1
        }
    }

    func isPossible(in world: SimulatedWorld) -> Bool {
        switch self {
        case .request, .cancel: !world.isStopped
        case .duplicate: !world.isStopped && world.calls.contains { $0.isInFlight && $0.connection.isOpen }
        case .run: world.executor.waiting > 0
        case .progress, .finish: world.calls.contains(where: \.isParked)
        case .disconnect: world.calls.contains { $0.connection.isModern && $0.isInFlight }
        case .advance: true
        case .close: !world.isStopped
        case .stop: !world.isStopped && world.calls.count > 2
        }
    }

    /// Does it, and says what was done.
    func perform(in world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        switch self {
        case .request: Self.request(world, &random)
        case .duplicate: Self.duplicate(world, &random)
        case .run: Self.run(world, &random)
        case .progress: Self.progress(world, &random)
        case .finish: Self.finish(world, &random)
        case .cancel: Self.cancel(world, &random)
        case .disconnect: Self.disconnect(world, &random)
        case .advance: Self.advance(world, &random)
        case .close: Self.close(world, &random)
        case .stop: Self.stop(world)
        }
    }

    /// A number and a text that look the same are different ids (JRPC-02).
    private static let ids = ["1", "2", #""1""#, #""b""#, "-7"]

    private static func connection(
        _ world: SimulatedWorld, _ random: inout SeededRandom
    ) -> SimulatedConnection? {
        random.pick(world.connections.filter(\.isOpen))
    }

    private static func request(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        guard let connection = connection(world, &random) else { return "-" }
        let open = world.inFlight(on: connection)
        let free = ids.filter { id in !open.contains { $0.id == id } }
        guard let id = random.pick(free) else { return "-" }
        let name = "request \(id) on \(connection.channelID)"
        world.expected[.requests, default: 0] += 1
        if random.below(8) == 0 {
            let text = world.askNow(id, on: connection)?["result"]?["content"]?[0]?["text"]?.string
            world.require(text == "now", nil, "\(name): answered \(text ?? "nothing")")
            return "\(name), answered at once"
        }
        let tool = random.below(SimulatedWorld.deadlines.count)
        let (call, refusal) = world.ask(id, on: connection, tool: tool, hasToken: random.below(4) > 0)
        // SEC-10
        let isFull = open.count >= SimulatedWorld.limit
        if isFull { world.expected[.refused, default: 0] += 1 }
        let code = refusal?["error"]?["code"]?.int
        world.require(
            code == (isFull ? MCPError.overloadedCode : nil), nil, "\(name): refused with \(code ?? 0)")
        world.require((call == nil) == isFull, nil, "\(name): wrongly taken or refused")
        return "\(name) is " + (call.map { "call \($0.number)" } ?? "refused")
    }

    // JRPC-03
    private static func duplicate(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        guard let call = random.pick(world.calls.filter { $0.isInFlight && $0.connection.isOpen }) else {
            return "-"
        }
        let answer: RawJSON?
        if random.below(2) == 0 {
            answer = world.askNow(call.id, on: call.connection)
        } else {
            let (taken, refusal) = world.ask(call.id, on: call.connection, tool: 0, hasToken: true)
            world.require(taken == nil, call, "its id was taken a second time")
            answer = refusal
        }
        world.expected[.refused, default: 0] += 1
        let code = answer?["error"]?["code"]?.int
        world.require(code == -32600, call, "a second request with its id got \(code ?? 0)")
        return "id of call \(call.number) again"
    }

    private static func run(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        let place = random.below(world.executor.waiting)
        world.executor.run(place)
        return "run job \(place)"
    }

    private static func progress(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        guard let call = random.pick(world.calls.filter(\.isParked)) else { return "-" }
        let value = Double(random.below(6))
        call.resume(.progress(value))
        return "call \(call.number) reports \(value)"
    }

    private static func finish(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        guard let call = random.pick(world.calls.filter(\.isParked)),
            let ending = random.pick([Ending.returned, .returned, .toolError, .protocolError])
        else { return "-" }
        call.resume(.ends(ending))
        return "call \(call.number) ends: \(ending)"
    }

    // CANC-02, CANC-03, CANC-04
    private static func cancel(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        guard let connection = connection(world, &random), let id = random.pick(ids) else { return "-" }
        world.expected[.notifications, default: 0] += 1
        for call in world.inFlight(on: connection) where call.id == id && call.isOpen {
            call.end(.cancelled)
            world.expected[.cancelled, default: 0] += 1
        }
        world.cancel(id, on: connection)
        return "cancel \(id) on \(connection.channelID)"
    }

    // HTTP-25
    private static func disconnect(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        guard let call = random.pick(world.calls.filter { $0.connection.isModern && $0.isInFlight }) else {
            return "-"
        }
        if call.isOpen { world.expected[.cancelled, default: 0] += 1 }
        call.end(.cancelled)
        world.dispatcher.cancel(call.exchange)
        return "stream of call \(call.number) closes"
    }

    // CANC-08
    private static func advance(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        let seconds = [1, 1800, 3600, 36_000][random.below(4)]
        let now = (world.clock.now + .seconds(seconds)).nanoseconds
        for call in world.calls where call.isOpen && call.deadline <= now {
            call.end(.deadline)
            world.expected[.deadlines, default: 0] += 1
        }
        world.clock.advance(by: .seconds(seconds))
        return "\(seconds) s pass"
    }

    private static func close(_ world: SimulatedWorld, _ random: inout SeededRandom) -> String {
        guard let connection = connection(world, &random) else { return "-" }
        connection.isOpen = false
        for call in world.calls where call.connection === connection && call.isOpen {
            call.end(.cancelled)
            world.expected[.cancelled, default: 0] += 1
        }
        world.dispatcher.end(connection.channelID)
        world.connect(isModern: connection.isModern)
        return "\(connection.channelID) closes"
    }

    private static func stop(_ world: SimulatedWorld) -> String {
        world.isStopped = true
        for call in world.calls { call.end(.stopped) }
        world.dispatcher.failAll(SimulatedWorld.stopText)
        return "stop"
    }
}
