import MCPCore

/// Where a command writes: its result to stdout, everything else to stderr.
struct Console: Sendable {
    let stdout: any Sink
    let stderr: any Sink
    let isQuiet: Bool
    let isJSON: Bool
    /// Colours of stdout.
    let style: Style
    /// Colours of stderr.
    let noteStyle: Style

    init(stdout: any Sink, stderr: any Sink, options: Options, variable: (String) -> String?) {
        self.stdout = stdout
        self.stderr = stderr
        isQuiet = options.quiet
        isJSON = options.json
        style = Style.choose(options.color, isTerminal: stdout.isTerminal, variable: variable)
        noteStyle = Style.choose(options.color, isTerminal: stderr.isTerminal, variable: variable)
    }

    /// A line of ours; texts of the server inside are already escaped.
    func line(_ text: String) { stdout.write(text + "\n") }

    /// JSON exactly as on the wire, in one line.
    func json(_ value: RawJSON) { stdout.write(Array(value.bytes) + [UInt8(ascii: "\n")]) }

    /// A server's text: as it is into a pipe, harmless on a terminal. Ends with a line end.
    func text(_ text: String) {
        let shown = stdout.isTerminal ? TerminalText.block(text) : text
        // By bytes: to Swift, CR LF is one character and does not end with LF.
        stdout.write(shown.utf8.last == UInt8(ascii: "\n") ? shown : shown + "\n")
    }

    /// Something worth knowing that is not the result.
    func note(_ text: String) {
        if !isQuiet { stderr.write(text + "\n") }
    }

    func failure(_ failure: Failure) {
        stderr.write(FailureText.lines(failure, style: noteStyle))
        if isJSON { stderr.write(FailureText.json(failure)) }
    }
}
