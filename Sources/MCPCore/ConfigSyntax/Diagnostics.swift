/// One mistake in a configuration, or one thing in it that deserves attention.
package struct Diagnostic: Sendable, Hashable {
    package enum Severity: String, Sendable { case error, warning }

    package var severity: Severity
    package var position: SourcePosition
    package var text: String

    package init(severity: Severity, position: SourcePosition, text: String) {
        self.severity = severity
        self.position = position
        self.text = text
    }

    /// `file:line:column: error: text`, a form that editors can jump to.
    package var rendered: String { "\(position): \(severity.rawValue): \(text)" }
}

extension Diagnostics {
    /// Writes each finding as a line of its own: where it is, and what is wrong.
    package func report(to log: Log) {
        for item in shown {
            switch item.severity {
            case .error: log.error("configuration error", item.fields)
            case .warning: log.warning("configuration warning", item.fields)
            }
        }
        if let more { log.warning("configuration warning", ["text": more]) }
    }
}

extension Diagnostic {
    fileprivate var fields: Log.Fields { ["at": "\(position)", "text": text] }
}

/// Collects all findings, so that a person corrects a file once and not error by error.
package final class Diagnostics {
    /// The findings that are shown at once; further ones are counted.
    package static let maxShown = 100

    package private(set) var items: [Diagnostic] = []
    private var known: Set<Diagnostic> = []

    package init() {}

    package var errorCount: Int { items.count { $0.severity == .error } }
    package var warningCount: Int { items.count { $0.severity == .warning } }
    package var hasErrors: Bool { items.contains { $0.severity == .error } }

    /// Returns whether an error is reported at a position.
    package func hasError(at position: SourcePosition) -> Bool {
        items.contains { $0.severity == .error && $0.position == position }
    }

    package func error(_ text: String, at position: SourcePosition) {
        append(Diagnostic(severity: .error, position: position, text: text))
    }

    package func warning(_ text: String, at position: SourcePosition) {
        append(Diagnostic(severity: .warning, position: position, text: text))
    }

    private func append(_ item: Diagnostic) {
        var item = item
        for secret in secrets { item.text = item.text.replacing(secret.text, with: secret.name) }
        if known.insert(item).inserted { items.append(item) }
    }

    // MARK: Secrets

    private var secrets: [(text: String, name: String)] = []

    /// Shows `name` in place of a secret in all texts from now on, because findings are logged.
    ///
    /// A secret of fewer than 4 characters is not replaced: that would hide nothing, and make texts
    /// unreadable.
    package func conceal(_ secret: String, as name: String) {
        if secret.utf8.count >= 4 { secrets.append((secret, name)) }
    }

    /// The findings by file, in the order of first mention, then by line and column.
    package var sorted: [Diagnostic] {
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

    /// The first findings, in the order of `sorted`; when there are too many, errors before warnings.
    package var shown: [Diagnostic] {
        let all = sorted
        guard all.count > Self.maxShown else { return all }
        let errors = all.filter { $0.severity == .error }
        let warnings = all.filter { $0.severity == .warning }
        return Array((errors + warnings).prefix(Self.maxShown))
    }

    /// A text such as `… and 3 more` about the findings that `shown` leaves out; `nil` if it has all.
    package var more: String? {
        items.count > Self.maxShown ? "… and \(items.count - Self.maxShown) more" : nil
    }

    /// A text such as `2 errors, 1 warning`; `nil` if there are no findings.
    package var summary: String? {
        var parts: [String] = []
        if errorCount > 0 { parts.append(Self.counted(errorCount, "error")) }
        if warningCount > 0 { parts.append(Self.counted(warningCount, "warning")) }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Each finding that is shown on its own line, followed by the summary.
    package var report: [String] { shownLines + (summary.map { [$0] } ?? []) }

    /// Each finding that is shown on its own line, and how many more there are.
    package var shownLines: [String] { shown.map(\.rendered) + (more.map { [$0] } ?? []) }

    package static func counted(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }
}
