import MCPCore

/// `tool`: shows one tool in full.
struct ToolCommand {
    let session: Session

    func run(_ name: String) async throws(Failure) {
        try show(try await ToolLookup(session: session).tool(name), withSchemas: true)
    }

    /// Shows the tool if the words ask for help, as in `call T TOOL --help`; returns false if they do not. A
    /// tool with an argument of that name gets it.
    func helped(_ name: String, _ words: [String]) async throws(Failure) -> Bool {
        guard words.contains("--help") else { return false }
        let raw = try await ToolLookup(session: session).tool(name)
        guard SchemaView(raw["inputSchema"]?.value ?? [:]).property("help") == nil else { return false }
        try show(raw, withSchemas: false)
        return true
    }

    private func show(_ raw: RawJSON, withSchemas: Bool) throws(Failure) {
        if try session.printer.printJSON(raw) { return }
        let tool = try session.decode("tool", raw) { json throws(JSONError) in try Tool(json: json) }
        let console = session.console
        let hint = Signature.hint(tool).map { "   " + $0 } ?? ""
        console.wrapped(Signature.tool(tool) + hint, hanging: 4, bold: inlineText(tool.name).count)
        if let title = tool.title ?? tool.annotations?.title { console.wrapped("    " + inlineText(title)) }
        indented(tool.description)
        arguments(tool)
        annotations(tool)
        if withSchemas {
            schema("input schema", tool.inputSchema)
            if let output = tool.outputSchema { schema("output schema", output) }
        }
        let words = ArgumentCheck(name: tool.name, schema: tool.inputSchema).usageWords()
        console.line("")
        console.line("usage: " + session.invocation.line("call", [ShellWord.quote(tool.name)] + words))
    }

    private func arguments(_ tool: Tool) {
        let view = SchemaView(tool.inputSchema)
        let required = Set(view.required)
        let rows = view.propertyNames.map { name -> [String] in
            let property = view.property(name)
            let fallback = property?.keyword("default").map {
                "= " + TerminalText.inline($0.serialized(), limit: 40)
            }
            return [
                // The schema shows a long type in full.
                inlineText(name),
                property.map { TerminalText.inline(TypeText.signature($0), limit: 48) } ?? "any",
                required.contains(name) ? "required" : (fallback ?? ""),
                property?.keyword("description")?.stringValue.map { Self.inOneLine($0) } ?? "",
            ]
        }
        guard !rows.isEmpty else { return }
        session.console.line("")
        session.console.line("arguments")
        let indent = min(rows.map { $0[0].count + 2 }.max() ?? 0, 24)
        for line in Self.columns(rows) { session.console.wrapped("  " + line, hanging: indent) }
    }

    private static func inOneLine(_ text: String) -> String {
        inlineText(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    private func annotations(_ tool: Tool) {
        guard let hints = tool.annotations else { return }
        let all = [
            ("readOnlyHint", hints.readOnlyHint), ("destructiveHint", hints.destructiveHint),
            ("idempotentHint", hints.idempotentHint), ("openWorldHint", hints.openWorldHint),
        ]
        let given = all.compactMap { name, value in value.map { "\(name) \($0)" } }
        guard !given.isEmpty else { return }
        session.console.line("")
        session.console.line("hints (claimed by the server, not verified)")
        session.console.line("  " + given.joined(separator: ", "))
    }

    private func schema(_ title: String, _ schema: JSONValue) {
        session.console.line("")
        session.console.line(title)
        indented(schema.serialized(pretty: true), by: "  ")
    }

    private func indented(_ text: String?, by margin: String = "    ") {
        guard let text, !text.isEmpty else { return }
        let block = TerminalText.block(text.trimmingWhitespace())
        for line in block.split(separator: "\n", omittingEmptySubsequences: false) {
            session.console.wrapped(line.isEmpty ? "" : margin + line)
        }
    }

    /// Returns lines in which every column is as wide as its widest cell, without spaces at the end.
    static func columns(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0 ..< count).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell + String(repeating: " ", count: widths[column] - cell.count)
                if widths[column] > 0 { line += "  " }
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
