/// Flags that request something other than a command.
enum OtherFlag: Sendable, CaseIterable {
    case help, version

    var row: FlagRow {
        switch self {
        case .help: FlagRow("--help", "-h", summary: "print help")
        case .version: FlagRow("--version", summary: "print the version")
        }
    }
}

extension Options {
    mutating func apply(_ flag: OtherFlag) {
        switch flag {
        case .help: help = true
        case .version: version = true
        }
    }
}
