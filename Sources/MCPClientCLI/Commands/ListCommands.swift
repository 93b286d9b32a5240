import MCPCore

/// `tools`, `resources`, `templates`, `prompts`: list what a server offers.
struct ListCommands {
    let session: Session
    private var console: Console { session.console }

    func tools(glob: String?) async throws(Failure) {
        let pattern = glob.map { Glob($0) }
        var locked: LockedServer?
        if session.options.checks.isLocked {
            locked = try LockedServer(session.invocation, in: session.environment.currentDirectory)
        }
        var rows: [Row] = []
        var bytes = 0
        var total = 0
        var names: [String] = []
        try await pages(
            "tools/list", "tools",
            where: { tool in
                names.append(tool["name"]?.string ?? "")
                return isWanted(tool, pattern)
            }
        ) { element throws(Failure) in
            try locked?.check(.tools, element["name"]?.string ?? "", element.value)
            if isJSON { return }
            guard let tool = session.entry(Tool.self, "tool", element) else { return }
            rows.append(
                Row(
                    signature: session.options.onlyNames ? inlineText(tool.name) : Signature.tool(tool),
                    name: tool.name, hint: Signature.hint(tool), description: tool.description))
            bytes += Self.modelBytes(element)
        } count: {
            total += $0
        }
        try locked?.checkOmissions(session)
        guard !isJSON else { return }
        if session.options.onlyNames {
            for row in rows { console.line(row.signature) }
        } else {
            show(rows)
        }
        footer(rows.count, total, "tool", extra: "\((bytes + 3) / 4) tokens (est.)")
        if rows.isEmpty, total > 0 { suggest(glob, names) }
    }

    /// Says how to find a tool after none was found by its name.
    private func suggest(_ glob: String?, _ names: [String]) {
        let isWord = glob.map { !$0.isEmpty && !$0.contains { "*?[ ".contains($0) } } ?? false
        if isWord, let glob, let best = Suggestion.best(for: glob, among: names) {
            console.note("did you mean \(inlineText(best))?")
        }
        let word = isWord ? inlineText(ShellWord.quote(glob ?? "")) : "WORDS"
        let line = session.invocation.line("tools", ["--search", word])
        console.note("\(line) searches descriptions too; --names lists all names")
    }

    private struct Row {
        let signature: String
        let name: String
        let hint: String?
        let description: String?
    }

    private func show(_ rows: [Row]) {
        let widest = console.width.map { min(100, $0 - 14) } ?? 100
        let width = rows.map(\.signature.count).filter { $0 <= widest }.max() ?? 0
        for row in rows {
            showSignature(row, width)
            describeBriefly(row.description)
        }
    }

    private func showSignature(_ row: Row, _ width: Int) {
        let bold = inlineText(row.name).count
        guard let hint = row.hint else { return console.wrapped(row.signature, hanging: 4, bold: bold) }
        let colored = hint == "destructive" ? console.style.red(hint) : console.style.green(hint)
        guard row.signature.count <= width || console.width == nil else {
            console.wrapped(row.signature, hanging: 4, bold: bold)
            return console.line("    " + colored)
        }
        let gap = String(repeating: " ", count: max(0, width - row.signature.count) + 3)
        let name = console.style.bold(String(row.signature.prefix(bold)))
        console.line(name + row.signature.dropFirst(bold) + gap + colored)
    }

    /// Whether a tool is listed: its name matches the pattern, and all words of the search are in its texts.
    private func isWanted(_ tool: RawJSON, _ pattern: Glob?) -> Bool {
        if let pattern, !pattern.matches(tool["name"]?.string ?? "") { return false }
        if session.options.search.isEmpty { return true }
        let texts = ["name", "title", "description"].compactMap { tool[$0]?.string }
        let text = texts.joined(separator: " ").lowercased()
        return session.options.search.allSatisfy { text.contains($0) }
    }

    func resources() async throws(Failure) {
        try await list(Resource.self, "resource", "resources/list", "resources") { resource in
            entry(
                resource.uri,
                [
                    resource.name, resource.mimeType,
                    resource.size.flatMap { $0 < 0 ? nil : ByteSize.text($0) },
                ])
            describeBriefly(resource.description)
        }
    }

    func templates() async throws(Failure) {
        try await list(
            ResourceTemplate.self, "template", "resources/templates/list", "resourceTemplates"
        ) { template in
            entry(template.uriTemplate, [template.name, template.mimeType])
            describeBriefly(template.description)
        }
    }

    func prompts() async throws(Failure) {
        try await list(Prompt.self, "prompt", "prompts/list", "prompts") { prompt in
            console.wrapped(Signature.prompt(prompt), hanging: 4, bold: inlineText(prompt.name).count)
            describeBriefly(prompt.description)
        }
    }

    /// Shows the entries of a list that can be read, and counts them.
    private func list<T: WireType>(
        _ type: T.Type, _ noun: String, _ method: String, _ member: String, show: (T) -> Void
    ) async throws(Failure) {
        var (shown, total) = (0, 0)
        try await pages(method, member) { element throws(Failure) in
            guard let value = session.entry(type, noun, element) else { return }
            shown += 1
            show(value)
        } count: {
            total += $0
        }
        footer(shown, total, noun)
    }

    // MARK: Pages

    private var isJSON: Bool { session.options.json || session.options.select != nil }

    /// Prints each page as JSON, or passes its elements to `show`.
    private func pages(
        _ method: String, _ member: String, where isWanted: ((RawJSON) -> Bool)? = nil,
        show: (RawJSON) throws(Failure) -> Void, count: (Int) -> Void
    ) async throws(Failure) {
        try await session.pages(method) { page throws(Failure) in
            let elements = try session.elements(page, member, method: method)
            count(session.omissions.places(of: elements.count, responseTo: method).total)
            let chosen = isWanted.map { elements.filter($0) } ?? elements
            if !isJSON || member == "tools" { for element in chosen { try show(element) } }
            if isJSON {
                let shown =
                    chosen.count == elements.count ? page : Self.replace(member, of: page, with: chosen)
                _ = try session.printer.printJSON(shown)
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

    private func entry(_ first: String, _ others: [String?]) {
        let rest = others.compactMap { $0 }.filter { $0 != first && !$0.isEmpty }.map {
            "   " + inlineText($0)
        }
        let shown = TerminalText.inline(first, limit: 2000)
        console.wrapped(shown + rest.joined(), hanging: 4, bold: shown.count)
    }

    /// Prints the first line of a description, which is the server's prose: it is escaped, and indented by
    /// four spaces. An ellipsis stands for the rest.
    private func describeBriefly(_ description: String?) {
        let lines = (description ?? "").split(whereSeparator: \.isNewline).map { $0.trimmingWhitespace() }
            .filter { !$0.isEmpty }
        guard let first = lines.first else { return }
        let text = TerminalText.block(first)
        console.wrapped("    " + text + (lines.count > 1 ? " …" : ""))
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
