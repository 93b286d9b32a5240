/// What a new configuration changes, in words for the log.
struct ConfigurationDifference {
    /// `+tool journal ~tool git_log -files docs`, or `none`.
    let text: String
    /// Something changed that is read at the start only.
    let needsRestart: Bool

    init(_ old: Configuration, _ new: Configuration) {
        var parts: [String] = []
        Self.compare("tool", old.tools, new.tools, by: \.name, &parts)
        Self.compare("files", old.files, new.files, by: \.name, &parts)
        Self.compare("prompt", old.prompts, new.prompts, by: \.name, &parts)
        text = parts.isEmpty ? "none" : parts.joined(separator: " ")
        needsRestart =
            old.server != new.server || old.limits != new.limits || old.listen != new.listen
            || old.clientTools != new.clientTools
    }

    private static func compare<T: Equatable>(
        _ kind: String, _ old: [T], _ new: [T], by name: KeyPath<T, String>, _ parts: inout [String]
    ) {
        let before = Dictionary(old.map { ($0[keyPath: name], $0) }) { $1 }
        let after = Dictionary(new.map { ($0[keyPath: name], $0) }) { $1 }
        for key in after.keys.sorted() {
            guard let previous = before[key] else {
                parts.append("+\(kind) \(key)")
                continue
            }
            if previous != after[key] { parts.append("~\(kind) \(key)") }
        }
        for key in before.keys.sorted() where after[key] == nil { parts.append("-\(kind) \(key)") }
    }
}
