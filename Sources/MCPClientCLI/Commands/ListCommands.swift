import MCPCore

/// `tools`, `resources`, `templates`, `prompts`: list what a server offers.
struct ListCommands {
    let session: Session
    private var console: Console { session.console }

    func tools(glob: String?) async throws(Failure) {
        let pattern = glob.map { Glob($0) }
        var rows: [(signature: String, name: String, hint: String?, description: String?)] = []
        var bytes = 0
        var total = 0
        try await pages("tools/list", "tools", matching: pattern, name: "name") { element throws(Failure) in
            let tool = try session.decode("tool", element) { json throws(JSONError) in try Tool(json: json) }
            rows.append((Signature.tool(tool), tool.name, Signature.hint(tool), tool.description))
            bytes += Self.modelBytes(element)
        } count: {
            total += $0
        }
        guard !isJSON else { return }
        let width = rows.map(\.signature.count).filter { $0 <= 100 }.max() ?? 0
        for row in rows {
            var line = colored(row.signature, name: row.name)
            if let hint = row.hint {
                let gap = String(repeating: " ", count: max(0, width - row.signature.count) + 3)
                line += gap + (hint == "destructive" ? console.style.red(hint) : console.style.green(hint))
            }
            console.line(line)
            describe(row.description)
        }
        footer(rows.count, total, "tool", extra: "\((bytes + 3) / 4) tokens (est.)")
    }

    func resources() async throws(Failure) {
        var total = 0
        try await pages("resources/list", "resources") { element throws(Failure) in
            let resource = try session.decode("resource", element) { json throws(JSONError) in
                try Resource(json: json)
            }
            entry(resource.uri, [resource.name, resource.mimeType, resource.size.map(ByteSize.text)])
            describe(resource.description)
        } count: {
            total += $0
        }
        footer(total, total, "resource")
    }

    func templates() async throws(Failure) {
        var total = 0
        try await pages("resources/templates/list", "resourceTemplates") { element throws(Failure) in
            let template = try session.decode("resource template", element) { json throws(JSONError) in
                try ResourceTemplate(json: json)
            }
            entry(template.uriTemplate, [template.name, template.mimeType])
            describe(template.description)
        } count: {
            total += $0
        }
        footer(total, total, "template")
    }

    func prompts() async throws(Failure) {
        var total = 0
        try await pages("prompts/list", "prompts") { element throws(Failure) in
            let prompt = try session.decode("prompt", element) { json throws(JSONError) in
                try Prompt(json: json)
            }
            console.line(colored(Signature.prompt(prompt), name: prompt.name))
            describe(prompt.description)
        } count: {
            total += $0
        }
        footer(total, total, "prompt")
    }

    // MARK: Pages

    private var isJSON: Bool { session.options.json || session.options.select != nil }

    /// Prints each page as JSON, or passes its elements to `show`.
    private func pages(
        _ method: String, _ member: String, matching pattern: Glob? = nil, name: String = "name",
        show: (RawJSON) throws(Failure) -> Void, count: (Int) -> Void
    ) async throws(Failure) {
        try await session.pages(method) { page throws(Failure) in
            let elements = try session.elements(page, member, method: method)
            count(elements.count)
            let chosen = elements.filter { element in
                guard let pattern else { return true }
                return pattern.matches(element[name]?.string ?? "")
            }
            if isJSON {
                let shown = pattern == nil ? page : Self.replace(member, of: page, with: chosen)
                _ = try session.printer.printJSON(shown)
            } else {
                for element in chosen { try show(element) }
            }
            return true
        }
    }

    /// Returns the page with fewer elements; everything else stays as received.
    private static func replace(_ member: String, of page: RawJSON, with elements: [RawJSON]) -> RawJSON {
        var object = page.value.objectValue ?? [:]
        object[member] = .array(elements.map(\.value))
        return RawJSON(.object(object))
    }

    /// Returns the size of the parts of a tool that a model reads.
    private static func modelBytes(_ tool: RawJSON) -> Int {
        ["name", "description", "inputSchema"].reduce(0) { $0 + (tool[$1]?.bytes.count ?? 0) }
    }

    // MARK: Lines

    private func colored(_ signature: String, name: String) -> String {
        let shown = inlineText(name)
        return console.style.bold(shown) + signature.dropFirst(shown.count)
    }

    private func entry(_ first: String, _ others: [String?]) {
        let rest = others.compactMap { $0 }.filter { $0 != first && !$0.isEmpty }.map {
            "   " + inlineText($0)
        }
        console.line(console.style.bold(TerminalText.inline(first, limit: 2000)) + rest.joined())
    }

    /// Prints a description, which is the server's prose: it is always escaped, and indented by four spaces.
    private func describe(_ description: String?) {
        guard let description else { return }
        let text = TerminalText.block(description.trimmingWhitespace())
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) where !text.isEmpty {
            console.line(line.isEmpty ? "" : "    " + line)
        }
    }

    private func footer(_ shown: Int, _ total: Int, _ noun: String, extra: String? = nil) {
        if isJSON { return }
        let count = shown == total ? "\(shown)" : "\(shown) of \(total)"
        var parts = ["\(count) \(noun)\(total == 1 ? "" : "s")"]
        if let extra { parts.append(extra) }
        parts += [session.identity, TimeSpan.text(session.timings.elapsed)]
        console.note(console.noteStyle.dim(parts.joined(separator: " · ")))
    }
}
