import MCPCore

/// Flags of commands that record, check and guard, and of what guards a call.
enum CheckFlag: Sendable, CaseIterable {
    case locked, lockFile, dryRun, jsonLines, trace, retry, strict, junit, listen, only, all, ignore

    var row: FlagRow {
        switch self {
        case .locked:
            FlagRow("--locked", summary: "refuse what differs from the lock file; nothing is called")
        case .lockFile:
            FlagRow(
                "--lock-file", value: "FILE", reads: .whole,
                summary: "the lock file (\(CheckOptions.defaultLockFile))")
        case .dryRun: FlagRow("--dry-run", summary: "print the request, and do not send it")
        case .jsonLines:
            FlagRow("--jsonl", summary: "every event as a line of JSON: log, progress, result, error")
        case .trace:
            FlagRow(
                "--traceparent", value: "auto|VALUE",
                summary: "the trace of the requests (W3C); auto begins one")
        case .retry:
            FlagRow("--retry", value: "N", summary: "try again up to N times, if that can do no harm")
        case .strict: FlagRow("--strict", summary: "warnings fail, too")
        case .junit: FlagRow("--junit", value: "FILE", summary: "also write the results as JUnit XML")
        case .listen:
            FlagRow("--listen", value: "ADDRESS", summary: "serve HTTP at PORT or HOST:PORT of this machine")
        case .only:
            FlagRow("--only", value: "GLOB", summary: "pass on calls of these tools only (repeatable)")
        case .all: FlagRow("--all-calls", summary: "also repeat calls that may change something")
        case .ignore:
            FlagRow("--ignore", value: "NAME", summary: "do not compare members of this name (repeatable)")
        }
    }
}

/// The values of the flags for recordings and checks.
struct CheckOptions: Sendable {
    /// The lock file if no flag names one.
    static let defaultLockFile = "mcp.lock"

    var isLocked = false
    var lockFile: String?
    var isDryRun = false
    var printsEvents = false
    var retries = 0
    var trace: TraceContext?
    /// Whether the trace begins here, so that its id is not known yet.
    var isNewTrace = false
    var isStrict = false
    var junitFile: String?
    var listen: String?
    var allowed: [String] = []
    var replaysAll = false
    var ignored: [String] = []
}

extension TraceContext {
    /// A sampled trace of its own.
    fileprivate static func random() -> TraceContext? {
        func hex(_ count: Int) -> String {
            (0 ..< count).map { _ in String(UInt8.random(in: 0 ... 15), radix: 16) }.joined()
        }
        // The last digits are not zero, so that no id is zero.
        return TraceContext("00-\(hex(31))1-\(hex(15))1-01")
    }
}

extension Options {
    mutating func apply(_ flag: CheckFlag, _ value: FlagValue) throws(Failure) {
        switch flag {
        case .locked: checks.isLocked = true
        case .lockFile: checks.lockFile = try value.nonEmpty()
        case .dryRun: checks.isDryRun = true
        case .jsonLines:
            checks.printsEvents = true
            json = true
        case .trace:
            guard value.text == "auto" || TraceContext(value.text) != nil else {
                throw .usage(
                    "--traceparent \(quoted(value.text)) is not a trace context",
                    hint: "auto, or 00-TRACEID-PARENTID-FLAGS with 32, 16 and 2 hexadecimal digits")
            }
            checks.isNewTrace = value.text == "auto"
            checks.trace = checks.isNewTrace ? .random() : TraceContext(value.text)
        case .retry: checks.retries = try value.number(in: 0 ... 100)
        case .strict: checks.isStrict = true
        case .junit: checks.junitFile = try value.nonEmpty()
        case .listen: checks.listen = try value.nonEmpty()
        case .only: checks.allowed.append(try value.nonEmpty())
        case .all: checks.replaysAll = true
        case .ignore: checks.ignored.append(try value.nonEmpty())
        }
    }
}
