import Synchronization

/// Counters of events, for status pages and tests; each count is one relaxed addition.
final class ServerCounters: Sendable {
    enum Event: Int, CaseIterable {
        case requests, notifications, refused, parseErrors, strayResponses, cancelled, lateResults, deadlines,
            tasks
    }

    private let requests = Atomic<Int>(0)
    private let notifications = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let parseErrors = Atomic<Int>(0)
    private let strayResponses = Atomic<Int>(0)
    private let cancelled = Atomic<Int>(0)
    private let lateResults = Atomic<Int>(0)
    private let deadlines = Atomic<Int>(0)
    private let tasks = Atomic<Int>(0)

    @inline(__always)
    func count(_ event: Event) {
        switch event {
        case .requests: requests.add(1, ordering: .relaxed)
        case .notifications: notifications.add(1, ordering: .relaxed)
        case .refused: refused.add(1, ordering: .relaxed)
        case .parseErrors: parseErrors.add(1, ordering: .relaxed)
        case .strayResponses: strayResponses.add(1, ordering: .relaxed)
        case .cancelled: cancelled.add(1, ordering: .relaxed)
        case .lateResults: lateResults.add(1, ordering: .relaxed)
        case .deadlines: deadlines.add(1, ordering: .relaxed)
        case .tasks: tasks.add(1, ordering: .relaxed)
        }
    }

    func value(of event: Event) -> Int {
        switch event {
        case .requests: requests.load(ordering: .relaxed)
        case .notifications: notifications.load(ordering: .relaxed)
        case .refused: refused.load(ordering: .relaxed)
        case .parseErrors: parseErrors.load(ordering: .relaxed)
        case .strayResponses: strayResponses.load(ordering: .relaxed)
        case .cancelled: cancelled.load(ordering: .relaxed)
        case .lateResults: lateResults.load(ordering: .relaxed)
        case .deadlines: deadlines.load(ordering: .relaxed)
        case .tasks: tasks.load(ordering: .relaxed)
        }
    }
}
