import Synchronization

/// A line on a terminal that says what is under way, until something else is written there.
final class StatusLine: Sendable {
    private static let eraser = "\r\u{1B}[2K"
    private let sink: any Sink
    private let mark: Mark

    /// Whether the line is there. A terminal has one, whichever command writes on it.
    final class Mark: Sendable {
        fileprivate let isShown = Atomic<Bool>(false)
    }

    init(sink: any Sink) {
        self.sink = sink
        mark = (sink as? any StatusSink)?.status ?? Mark()
    }

    func show(_ text: String) {
        mark.isShown.store(true, ordering: .relaxed)
        sink.write(Self.eraser + text)
    }

    func erase() {
        if mark.isShown.exchange(false, ordering: .relaxed) { sink.write(Self.eraser) }
    }
}

/// A sink on which several consoles write, and which has one line for all of them.
protocol StatusSink: Sink {
    var status: StatusLine.Mark { get }
}
