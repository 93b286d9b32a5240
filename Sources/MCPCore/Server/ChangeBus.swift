import Dispatch
import Synchronization

/// A change on the server.
enum Change: Hashable, Sendable {
    case toolsList, promptsList, resourcesList
    case resource(String)
    /// More resources changed than can be recorded individually: any resource may have changed.
    case anyResource
    /// A task made progress; `json` is the task as `tasks/get` shows it.
    case task(id: String, json: RawJSON)

    /// Returns the same changes, with `anyResource` replaced by every watched resource.
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

/// A recipient of changes. Called without any lock, on a queue of the bus, one call at a time.
protocol ChangeSubscriber: AnyObject, Sendable {
    func take(_ changes: [Change])
}

/// A bus that delivers changes to subscribers: one bus for every transport and every revision (DUAL-24).
///
/// Changes are collected for a short time, so that a burst is reported once: one change per list, per
/// resource and per task.
final class ChangeBus: Sendable {
    /// The time for which changes are collected.
    static let moment = Duration.milliseconds(20)
    /// The maximum number of different resources that are collected at a time. Beyond it, subscribers are
    /// notified that the list of resources and every resource they watch changed, which makes them check for
    /// themselves. There are three lists, and as many tasks as exist.
    static let maxPending = 1_024

    private struct State {
        var subscribers: [UInt64: any ChangeSubscriber] = [:]
        var nextNumber: UInt64 = 0
        var pending: [Change] = []
        var known: Set<Change> = []
        /// The index of each task's change in `pending`: only the newest change is reported.
        var tasks: [String: Int] = [:]
        var isScheduled = false
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)
    private let queue = DispatchQueue(label: "mcp.changes")
    private let clock: any TimeSource

    init(clock: any TimeSource = SystemClock()) { self.clock = clock }

    /// Whether any subscriber would receive a change.
    var hasSubscribers: Bool { count.load(ordering: .relaxed) > 0 }

    func add(_ subscriber: any ChangeSubscriber) -> UInt64 {
        count.add(1, ordering: .relaxed)
        return state.withLock { state in
            state.nextNumber += 1
            state.subscribers[state.nextNumber] = subscriber
            return state.nextNumber
        }
    }

    /// Adds a subscriber after `greeting` has run: no change is reported before the greeting, and every later
    /// change is reported after it (SUB-04). Must not be called from a subscriber.
    func add(
        _ subscriber: any ChangeSubscriber, after greeting: @escaping @Sendable () -> Void
    ) async -> UInt64 {
        await withCheckedContinuation { continuation in
            // On the queue that delivers changes, so that no delivery is in progress.
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

    /// Notifies all subscribers, soon. Costs nothing while there are no subscribers.
    func publish(_ change: Change) {
        guard hasSubscribers else { return }
        let isFirst = state.withLock { state -> Bool in
            Self.note(change, &state)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        // Once the last owner of the bus is gone, no subscriber is left to notify.
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

    /// Reports the collected changes immediately, and returns when they were delivered. Must not be called
    /// from a subscriber.
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
