import MCPCore

/// Flags for the questions and messages that a server sends while a command runs.
enum InteractionFlag: Sendable, CaseIterable {
    case answer, answers, noInput, yes, logLevel, exec, eventCount

    var row: FlagRow {
        switch self {
        case .answer:
            FlagRow("--answer", value: "FIELD=V", summary: "answer a question from the server (repeatable)")
        case .answers:
            FlagRow("--answers", value: "FILE", reads: .whole, summary: "answers as a JSON object")
        case .noInput: FlagRow("--no-input", summary: "never ask at the terminal; exit 7 instead")
        case .yes:
            FlagRow("--yes", "-y", summary: "call a destructive tool without a question at the terminal")
        case .logLevel:
            FlagRow(
                "--log-level", value: "LEVEL", kind: .choices(LoggingLevel.allCases.map(\.rawValue)),
                summary: "show log messages of this level and above")
        case .exec:
            FlagRow(
                "--exec", value: "'PROGRAM ARGS'",
                summary: "run this program at each event; {uri} and {event} are inserted")
        case .eventCount: FlagRow("--count", value: "N", summary: "end after this many events")
        }
    }
}

extension Options {
    mutating func apply(_ flag: InteractionFlag, _ value: FlagValue) throws(Failure) {
        switch flag {
        case .answer: answers.append(try Self.answer(value.text))
        case .answers: answersFile = try value.nonEmpty()
        case .noInput: noInput = true
        case .yes: yes = true
        case .logLevel: logLevel = try Self.level(value.text)
        case .exec: exec = try EventProgram(parsing: value.text)
        case .eventCount: eventCount = try value.number(in: 1 ... 1_000_000)
        }
    }

    private static func answer(_ value: String) throws(Failure) -> EnvironmentEntry {
        guard let sign = value.firstIndex(of: "="), sign > value.startIndex else {
            throw .usage("--answer \(quoted(value)) has no field name and =", hint: "--answer FIELD=value")
        }
        return EnvironmentEntry(
            name: String(value[..<sign]), value: String(value[value.index(after: sign)...]))
    }

    private static func level(_ value: String) throws(Failure) -> LoggingLevel {
        guard let level = LoggingLevel(rawValue: value) else {
            let names = LoggingLevel.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("unknown log level \(quoted(value))", hint: names)
        }
        return level
    }
}
