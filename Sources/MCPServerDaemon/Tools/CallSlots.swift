import MCPCore
import Synchronization

/// Lets a limited number of calls run at the same time: of all tools, and of a tool that has a line of its
/// own. Who waits holds nothing.
///
/// Of the calls in a line, the one whose caller has the fewest running goes first; among equals, callers have
/// their turns one after another, however many calls of each wait. The same holds for the first ones of all
/// lines.
final class CallSlots: Sendable {
    /// Where the calls of a tool wait.
    struct Line: Sendable, Hashable {
        fileprivate let index: Int
        /// The line of all tools that have none of their own.
        static let common = Line(index: 0)
    }

    private struct Waiter {
        var id: Int
        var caller: String
        var line: Int
        /// The round of turns, in its line, in which it has its own.
        var round: Int
        /// The round of turns in all lines.
        var turn: Int
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct LineState {
        /// The slots that are free; nil if only those of all tools count.
        var free: Int?
        var waiters: [Waiter] = []
        /// The number of slots by caller.
        var held: [String: Int] = [:]
        /// The round of the last turn.
        var round = 0
    }

    private struct State {
        var free: Int
        var nextID = 0
        var lines = [LineState()]
        /// The number of slots by caller, whatever the line.
        var held: [String: Int] = [:]
        /// The round of the last turn.
        var turn = 0
    }

    /// The number of calls that may wait in one line; further ones are turned away at once.
    static let maxWaiting = 64
    /// The number of calls of one caller that may wait in one line: there is room for those of others.
    static let maxWaitingOfOne = maxWaiting - maxWaiting / 4

    /// The number of slots that one caller may have.
    let maxOfOne: Int
    private let state: Mutex<State>

    /// - Parameter areShared: whether a caller may have only three quarters of the slots, so that others are
    ///   served while its calls run.
    init(_ count: Int, areShared: Bool = false) {
        maxOfOne = areShared ? max(1, count - count / 4) : count
        state = Mutex(State(free: count))
    }

    /// Adds a line of its own for a tool of which `count` calls may run at the same time.
    func addLine(_ count: Int) -> Line {
        state.withLock { state in
            state.lines.append(LineState(free: count))
            return Line(index: state.lines.count - 1)
        }
    }

    /// The number of calls that wait.
    var waiting: Int { state.withLock { $0.lines.reduce(0) { $0 + $1.waiters.count } } }

    /// Waits for a slot until `timeout` has passed or the task is cancelled.
    ///
    /// - Parameter waits: called if the slot is not there at once.
    /// - Returns: whether there is a slot; the caller must release it.
    func acquire(
        for caller: String = "", in line: Line = .common, timeout: Duration, waits: () -> Void = {}
    ) async -> Bool {
        let line = line.index
        let id = state.withLock { state -> Int? in
            // Those that wait could not use it.
            if mayRun(caller, line, state), !Task.isCancelled {
                take(caller, line, &state)
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return true }
        waits()
        return await withTaskCancellationHandler {
            let timer = Task {
                try await Task.pause(for: timeout)
                giveUp(id, line)
            }
            defer { timer.cancel() }
            return await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    // The task was cancelled before it got here: nothing would resume it.
                    if Task.isCancelled { return false }
                    if mayRun(caller, line, state) {
                        take(caller, line, &state)
                        return true
                    }
                    return wait(id, caller, line, continuation, &state) ? nil : false
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            giveUp(id, line)
        }
    }

    /// Passes a slot on to the next calls in line.
    func release(for caller: String = "", in line: Line = .common) {
        let line = line.index
        let next = state.withLock { state -> [Waiter] in
            Self.decrement(&state.held, caller)
            state.free += 1
            Self.decrement(&state.lines[line].held, caller)
            if let free = state.lines[line].free { state.lines[line].free = free + 1 }
            var next: [Waiter] = []
            // Two, if the one waited for the tool and the other for a slot of its caller.
            while let waiter = takeNext(&state) { next.append(waiter) }
            return next
        }
        for waiter in next { waiter.continuation.resume(returning: true) }
    }

    private func mayRun(_ caller: String, _ line: Int, _ state: State) -> Bool {
        state.free > 0 && state.lines[line].free != 0 && state.held[caller, default: 0] < maxOfOne
    }

    private func take(_ caller: String, _ line: Int, _ state: inout State) {
        state.free -= 1
        state.held[caller, default: 0] += 1
        if let free = state.lines[line].free { state.lines[line].free = free - 1 }
        state.lines[line].held[caller, default: 0] += 1
    }

    private static func decrement(_ counts: inout [String: Int], _ caller: String) {
        let left = counts[caller, default: 1] - 1
        counts[caller] = left > 0 ? left : nil
    }

    /// Appends a call to its line, or returns false if the line is full.
    private func wait(
        _ id: Int, _ caller: String, _ line: Int, _ continuation: CheckedContinuation<Bool, Never>,
        _ state: inout State
    ) -> Bool {
        let own = state.lines[line].waiters.filter { $0.caller == caller }
        guard state.lines[line].waiters.count < Self.maxWaiting, own.count < Self.maxWaitingOfOne else {
            return false
        }
        let turns = state.lines.lazy.flatMap(\.waiters).filter { $0.caller == caller }.map(\.turn)
        state.lines[line].waiters.append(
            Waiter(
                id: id, caller: caller, line: line,
                round: max(state.lines[line].round, own.last?.round ?? 0) + 1,
                turn: max(state.turn, turns.max() ?? 0) + 1, continuation: continuation))
        return true
    }

    /// Takes the call that goes next from its line, and a slot for it.
    private func takeNext(_ state: inout State) -> Waiter? {
        guard state.free > 0 else { return nil }
        let first = state.lines.indices.compactMap { line -> Waiter? in
            // Slots of all tools count in the line that has none of its own.
            let held = state.lines[line].free == nil ? state.held : state.lines[line].held
            return state.lines[line].waiters.filter { mayRun($0.caller, line, state) }.min { a, b in
                (held[a.caller, default: 0], a.round, a.id) < (held[b.caller, default: 0], b.round, b.id)
            }
        }
        let next = first.min { a, b in
            (state.held[a.caller, default: 0], a.turn, a.id)
                < (state.held[b.caller, default: 0], b.turn, b.id)
        }
        guard let next else { return nil }
        state.lines[next.line].waiters.removeAll { $0.id == next.id }
        take(next.caller, next.line, &state)
        state.lines[next.line].round = max(state.lines[next.line].round, next.round)
        state.turn = max(state.turn, next.turn)
        return next
    }

    private func giveUp(_ id: Int, _ line: Int) {
        let waiter = state.withLock { state -> Waiter? in
            state.lines[line].waiters.firstIndex { $0.id == id }.map {
                state.lines[line].waiters.remove(at: $0)
            }
        }
        waiter?.continuation.resume(returning: false)
    }
}
