/// The text after a flag; empty for a flag without a value.
struct FlagValue {
    let flag: Flag
    let text: String

    func nonEmpty() throws(Failure) -> String {
        if text.isEmpty { throw .usage("\(flag.name) needs a value") }
        return text
    }

    func number(in range: ClosedRange<Int>) throws(Failure) -> Int {
        guard let number = Int(text), range.contains(number) else {
            let isFile = flag == .bench(.concurrency) && (text.contains(".") || text.contains("/"))
            let line = "MCP_CONFIG=\(inlineText(ShellWord.quote(text))) mcp-client COMMAND NAME"
            throw .usage(
                "\(flag.name) must be a number from \(range.lowerBound) to \(range.upperBound), "
                    + "not \(quoted(text))",
                hint: isFile ? "for a file with servers: \(line)" : nil)
        }
        return number
    }

    func time() throws(Failure) -> Duration {
        guard let duration = TimeSpan.parse(text) else {
            throw .usage(
                "\(flag.name) \(quoted(text)) is not a time", hint: "for example 500ms, 10s, 2m or 1h")
        }
        return duration
    }

    /// The words between commas.
    var list: [String] {
        text.split(separator: ",").map { $0.trimmingSpaces() }.filter { !$0.isEmpty }
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>() throws(Failure) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("\(flag.name) \(quoted(text)) is not one of \(names)")
        }
        return choice
    }
}
