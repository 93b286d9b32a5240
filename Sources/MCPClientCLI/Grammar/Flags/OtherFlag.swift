/// Flags that request something other than a command.
enum OtherFlag: Sendable, CaseIterable {
    case help, version, manual

    var row: FlagRow {
        switch self {
        case .help: FlagRow("--help", "-h", summary: "print help")
        case .version: FlagRow("--version", "-V", summary: "print the version")
        case .manual: FlagRow("--man", summary: "the manual page, as roff for man(1)")
        }
    }
}

extension Options {
    mutating func apply(_ flag: OtherFlag) {
        switch flag {
        case .help: help = true
        case .version: version = true
        case .manual: manual = true
        }
    }
}
