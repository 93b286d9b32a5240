import Synchronization

/// The notes about entries of lists that cannot be read: the first ones, so that a faulty server does not
/// flood the terminal.
final class OmissionNotes: Sendable {
    private static let maxNotes = 5
    private let count = Atomic<Int>(0)
    /// What the client has left out of responses, each with the method.
    private let omitted = Mutex<[String]>([])
    private static let maxOmitted = 1_000

    /// What was left out of responses. A list that lacks an entry cannot be compared with another one.
    var ofResponses: [String] { omitted.withLock { $0 } }

    /// Notes what the client has left out of the response to a request.
    func note(_ text: String, responseTo method: String, _ console: Console) {
        let text = inlineText(text)
        omitted.withLock { if $0.count < Self.maxOmitted { $0.append("\(inlineText(method)): \(text)") } }
        note(text + "; it is left out", console)
    }

    func note(_ text: String, _ console: Console) {
        switch count.add(1, ordering: .relaxed).newValue {
        case ...Self.maxNotes: console.note("warning: \(text)")
        case Self.maxNotes + 1: console.note("warning: more entries are left out")
        default: break
        }
    }
}
