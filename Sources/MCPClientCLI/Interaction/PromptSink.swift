import Synchronization

/// The terminal of a shell, on which a line is being typed: what is written in the meantime, such as a log
/// message of the server, comes above that line.
final class PromptSink: Sink {
    private let sink: any Sink
    /// What draws the line that is being typed; empty when there is none.
    private let drawn = Mutex("")

    init(_ sink: any Sink) { self.sink = sink }

    var isTerminal: Bool { sink.isTerminal }
    var columns: Int? { sink.columns }
    var failure: String? { sink.failure }
    var isClosed: Bool { sink.isClosed }

    func save() throws(Failure) { try sink.save() }

    func write(_ bytes: [UInt8]) {
        drawn.withLock { line in
            sink.write(line.isEmpty ? bytes : Array("\r\u{1B}[K".utf8) + bytes + line.utf8)
        }
    }

    /// Draws the line that is being typed.
    func draw(_ line: String) {
        drawn.withLock { drawn in
            drawn = line
            sink.write(line)
        }
    }

    /// Takes the line off the terminal.
    func erase() {
        drawn.withLock { drawn in
            if !drawn.isEmpty { sink.write("\r\u{1B}[K") }
            drawn = ""
        }
    }

    /// Leaves the line as it is, and writes behind it.
    func leave(_ text: String = "") {
        drawn.withLock { drawn in
            drawn = ""
            if !text.isEmpty { sink.write(text) }
        }
    }
}
