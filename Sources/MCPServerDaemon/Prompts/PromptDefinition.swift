import MCPCore

/// A prompt from a Markdown file.
struct PromptDefinition: Sendable, Hashable {
    struct Argument: Sendable, Hashable {
        var name: String
        var description: String?
        var isRequired: Bool
    }

    var name: String
    var title: String?
    var description: String?
    var arguments: [Argument] = []
    var template = PromptTemplate("")

    /// The prompt as clients see it.
    var prompt: Prompt {
        Prompt(
            name, title: title, description: description,
            arguments: arguments.map {
                PromptArgument($0.name, description: $0.description, required: $0.isRequired)
            })
    }

    /// Returns the text with the arguments inserted.
    ///
    /// - Throws: `MCPError` -32602 if a required argument is missing or one is not known (server/prompts
    ///   "Error Handling").
    func render(_ values: [String: String]) throws -> String {
        let missing = arguments.filter { $0.isRequired && values[$0.name] == nil }.map(\.name)
        guard missing.isEmpty else {
            throw MCPError.invalidParams(
                "prompt \(name) is missing \(Diagnostics.counted(missing.count, "argument")): "
                    + missing.joined(separator: ", "))
        }
        for given in values.keys.sorted() where !arguments.contains(where: { $0.name == given }) {
            let hint = Suggestion.hint(for: given, among: arguments.map(\.name))
            throw MCPError.invalidParams("prompt \(name) has no argument \"\(given)\"\(hint)")
        }
        return template.render(values)
    }
}
