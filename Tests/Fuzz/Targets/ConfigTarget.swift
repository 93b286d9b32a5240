import MCPCore

@testable import MCPServerDaemon

/// Configuration files: findings with positions, or a configuration.
enum ConfigTarget {
    static func checkJSONC(_ input: [UInt8]) throws {
        let diagnostics = Diagnostics()
        let node = try limited("parsing", to: 1) {
            JSONCParser.parse(SourceText(name: "f", bytes: input), into: diagnostics)
        }
        try check(diagnostics, lines: input.count { $0 == 0x0A } + 1)
        guard let json = try? JSONValue(parsing: input) else { return }
        if let node, !diagnostics.hasErrors {
            try require(node.json == json, "reads JSON differently: \(node.json.serialized())")
        } else {
            // JSON with such limits is refused, and says why.
            let isKnown = diagnostics.items.allSatisfy {
                $0.text.hasPrefix("duplicate key") || $0.text.hasPrefix("nested")
            }
            try require(isKnown, "refuses JSON: \(diagnostics.report)")
        }
    }

    static func check(_ input: [UInt8]) throws {
        func load() -> Diagnostics {
            let loader = ConfigurationLoader(environment: ["HOME": "/nonexistent", "KEY": "value"])
            return loader.load(SourceText(name: "f", bytes: input), directory: "/nonexistent", Diagnostics())
                .diagnostics
        }
        let diagnostics = try limited("loading", to: 2, load)
        try check(diagnostics, lines: input.count { $0 == 0x0A } + 1)
        try require(load().report == diagnostics.report, "another report the second time")
    }

    private static func check(_ diagnostics: Diagnostics, lines: Int) throws {
        _ = diagnostics.report
        for item in diagnostics.items {
            try require(!item.text.isEmpty, "a finding without a text")
            guard item.position.file == "f" else { continue }
            try require((0 ... lines).contains(item.position.line), "a finding in line \(item.position.line)")
        }
    }
}
