import Synchronization

/// A terminal on which a person types, a command or the answer to a question: what is written in the
/// meantime, such as a log message of the server, does not mix with that line.
final class PromptSink: Sink {
    /// The line in which the person types.
    private enum Line {
        case none
        /// One of an editor, which comes below what is written: what draws it, with all that was typed.
        case edited(String)
        /// A question, which is asked again below what is written. What was typed behind it is known to the
        /// terminal alone, and stays where it is.
        case question(String)
    }

    private let sink: any Sink
    private let line = Mutex(Line.none)

    private init(_ sink: any Sink) { self.sink = sink }

    /// Returns the sink of a terminal: there is one for all that is written there.
    static func on(_ sink: any Sink) -> PromptSink { sink as? PromptSink ?? PromptSink(sink) }

    var isTerminal: Bool { sink.isTerminal }
    var columns: Int? { sink.columns }
    var failure: String? { sink.failure }
    var isClosed: Bool { sink.isClosed }

    func save() throws(Failure) { try sink.save() }

    func write(_ bytes: [UInt8]) {
        line.withLock { line in
            switch line {
            case .none: sink.write(bytes)
            case .edited(let drawn): sink.write(Array("\r\u{1B}[K".utf8) + bytes + drawn.utf8)
            case .question(let text):
                // The question is left.
                if bytes.elementsEqual("\n".utf8) {
                    line = .none
                    return sink.write(bytes)
                }
                // A line of progress would take the place of the question.
                if bytes.first == UInt8(ascii: "\r") { return }
                let end = bytes.last == UInt8(ascii: "\n") ? "" : "\n"
                sink.write(Array("\n".utf8) + bytes + (end + text).utf8)
            }
        }
    }

    /// Whether a question waits for its answer.
    var isAsking: Bool {
        line.withLock { line in
            if case .question = line { true } else { false }
        }
    }

    /// Writes a question, which stands there until `leave`.
    fileprivate func begin(_ question: String) {
        line.withLock { line in
            line = .question(question)
            sink.write(question)
        }
    }

    /// Draws the line that is being edited.
    func draw(_ text: String) {
        line.withLock { line in
            line = .edited(text)
            sink.write(text)
        }
    }

    /// Takes the line off the terminal.
    func erase() {
        line.withLock { line in
            if case .edited(let drawn) = line, !drawn.isEmpty { sink.write("\r\u{1B}[K") }
            line = .none
        }
    }

    /// Leaves the line as it is, and writes behind it.
    func leave(_ text: String = "") {
        line.withLock { line in
            line = .none
            if !text.isEmpty { sink.write(text) }
        }
    }
}

extension Sink {
    /// Asks a question in one line; returns what was typed, nil at the end of the input.
    func ask(_ question: String, _ readLine: Person.LineReader) async -> String? {
        guard let prompt = self as? PromptSink else {
            write(question)
            return await readLine()
        }
        prompt.begin(question)
        defer { prompt.leave() }
        return await readLine()
    }
}
