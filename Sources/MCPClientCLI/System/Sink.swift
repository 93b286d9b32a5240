/// A place for bytes: a descriptor, or memory in tests.
protocol Sink: Sendable {
    /// Whether a person reads it directly.
    var isTerminal: Bool { get }
    /// Writes all bytes. Failures are told once, at the end, by `failure`.
    func write(_ bytes: [UInt8])
    /// Why not everything was written; nil when all is well, or when the reader simply went away.
    var failure: String? { get }
    /// The reader went away: what is written goes nowhere.
    var isClosed: Bool { get }
}

extension Sink {
    var isClosed: Bool { false }

    func write(_ text: String) { write(Array(text.utf8)) }
}
