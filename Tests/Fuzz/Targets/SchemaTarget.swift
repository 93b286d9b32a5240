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
    }
}
