@testable import MCPCore

/// How an exchange ends.
enum Ending: Hashable, Sendable, CaseIterable {
    /// The handler returned, threw an error for the model, or threw an error of the protocol.
    case returned, toolError, protocolError
    case deadline, stopped
    /// Without an answer.
    case cancelled
}

/// One request whose handler the schedule leads, and what the model knows of it.
// SAFETY: a world and everything in it is used by one thread only.
final class SimulatedCall: @unchecked Sendable {
    /// What a waiting handler does next.
    enum Step { case progress(Double), ends(Ending) }

    private enum Handler {
        case notStarted
        case parked(CheckedContinuation<Step, Never>)
        case running
        case over
    }

    let number: Int
    let connection: SimulatedConnection
    /// The id as it is written.
    let id: String
    /// Whether the request asked for progress.
    let hasToken: Bool
    let deadline: Int64
    var exchange: PendingRequest?
    /// What ended the exchange, in the model; nil while it is open.
    private(set) var ending: Ending?
    private(set) var lastProgress = -Double.infinity
    private var handler = Handler.notStarted

    init(number: Int, connection: SimulatedConnection, id: String, hasToken: Bool, deadline: Int64) {
        self.number = number
        self.connection = connection
        self.id = id
        self.hasToken = hasToken
        self.deadline = deadline
    }

    var isOpen: Bool { ending == nil }
    /// Its id is taken: the handler has not ended, even when the exchange has.
    var isInFlight: Bool { if case .over = handler { false } else { true } }
    var isParked: Bool { if case .parked = handler { true } else { false } }

    /// The first ending counts.
    func end(_ ending: Ending) { self.ending = self.ending ?? ending }

    func resume(_ step: Step) {
        guard case .parked(let continuation) = handler else { return }
        handler = .running
        continuation.resume(returning: step)
    }

    /// The tool's code: does what the schedule says.
    func play(_ world: SimulatedWorld, _ context: RequestContext) async throws -> CallToolResult {
        while true {
            let step = await withCheckedContinuation { handler = .parked($0) }
            switch step {
            case .progress(let value):
                let isWanted = isOpen && hasToken && value > lastProgress
                let before = world.sink(of: self)?.notifications ?? 0
                await context.progress(value)
                let sent = (world.sink(of: self)?.notifications ?? 0) - before
                world.require(sent == (isWanted ? 1 : 0), self, "progress \(value) was sent \(sent) times")
                if isOpen { lastProgress = max(lastProgress, value) }
            case .ends(let ending):
                world.require(context.isCancelled == !isOpen, self, "isCancelled is \(context.isCancelled)")
                if !isOpen { world.expected[.lateResults, default: 0] += 1 }
                // The error of the protocol is a refusal, whether anybody still hears it or not.
                if ending == .protocolError { world.expected[.refused, default: 0] += 1 }
                end(ending)
                handler = .over
                switch ending {
                case .toolError: throw ToolError("failed \(number)")
                case .protocolError: throw MCPError.internalError("broken \(number)")
                default: return .text("done \(number)")
                }
            }
        }
    }
}

/// A client, as far as the dispatcher knows one.
// SAFETY: a world and everything in it is used by one thread only.
final class SimulatedConnection: @unchecked Sendable {
    let channelID: UInt64
    let isModern: Bool
    var isOpen = true

    init(channelID: UInt64, isModern: Bool) {
        self.channelID = channelID
        self.isModern = isModern
    }
}
