import Synchronization

/// A terminal on which a person types, a command or the answer to a question: what is written in the
/// meantime, such as a log message of the server, does not mix with that line.
final class PromptSink: StatusSink {
    /// The line in which the person types.
    private enum Line {
        case none
        /// One of an editor, which comes below what is written: what draws it, with all that was typed.
        case edited(String)
        /// A question, which is asked again below what is written. What was typed behind it is known to the
        /// terminal alone, and stays where it is.
        case question(String, about: String)
    }

    private struct State {
        var line = Line.none
        /// Whether the cursor is behind output that has not ended its line.
        var isBehindOutput = false
    }

    private let sink: any Sink
    private let state = Mutex(State())
    /// Whether a line says what is under way.
    let status = StatusLine.Mark()

    private init(_ sink: any Sink) { self.sink = sink }

    /// Returns the sink of a terminal: there is one for all that is written there.
    static func on(_ sink: any Sink) -> PromptSink { sink as? PromptSink ?? PromptSink(sink) }

    /// Returns the sink of an output that comes to the same terminal, and does not mix with the line either.
    func sharing(_ output: any Sink) -> any Sink { SharedOutput(output: output, prompt: self) }

    var isTerminal: Bool { sink.isTerminal }
    var columns: Int? { sink.columns }
    var failure: String? { sink.failure }
    var isClosed: Bool { sink.isClosed }

    func save() throws(Failure) { try sink.save() }

    func write(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        state.withLock { state in
            if case .none = state.line {
                let isBehind = state.isBehindOutput && first != UInt8(ascii: "\n")
                sink.write((isBehind ? [UInt8(ascii: "\n")] : []) + bytes)
                state.isBehindOutput = false
            } else if case .question = state.line, first == UInt8(ascii: "\r") {
                // A line of progress would take the place of the question.
            } else {
                write(bytes, to: sink, above: state.line)
            }
        }
    }

    fileprivate func write(_ bytes: [UInt8], to output: any Sink) {
        guard let last = bytes.last else { return }
        state.withLock { state in
            if case .none = state.line {
                output.write(bytes)
                state.isBehindOutput = last != UInt8(ascii: "\n")
            } else {
                write(bytes, to: output, above: state.line)
            }
        }
    }

    private func write(_ bytes: [UInt8], to output: any Sink, above line: Line) {
        let (start, drawn) =
            switch line {
            case .none: ("", "")
            case .edited(let drawn): ("\r\u{1B}[K", drawn)
            case .question(let text, _): ("\n", text)
            }
        sink.write(start)
        output.write(bytes)
        sink.write((bytes.last == UInt8(ascii: "\n") ? "" : "\n") + drawn)
    }

    /// Whether a question waits for its answer.
    var isAsking: Bool {
        state.withLock { state in
            if case .question = state.line { true } else { false }
        }
    }

    /// Whether output would go on in the line of the output before it.
    var isBehindOutput: Bool { state.withLock { $0.isBehindOutput } }

    /// Writes a question, which stands there until `end`.
    fileprivate func begin(_ question: String, about: String) {
        set(.question(question, about: about), question)
    }

    /// Ends a question. Return has ended its line; without an answer nothing has.
    fileprivate func end(isAnswered: Bool) {
        state.withLock { state in
            guard case .question = state.line else { return }
            state.line = .none
            if !isAnswered { sink.write("\n") }
        }
    }

    /// Shows the line again, and all of a question, below what other programs have written.
    func redraw() {
        state.withLock { state in
            switch state.line {
            case .none: break
            case .edited(let drawn): sink.write(drawn)
            case .question(let text, let about): sink.write("\n" + about + text)
            }
        }
    }

    /// Draws the line that is being edited.
    func draw(_ text: String) { set(.edited(text), text) }

    private func set(_ line: Line, _ text: String) {
        state.withLock { state in
            state = State(line: line)
            sink.write(text)
        }
    }

    /// Takes the line off the terminal.
    func erase() {
        state.withLock { state in
            if case .edited(let drawn) = state.line, !drawn.isEmpty { sink.write("\r\u{1B}[K") }
            state = State()
        }
    }

    /// Leaves the line that is being edited: what follows stands below it.
    func endLine() {
        state.withLock { state in
            if case .edited = state.line { sink.write("\r\n") }
            state = State()
        }
    }

    /// Leaves the line as it is, and writes behind it.
    func leave(_ text: String = "") {
        state.withLock { state in
            state = State()
            if !text.isEmpty { sink.write(text) }
        }
    }
}

/// The output of a command that comes to the terminal at which a person types.
private struct SharedOutput: Sink {
    let output: any Sink
    let prompt: PromptSink

    var isTerminal: Bool { output.isTerminal }
    var columns: Int? { output.columns }
    var failure: String? { output.failure }
    var isClosed: Bool { output.isClosed }

    func save() throws(Failure) { try output.save() }
    func write(_ bytes: [UInt8]) { prompt.write(bytes, to: output) }
}

extension Sink {
    /// Asks a question in one line; returns what was typed, nil at the end of the input.
    ///
    /// - Parameter about: the lines above it without which it cannot be answered.
    func ask<Line: Sendable>(
        _ question: String, about: String = "", _ readLine: @Sendable () async -> Line?
    ) async -> Line? {
        guard let prompt = self as? PromptSink else {
            write(question)
            return await readLine()
        }
        prompt.begin(question, about: about)
        // At once: what comes next does not ask it again.
        let line = await withTaskCancellationHandler(
            operation: { await readLine() }, onCancel: { prompt.end(isAnswered: false) })
        prompt.end(isAnswered: line != nil)
        return line
    }
}
