import Synchronization

/// A line on a terminal that says what is under way, until something else is written there.
final class StatusLine: Sendable {
    private static let eraser = "\r\u{1B}[2K"
    private let sink: any Sink
    private let isShown = Atomic<Bool>(false)

    init(sink: any Sink) { self.sink = sink }

    func show(_ text: String) {
        isShown.store(true, ordering: .relaxed)
        sink.write(Self.eraser + text)
    }

    func erase() {
        if isShown.exchange(false, ordering: .relaxed) { sink.write(Self.eraser) }
    }
}
