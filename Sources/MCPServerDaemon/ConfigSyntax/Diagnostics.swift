import MCPCore

/// One mistake in a configuration, or one thing in it that deserves attention.
struct Diagnostic: Sendable, Hashable {
    enum Severity: String, Sendable { case error, warning }

    var severity: Severity
    var position: SourcePosition
    var text: String

    /// `file:line:column: error: text`, a form that editors can jump to.
    var rendered: String { "\(position): \(severity.rawValue): \(text)" }
}

extension Diagnostics {
    /// Writes each finding as a line of its own: where it is, and what is wrong.
    func report(to log: Log) {
        for item in sorted {
            switch item.severity {
            case .error: log.error("configuration error", item.fields)
            case .warning: log.warning("configuration warning", item.fields)
            }
        }
    }
}

extension Diagnostic {
    fileprivate var fields: Log.Fields { ["at": "\(position)", "text": text] }
}

/// Collects all findings, so that a person corrects a file once and not error by error.
final class Diagnostics {
    private(set) var items: [Diagnostic] = []

    var errorCount: Int { items.count { $0.severity == .error } }
    var warningCount: Int { items.count { $0.severity == .warning } }
    var hasErrors: Bool { items.contains { $0.severity == .error } }

    func error(_ text: String, at position: SourcePosition) {
        append(Diagnostic(severity: .error, position: position, text: text))
    }

    func warning(_ text: String, at position: SourcePosition) {
        append(Diagnostic(severity: .warning, position: position, text: text))
    }

    private func append(_ item: Diagnostic) {
        var item = item
        for secret in secrets { item.text = item.text.replacing(secret.text, with: secret.name) }
        if !items.contains(item) { items.append(item) }
    }

    // MARK: Secrets

    private var secrets: [(text: String, name: String)] = []

    /// Shows `name` in place of a secret in all texts from now on, because findings are logged.
    ///
    /// A secret of fewer than 4 characters is not replaced: that would hide nothing, and make texts
    /// unreadable.
    func conceal(_ secret: String, as name: String) {
        if secret.utf8.count >= 4 { secrets.append((secret, name)) }
    }

    /// The findings by file, in the order of first mention, then by line and column.
    var sorted: [Diagnostic] {
        var order: [String: Int] = [:]
        for item in items where order[item.position.file] == nil {
            order[item.position.file] = order.count
        }
        return items.enumerated().sorted { left, right in
            let a = (order[left.element.position.file, default: 0], left.element.position.line)
            let b = (order[right.element.position.file, default: 0], right.element.position.line)
            if a != b { return a < b }
            let columns = (left.element.position.column, right.element.position.column)
            return columns.0 == columns.1 ? left.offset < right.offset : columns.0 < columns.1
        }.map(\.element)
    }

    /// A text such as `2 errors, 1 warning`; `nil` if there are no findings.
    var summary: String? {
        var parts: [String] = []
        if errorCount > 0 { parts.append(Self.counted(errorCount, "error")) }
        if warningCount > 0 { parts.append(Self.counted(warningCount, "warning")) }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Every finding on its own line, followed by the summary.
    var report: [String] { sorted.map(\.rendered) + (summary.map { [$0] } ?? []) }

    static func counted(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }
}
