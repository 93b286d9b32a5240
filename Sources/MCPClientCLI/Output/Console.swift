import MCPCore

/// The output of a command: its result goes to stdout, everything else to stderr.
struct Console: Sendable {
    let stdout: any Sink
    let stderr: any Sink
    let isQuiet: Bool
    let isJSON: Bool
    /// The colours of stdout.
    let style: Style
    /// The colours of stderr.
    let noteStyle: Style

    init(stdout: any Sink, stderr: any Sink, options: Options, variable: (String) -> String?) {
        self.stdout = stdout
        self.stderr = stderr
        isQuiet = options.quiet
        isJSON = options.json
        style = Style.choose(options.color, isTerminal: stdout.isTerminal, variable: variable)
        noteStyle = Style.choose(options.color, isTerminal: stderr.isTerminal, variable: variable)
    }

    /// Writes a line of ours; texts from the server in it are already escaped.
    func line(_ text: String) { stdout.write(text + "\n") }

    /// Writes JSON exactly as on the wire, in one line.
    func json(_ value: RawJSON) { stdout.write(Array(value.bytes) + [UInt8(ascii: "\n")]) }

    /// Writes a server's text: unchanged to a pipe, made harmless on a terminal. The output ends with a line
    /// end.
    func text(_ text: String) {
        let shown = stdout.isTerminal ? TerminalText.block(text) : text
        // Compared by bytes: for Swift, CR LF is one character, and the text does not end with LF.
        stdout.write(shown.utf8.last == UInt8(ascii: "\n") ? shown : shown + "\n")
    }

    /// Writes something worth knowing that is not the result.
    func note(_ text: String) {
        if !isQuiet { stderr.write(text + "\n") }
    }

    func failure(_ failure: Failure) {
        stderr.write(FailureText.lines(failure, style: noteStyle))
        if isJSON { stderr.write(FailureText.json(failure)) }
    }
}
