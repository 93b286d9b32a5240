import Synchronization

/// The number of connections on which one principal waits for a response, event streams among them, or sends
/// a body.
final class WaitingResponses: Sendable {
    /// The text for a caller that has as many as it may.
    static let excess =
        "This caller waits for as many responses as it may while the server has many clients; end some "
        + "of its calls or streams, or try again later"

    private let counter = Atomic<Int>(0)

    var count: Int { counter.load(ordering: .relaxed) }

    func enter() { counter.add(1, ordering: .relaxed) }

    func leave() { counter.subtract(1, ordering: .relaxed) }

    /// A place that is free again when this is released, for holders that are copied.
    final class Place: Sendable {
        private let waiting: WaitingResponses

        init(_ waiting: WaitingResponses) {
            self.waiting = waiting
            waiting.enter()
        }

        deinit { waiting.leave() }
    }
}
