/// Flags of `bench`.
enum BenchFlag: Sendable, CaseIterable {
    case count, concurrency

    var row: FlagRow {
        switch self {
        case .count: FlagRow("-n", "--requests", value: "COUNT", summary: "calls to make in all (1000)")
        case .concurrency:
            FlagRow("-c", "--concurrency", value: "COUNT", summary: "number of concurrent calls (1)")
        }
    }
}

extension Options {
    mutating func apply(_ flag: BenchFlag, _ value: FlagValue) throws(Failure) {
        switch flag {
        case .count: benchCount = try value.number(in: 1 ... 10_000_000)
        case .concurrency: benchConcurrency = try value.number(in: 1 ... 1024)
        }
    }
}
