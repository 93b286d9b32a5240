import MCPCore

/// One line for a tool or a prompt, as a programmer would declare it.
enum Signature {
    static func tool(_ tool: Tool) -> String {
        inlineText(tool.name) + "("
            + TypeText.parameters(SchemaView(tool.inputSchema)).joined(separator: ", ") + ")"
    }

    static func prompt(_ prompt: Prompt) -> String {
        let arguments = prompt.arguments.map { inlineText($0.name) + ($0.required ? "" : "?") }
        return inlineText(prompt.name) + "(" + arguments.joined(separator: ", ") + ")"
    }

    /// Returns what a person should know before calling a tool. These are claims of the server, not facts
    /// (TOOL-20).
    static func hint(_ tool: Tool) -> String? {
        guard let annotations = tool.annotations else { return nil }
        if annotations.readOnlyHint == true { return "read-only" }
        if annotations.destructiveHint == true { return "destructive" }
        return nil
    }
}
