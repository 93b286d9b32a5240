@testable import MCPCore

/// JSON Schema: all ways to check a value agree, and none takes long.
enum SchemaTarget {
    static func check(_ input: [UInt8]) throws {
        let (first, second) = input.halves
        guard let schema = try? JSONValue(parsing: first) else { return }
        var options = SchemaOptions(assertFormat: input.count % 2 == 0)
        if input.count % 3 == 0 { options.defaultDialect = .draft07 }
        options.limits.maxWork = 2_000_000
        let compiled = try limited("compiling", to: 2) { try? CompiledSchema(schema, options: options) }
        guard let compiled else { return }
        for instance in [(try? JSONValue(parsing: second)) ?? .null, schema, [:], 1, "a"] as [JSONValue] {
            let raw = RawJSON(instance)
            let isValid = try limited("the tree walk", to: 3) { compiled.isValid(instance) }
            let found = try limited("the report", to: 3) { compiled.validate(instance) }
            let isRawValid = try limited("the flat walk", to: 3) { compiled.isValid(raw) }
            let sample = "\(raw.value.serialized().prefix(200)) by \(schema.serialized().prefix(300))"
            try require(isValid == found.isEmpty, "\(isValid), but reported: \(found): \(sample)")
            try require(isValid == isRawValid, "tree \(isValid), flat \(isRawValid): \(sample)")
            try require(compiled.validate(raw).isEmpty == isRawValid, "the flat report: \(sample)")
            try require(found.count <= 20, "\(found.count) violations")
        }
        if let raw = try? RawJSON(validating: ByteSlice(second)) {
            try require(compiled.validate(raw).isEmpty == compiled.isValid(raw), "the text as it came")
        }
    }

    /// The least length of a text with which memory is judged, in bytes.
    private static let longText = 1 << 20
    /// The marks of look-arounds twice, since the instrumented allocator keeps what was freed, the text as scalars,
    /// and some room, in KiB.
    private static let memory = (2 * PatternMatcher.maxMarkBytes + 16 * longText + 16 << 20) >> 10

    /// A long text takes bounded memory, however many parts a pattern has.
    private static func checkMemory(of pattern: Pattern, in text: String) throws {
        let long = String(repeating: text, count: longText / text.utf8.count + 1)
        let before = mostResident()
        // More than the text has marks for, and little more than that: the time is judged elsewhere.
        var budget = 100_000
        _ = try limited("matching a long text", to: 4) { pattern.isFound(in: long, budget: &budget) }
        let grown = mostResident() - before
        try require(grown <= memory, "a text of \(long.utf8.count) bytes takes \(grown) KiB")
    }

    /// The most memory that the process has used, in KiB (Linux).
    private static func mostResident() -> Int {
        guard let status = try? Files.read("/proc/self/status", maxBytes: 1 << 16) else { return 0 }
        let line = status.split(separator: 0x0A).first { $0.starts(with: "VmHWM:".utf8) } ?? []
        return Int(Array(line.filter { (0x30 ... 0x39).contains($0) }).text) ?? 0
    }

    /// Patterns: bounded time, and a verdict that does not depend on a budget that suffices.
    static func checkPattern(_ input: [UInt8]) throws {
        let (source, text) = (input.halves.first.text, input.halves.second.text)
        let pattern = try limited("compiling", to: 2) { try? Pattern(source) }
        guard let pattern else { return }
        var budget = 2_000_000
        let verdict = try limited("matching", to: 4) { pattern.isFound(in: text, budget: &budget) }
        try require(budget >= 0 && budget <= 2_000_000, "a budget of \(budget)")
        if let verdict {
            var exact = 2_000_000 - budget
            guard exact > 0 else { return }
            let again = pattern.isFound(in: text, budget: &exact)
            try require(again == nil || again == verdict, "\(verdict), and \(again == true) with less budget")
            var twice = 4_000_000
            try require(pattern.isFound(in: text, budget: &twice) == verdict, "another verdict")
        }
        if unsafe isAlone, !text.isEmpty, input.count % 16 == 0 { try checkMemory(of: pattern, in: text) }
    }
}
