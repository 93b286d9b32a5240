import Synchronization

/// The notes about entries of lists that cannot be read: the first ones, so that a faulty server does not
/// flood the terminal.
final class OmissionNotes: Sendable {
    private static let maxNotes = 5
    private let count = Atomic<Int>(0)

    func note(_ text: String, _ console: Console) {
        switch count.add(1, ordering: .relaxed).newValue {
        case ...Self.maxNotes: console.note("warning: \(text)")
        case Self.maxNotes + 1: console.note("warning: more entries are left out")
        default: break
        }
    }
}
