import Dispatch
import Synchronization

/// Something that changed on the server.
enum Change: Hashable, Sendable {
    case toolsList, promptsList, resourcesList
    case resource(String)
    /// More resources changed than can be told apart: any may have.
    case anyResource
    /// A task came further; `json` is the task as `tasks/get` shows it.
    case task(id: String, json: RawJSON)

    /// The same changes, with `anyResource` told as every resource that somebody watches.
    static func named(_ changes: [Change], watching uris: @autoclosure () -> Set<String>) -> [Change] {
        guard changes.contains(.anyResource) else { return changes }
        let others = changes.filter { change in
            switch change {
            case .anyResource, .resource: false
            default: true
            }
        }
        return others + uris().sorted().map(Change.resource)
    }
}

/// Somebody who wants to know. Called without any lock, on a queue of the bus, one call at a time.
protocol ChangeSubscriber: AnyObject, Sendable {
    func take(_ changes: [Change])
}

/// Brings changes to those who subscribed: one bus for every transport and every revision (DUAL-24).
///
/// Changes are collected for a moment, so that a burst is told once: one change per list, per resource and
/// per task.
final class ChangeBus: Sendable {
    /// How long changes are collected.
    static let moment = Duration.milliseconds(20)
    /// Different resources that one moment can hold; beyond them subscribers are told that the list of
    /// resources and each that they watch changed, which makes them look for themselves. Lists are three,
    /// and tasks as many as there are.
    static let maxPending = 1_024

    private struct State {
        var subscribers: [UInt64: any ChangeSubscriber] = [:]
        var nextNumber: UInt64 = 0
        var pending: [Change] = []
        var known: Set<Change> = []
        /// Where the news of a task stands in `pending`: only the newest is told.
        var tasks: [String: Int] = [:]
        var isScheduled = false
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)
    private let queue = DispatchQueue(label: "mcp.changes")
    private let clock: any TimeSource

    init(clock: any TimeSource = SystemClock()) { self.clock = clock }

    /// Whether anybody would hear a change.
    var hasSubscribers: Bool { count.load(ordering: .relaxed) > 0 }

    func add(_ subscriber: any ChangeSubscriber) -> UInt64 {
        count.add(1, ordering: .relaxed)
        return state.withLock { state in
            state.nextNumber += 1
            state.subscribers[state.nextNumber] = subscriber
            return state.nextNumber
        }
    }

    /// Adds a subscriber that `greeting` speaks to first: no change is told before it, and every one after it
    /// (SUB-04). Never from a subscriber.
    func add(
        _ subscriber: any ChangeSubscriber, after greeting: @escaping @Sendable () -> Void
    ) async -> UInt64 {
        await withCheckedContinuation { continuation in
            // Where changes are told: none is under way.
            queue.async {
                let number = self.add(subscriber)
                greeting()
                continuation.resume(returning: number)
            }
        }
    }

    func remove(_ number: UInt64) {
        let removed = state.withLock { $0.subscribers.removeValue(forKey: number) }
        if removed != nil { count.subtract(1, ordering: .relaxed) }
    }

    /// Tells everybody, soon. Costs nothing while nobody listens.
    func publish(_ change: Change) {
        guard hasSubscribers else { return }
        let isFirst = state.withLock { state -> Bool in
            Self.note(change, &state)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        // With the last owner of the bus everybody is gone who would hear it.
        clock.schedule(at: clock.now + Self.moment, on: queue) { [weak self] in self?.deliver() }
    }

    private static func note(_ change: Change, _ state: inout State) {
        switch change {
        case .task(let id, _):
            if let place = state.tasks[id] {
                state.pending[place] = change
            } else {
                state.tasks[id] = state.pending.count
                state.pending.append(change)
            }
        case .resource where state.known.count >= maxPending:
            if state.known.contains(change) { return }
            note(.anyResource, &state)
            note(.resourcesList, &state)
        default:
            if state.known.insert(change).inserted { state.pending.append(change) }
        }
    }

    /// Tells what was collected at once, and returns when it was told. Never from a subscriber.
    func deliverNow() { queue.sync { deliver() } }

    private func deliver() {
        let (changes, subscribers) = state.withLock { state in
            defer {
                state.pending = []
                state.known = []
                state.tasks = [:]
                state.isScheduled = false
            }
            return (state.pending, Array(state.subscribers.values))
        }
        for subscriber in subscribers { subscriber.take(changes) }
    }
}
