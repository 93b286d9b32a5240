/// Flags for the arguments of tools and prompts.
enum ArgumentFlag: Sendable, CaseIterable {
    case noValidate

    var row: FlagRow {
        switch self {
        case .noValidate:
            FlagRow(
                "--no-validate", summary: "check neither the arguments nor the result against the schemas")
        }
    }
}

extension Options {
    mutating func apply(_ flag: ArgumentFlag) {
        switch flag {
        case .noValidate: noValidate = true
        }
    }
}
