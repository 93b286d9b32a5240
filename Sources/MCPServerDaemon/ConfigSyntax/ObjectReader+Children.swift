import MCPCore

/// Members that more than one kind of entry has.
extension ObjectReader {
    /// Returns PATH, LANG and HOME of this process, and the variables in `env`.
    mutating func childEnvironment() -> [String: String] {
        var environment = [
            "PATH": context.environment["PATH"] ?? Paths.defaultSearchPath,
            "LANG": context.environment["LANG"] ?? "C.UTF-8",
        ]
        environment["HOME"] = context.environment["HOME"]
        guard let entries = object("env") else { return environment }
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
