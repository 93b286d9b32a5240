import Synchronization

/// The notes about entries of lists that cannot be read: the first ones, so that a faulty server does not
/// flood the terminal.
final class OmissionNotes: Sendable {
    private static let maxNotes = 5
    private let count = Atomic<Int>(0)
    /// By method, the first texts, each once.
    private let omitted = Mutex<[String: [String]]>([:])
    /// By method, the places of the entries that its last response lacks.
    private let places = Mutex<[String: [Int]]>([:])

    /// What was left out of the responses to a method: a list that lacks an entry cannot be compared with
    /// another one. It stays known for as long as the session, because the list may be kept, too.
    func texts(of method: String) -> [String] { omitted.withLock { $0[method] ?? [] } }

    /// Notes the places of the entries, from 0, that the last response to a method lacks.
    func note(_ places: [Int], responseTo method: String) {
        self.places.withLock { $0[method] = places.isEmpty ? nil : places }
    }

    /// Returns the places of entries in the last response to a method as the server sent it, and how many it
    /// sent.
    ///
    /// - Parameter count: the number of entries that were not left out.
    func places(of count: Int, responseTo method: String) -> (kept: [Int], total: Int) {
        let missing = Set(places.withLock { $0[method] ?? [] })
        let total = count + missing.count
        return (Array((0 ..< total).filter { !missing.contains($0) }.prefix(count)), total)
    }

    /// Notes what the client has left out of the response to a request.
    func note(_ text: String, responseTo method: String, _ console: Console) {
        let text = inlineText(text)
        omitted.withLock { omitted in
            let texts = omitted[method] ?? []
            let new = "\(inlineText(method)): \(text)"
            if texts.count < Self.maxNotes, !texts.contains(new) { omitted[method] = texts + [new] }
        }
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
