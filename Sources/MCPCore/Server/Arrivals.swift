/// The entries of other servers that are still expected: lists wait for them, for a limited time, so that a
/// client that lists only once sees them.
final class Arrivals: Sendable {
    private let event = OneTimeEvent()
    /// The time that a list waits, whatever reloads expect meanwhile.
    static let longestList = Duration.seconds(10)
    /// The time limit of a call that waits, or that another server answers.
    static let longestCall = Duration.seconds(3_600)

    /// - Parameter isOver: whether nothing is expected.
    init(isOver: Bool) { if isOver { event.happen() } }

    /// Whether everything has arrived, or was waited for long enough.
    var isOver: Bool { event.isFinished }

    func end() { event.happen() }

    func wait() async { await event.wait() }
}
