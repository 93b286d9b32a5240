/// One row of the report about arguments that do not fit.
struct ArgumentProblem: Sendable, Hashable {
    /// The message for a name that the schema does not have.
    static let unknown = "no such argument"

    /// The argument, as the person would write it.
    let name: String
    let message: String
    var suggestion: String?

    /// Returns the rows with the names in one column.
    static func rows(_ problems: [ArgumentProblem], limit: Int = 12) -> [String] {
        let shown = problems.prefix(limit)
        let width = shown.map { inlineText($0.name).count }.max() ?? 0
        var rows = shown.map { problem in
            let name = inlineText(problem.name)
            var row = name + String(repeating: " ", count: width - name.count + 2) + problem.message
            if let suggestion = problem.suggestion { row += "        did you mean \(suggestion)?" }
            return row
        }
        if problems.count > limit { rows.append("… and \(problems.count - limit) more") }
        return rows
    }
}
