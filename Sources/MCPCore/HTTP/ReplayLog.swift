/// The last events of an event stream, for a reader that reconnects to fetch what it missed (HTML
/// "Server-sent events", `Last-Event-ID`).
///
/// An event's id is `NAME-NUMBER`, so that ids of another stream are recognized. Beyond either limit, the
/// oldest events are dropped first; the newest is kept whatever its size, unless memory is used up.
package struct ReplayLog: Sendable {
    /// A kept event.
    package struct Event: Sendable {
        /// The number of the event, counted from 1.
        package let number: Int
        /// The contents.
        package let data: ByteSlice
    }

    /// The name of the stream in ids.
    package let name: String
    /// The number of the newest event, kept or not; 0 before the first.
    package private(set) var last = 0
    /// The total size of the kept events, in bytes.
    package private(set) var bytes = 0
    private var kept: [Event] = []
    private let maxEvents: Int
    private let maxBytes: Int

    /// Creates an empty log.
    package init(name: String, maxEvents: Int, maxBytes: Int) {
        self.name = name
        self.maxEvents = maxEvents
        self.maxBytes = maxBytes
    }

    /// Keeps an event and returns its number.
    ///
    /// - Parameters:
    ///   - isFull: whether memory is used up; called again after each dropped event.
    ///   - drop: called with the size in bytes of each event that is dropped.
    @discardableResult
    package mutating func append(
        _ data: ByteSlice, isFull: () -> Bool = { false }, drop: (Int) -> Void = { _ in }
    ) -> Int {
        last += 1
        kept.append(Event(number: last, data: data))
        bytes += data.count
        var dropped = 0
        while dropped < kept.count {
            let left = kept.count - dropped
            let isOver = left > 1 && (left > maxEvents || bytes > maxBytes)
            guard isOver || isFull() else { break }
            let count = kept[dropped].data.count
            bytes -= count
            drop(count)
            dropped += 1
        }
        kept.removeFirst(dropped)
        return last
    }

    /// Returns the id of an event; number 0 gives the id of the beginning.
    package func id(of number: Int) -> String { "\(name)-\(number)" }

    /// Returns the parts of an id, or nil if the text is not an id.
    package static func parts(of id: String) -> (name: Substring, number: Int)? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy(ASCII.isDigit),
            // Small: nil if the number does not fit.
            let number = Int(parts[1])
        else { return nil }
        return (parts[0], number)
    }

    /// Returns the number in an id of this log, or nil for an id of another log.
    package func number(of id: String) -> Int? {
        Self.parts(of: id).flatMap { $0.name == name ? $0.number : nil }
    }

    /// Whether an event can be kept without dropping another.
    package func hasRoom(for size: Int) -> Bool { kept.count < maxEvents && bytes + size <= maxBytes }

    /// Whether everything after an event is kept.
    package func isComplete(after number: Int) -> Bool { number >= last - kept.count && number <= last }

    /// Returns the kept events after an event.
    package func events(after number: Int) -> [Event] { kept.filter { $0.number > number } }
}
