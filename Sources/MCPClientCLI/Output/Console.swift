import MCPCore

/// The output of a command: its result goes to stdout, everything else to stderr.
struct Console: Sendable {
    let stdout: any Sink
    let stderr: any Sink
    let isQuiet: Bool
    let isJSON: Bool
    /// Whether every event is a line of JSON.
    let printsEvents: Bool
    /// The line on stderr that is erased before anything else is written there; nil where it is not seen.
    let status: StatusLine?
    /// The columns of the terminal that stdout is; nil for a pipe or a file, whose lines are never broken.
    let width: Int?
    /// The columns of the terminal that stderr is.
    let noteWidth: Int?
    /// The colours of stdout.
    let style: Style
    /// The colours of stderr.
    let noteStyle: Style

    init(stdout: any Sink, stderr: any Sink, options: Options, variable: (String) -> String?) {
        self.stdout = stdout
        self.stderr = stderr
        isQuiet = options.quiet
        isJSON = options.json
        printsEvents = options.checks.printsEvents
        let showsStatus =
            stderr.isTerminal && !options.quiet && options.verbosity == 0 && variable("TERM") != "dumb"
        status = showsStatus ? StatusLine(sink: stderr) : nil
        width = Self.width(of: stdout, variable)
        noteWidth = Self.width(of: stderr, variable)
        style = Style.choose(options.color, isTerminal: stdout.isTerminal, variable: variable)
        noteStyle = Style.choose(options.color, isTerminal: stderr.isTerminal, variable: variable)
    }

    /// Writes a line of ours; texts from the server in it are already escaped.
    func line(_ text: String) { stdout.write(text + "\n") }

    /// The width that is assumed when a terminal does not tell it.
    private static let usualWidth = 80

    private static func width(of sink: any Sink, _ variable: (String) -> String?) -> Int? {
        guard sink.isTerminal else { return nil }
        let told = sink.columns ?? variable("COLUMNS").flatMap { Int($0) } ?? usualWidth
        return min(max(told, 20), 1_000)
    }

    /// Writes a line of ours, broken at blanks where the terminal ends.
    func wrapped(_ text: String, hanging: Int = 0, bold count: Int = 0) {
        guard let width else { return line(bold(text, count)) }
        for (index, part) in TextWrap.lines(text, width: width, hanging: hanging).enumerated() {
            line(index == 0 ? bold(part, count) : part)
        }
    }

    private func bold(_ text: String, _ count: Int) -> String {
        style.bold(String(text.prefix(count))) + text.dropFirst(count)
    }

    /// Writes JSON exactly as on the wire, in one line. On a terminal, unsafe characters are escaped.
    func json(_ value: RawJSON) {
        if printsEvents { return event("result", value) }
        json(Array(value.bytes))
    }

    /// Prints JSON in a line; a terminal shows unsafe characters as JSON escapes.
    func json(_ bytes: [UInt8]) {
        let isShown = stdout.isTerminal
        let shown = isShown ? Array(TerminalText.json(String(decoding: bytes, as: UTF8.self)).utf8) : bytes
        stdout.write(shown + [UInt8(ascii: "\n")])
    }

    /// Writes an event of `--jsonl`: its kind, and what it is about.
    func event(_ kind: StaticString, _ value: RawJSON) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("event")
        writer.string(kind)
        writer.key(kind)
        writer.raw(value)
        writer.endObject()
        json(writer.finish().array)
    }

    /// Writes a server's text: unchanged to a pipe, made harmless on a terminal. The output ends with a line
    /// end.
    func text(_ text: String) {
        let shown = stdout.isTerminal ? TerminalText.block(text) : text
        // Compared by bytes: for Swift, CR LF is one character, and the text does not end with LF.
        stdout.write(shown.utf8.last == UInt8(ascii: "\n") ? shown : shown + "\n")
    }

    /// Writes something worth knowing that is not the result.
    func note(_ text: String) {
        if isQuiet { return }
        status?.erase()
        stderr.write(text + "\n")
    }

    func failure(_ failure: Failure) {
        status?.erase()
        stderr.write(FailureText.lines(failure, style: noteStyle))
        if isJSON { stderr.write(FailureText.json(failure)) }
        if printsEvents { event("error", RawJSON(FailureText.value(failure))) }
    }
}
