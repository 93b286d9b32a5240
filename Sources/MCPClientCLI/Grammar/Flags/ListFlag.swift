/// Flags of `tools`.
enum ListFlag: Sendable, CaseIterable {
    case names, search

    var row: FlagRow {
        switch self {
        case .names: FlagRow("--names", summary: "names only, one on each line")
        case .search:
            FlagRow(
                "--search", value: "'WORDS'",
                summary: "only tools whose name or description contains all these words")
        }
    }
}

extension Options {
    mutating func apply(_ flag: ListFlag, _ value: FlagValue) throws(Failure) {
        switch flag {
        case .names: onlyNames = true
        case .search: search += try value.nonEmpty().lowercased().split(separator: " ").map(String.init)
        }
    }
}
