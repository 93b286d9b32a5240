/// Flags of commands that record, check and guard, and of what guards a call.
enum CheckFlag: Sendable, CaseIterable {
    case locked, lockFile, dryRun, jsonLines, retry, strict, junit, listen, only, all, ignore

    var row: FlagRow {
        switch self {
        case .locked:
            FlagRow("--locked", summary: "refuse what differs from the lock file; nothing is called")
        case .lockFile: FlagRow("--lock-file", value: "FILE", summary: "the lock file (mcp.lock)")
        case .dryRun: FlagRow("--dry-run", summary: "print the request, and do not send it")
        case .jsonLines:
            FlagRow("--jsonl", summary: "every event as a line of JSON: log, progress, result, error")
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
    var isLocked = false
    var lockFile: String?
    var isDryRun = false
    var printsEvents = false
    var retries = 0
    var isStrict = false
    var junitFile: String?
    var listen: String?
    var allowed: [String] = []
    var replaysAll = false
    var ignored: [String] = []
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
