extension MCPServer {
    /// Completes an argument of a prompt, or a variable of a resource template; replaces the completion that
    /// was registered for it before (server/utilities/completion).
    ///
    /// The code runs as a task within the request's deadline; only the first 100 of its values are sent.
    /// - Parameters:
    ///   - reference: the prompt or the template, which may be registered before or after this call.
    ///   - argument: the argument's name.
    ///   - body: receives the text typed so far; the most likely value comes first in its result.
    public func addCompletion(
        _ reference: CompletionReference, _ argument: String,
        _ body:
            @escaping @Sendable (
                _ query: CompletionQuery, _ context: RequestContext
            ) async throws -> CompletionResult
    ) {
        let entry = CompletionEntry(reference: reference, argument: argument, body: body)
        // A completion cannot conflict with another one, so the update cannot throw.
        try? update { draft in
            draft.completions.removeAll { $0.reference == reference && $0.argument == argument }
            draft.completions.append(entry)
        }
    }

    /// Completes an argument from a fixed list: first the values that begin with the typed text, then those
    /// that contain it, each in the order of the list; case is ignored.
    public func addCompletion(_ reference: CompletionReference, _ argument: String, _ values: [String]) {
        let list = CompletionList(values)
        addCompletion(reference, argument) { query, _ in CompletionResult(list.matches(query.value)) }
    }
}

/// A fixed list of values, searched without regard to case.
struct CompletionList: Sendable {
    private let values: [(value: String, folded: String)]

    init(_ values: [String]) { self.values = values.map { ($0, $0.lowercased()) } }

    func matches(_ text: String) -> [String] {
        let text = text.lowercased()
        var first: [String] = []
        var second: [String] = []
        for (value, folded) in values {
            if folded.hasPrefix(text) {
                first.append(value)
            } else if folded.utf8.contains(sequence: text.utf8) {
                second.append(value)
            }
        }
        return first + second
    }
}

extension String.UTF8View {
    /// Returns whether `other` occurs, byte for byte.
    fileprivate func contains(sequence other: String.UTF8View) -> Bool {
        var rest = self[...]
        while rest.count >= other.count {
            if rest.starts(with: other) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
