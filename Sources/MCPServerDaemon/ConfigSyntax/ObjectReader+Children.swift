import MCPCore

/// Members that more than one kind of entry has.
extension ObjectReader {
    /// Returns PATH, LANG and HOME of this process, with these variables, and with those in `env`.
    mutating func childEnvironment(_ added: [String: String] = [:]) -> [String: String] {
        var environment = [
            "PATH": context.environment["PATH"] ?? Paths.defaultSearchPath,
            "LANG": context.environment["LANG"] ?? "C.UTF-8",
        ]
        environment["HOME"] = context.environment["HOME"]
        return environment.merging(added) { $1 }.merging(variables("env")) { $1 }
    }

    /// Reads variables of the environment.
    mutating func variables(_ key: String) -> [String: String] {
        guard let entries = object(key) else { return [:] }
        var environment: [String: String] = [:]
        for entry in entries.members {
            if entry.key.isEmpty || entry.key.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") }) {
                context.diagnostics.error(
                    "\(entries.path): \"\(entry.key)\" is not a variable name", at: entry.keyPosition)
            }
            guard let value = entry.value.string, !value.utf8.contains(0) else {
                entries.wrongType(entry.key, entry.value, expected: "a string without NUL")
                continue
            }
            environment[entry.key] = value
        }
        return environment
    }

    /// Reads `annotations`, the hints about a tool.
    mutating func toolAnnotations(_ key: String = "annotations") -> ToolAnnotations? {
        guard var hints = object(key) else { return nil }
        let annotations = ToolAnnotations(
            title: hints.string("title"), readOnlyHint: hints.bool("readOnlyHint"),
            destructiveHint: hints.bool("destructiveHint"), idempotentHint: hints.bool("idempotentHint"),
            openWorldHint: hints.bool("openWorldHint"))
        hints.finish()
        return annotations
    }
}
