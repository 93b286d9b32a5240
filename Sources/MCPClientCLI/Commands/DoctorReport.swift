import MCPCore

/// The report of `doctor`: a row for each step as it ends, and a count at the end.
struct DoctorReport {
    enum Outcome: String, Sendable { case ok, warn, fail }

    private let console: Console
    private var steps: [JSONValue] = []
    private(set) var failures = 0
    private(set) var warnings = 0

    init(_ console: Console) { self.console = console }

    /// Adds a step.
    ///
    /// - Parameters:
    ///   - text: what was found; it has no control characters.
    ///   - details: further lines.
    mutating func add(
        _ outcome: Outcome, _ name: String, _ text: String, details: [String] = [], took time: Duration? = nil
    ) {
        if outcome == .fail { failures += 1 }
        if outcome == .warn { warnings += 1 }
        var object: JSONObject = [
            "step": .string(name), "outcome": .string(outcome.rawValue), "text": .string(text),
        ]
        if let time { object["ms"] = JSONValue((TimeSpan.milliseconds(time) * 1000).rounded() / 1000) }
        if !details.isEmpty { object["details"] = .array(details.map { .string($0) }) }
        steps.append(.object(object))
        if console.isJSON { return }
        let label = outcome.rawValue + String(repeating: " ", count: 6 - outcome.rawValue.count)
        let shown =
            switch outcome {
            case .ok: console.style.green(label)
            case .warn: console.style.bold(label)
            case .fail: console.style.red(label)
            }
        // A number stays with its unit.
        let duration = time.map { " · " + TimeSpan.text($0).replacing(" ", with: "\u{A0}") } ?? ""
        let line =
            "\(label)\(name)\(String(repeating: " ", count: max(1, 10 - name.count)))\(text)\(duration)"
        let parts = console.width.map { TextWrap.lines(line, width: $0, hanging: 16) } ?? [line]
        let lines = parts.map { $0.replacing("\u{A0}", with: " ") }
        console.line(shown + (lines.first ?? "").dropFirst(label.count))
        for line in lines.dropFirst() { console.line(line) }
        for detail in details { console.wrapped(String(repeating: " ", count: 16) + detail) }
    }

    /// Adds a step that failed, or one whose failure only keeps something from being used.
    mutating func add(
        _ failure: Failure, to name: String, as outcome: Outcome = .fail, took time: Duration? = nil
    ) {
        add(
            outcome, name, failure.message,
            details: failure.details + (failure.hint.map { ["hint: \($0)"] } ?? []), took: time)
    }

    /// Ends the report, and returns the exit code.
    func end(_ target: String, isStrict: Bool) -> ExitCode {
        let isGood = failures == 0 && !(isStrict && warnings > 0)
        if console.isJSON {
            console.json(
                RawJSON(["target": .string(target), "steps": .array(steps), "ok": .bool(isGood)]))
        } else {
            let words = [(failures, "failure"), (warnings, "warning")].map { count, noun in
                "\(count) \(noun)\(count == 1 ? "" : "s")"
            }
            console.note(words.joined(separator: ", "))
        }
        return isGood ? .ok : .checkFailed
    }
}
