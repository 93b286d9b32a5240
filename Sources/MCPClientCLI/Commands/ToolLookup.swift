import MCPCore

/// The lookup of a tool or prompt by its name, with a suggestion when there is none.
struct ToolLookup {
    let session: Session

    func tool(_ name: String) async throws(Failure) -> RawJSON {
        try await find(name, "tool", method: "tools/list", member: "tools", list: "tools")
    }

    func prompt(_ name: String) async throws(Failure) -> RawJSON {
        try await find(name, "prompt", method: "prompts/list", member: "prompts", list: "prompts")
    }

    private func find(
        _ name: String, _ noun: String, method: String, member: String, list: String
    ) async throws(Failure) -> RawJSON {
        var found: RawJSON?
        var names: [String] = []
        try await session.pages(method) { page throws(Failure) in
            for element in try session.elements(page, member, method: method) {
                guard let candidate = element["name"]?.string else { continue }
                // Two spellings of one letter are two names.
                if candidate.utf8.elementsEqual(name.utf8) {
                    found = element
                    return false
                }
                if names.count < 10_000 { names.append(candidate) }
            }
            return true
        }
        if let found { return found }
        let server = session.client.serverInfo.map { inlineText($0.name) } ?? "the server"
        let best = Suggestion.best(for: name, among: names)
        throw Failure(
            code: .protocolError, kind: .notFound, message: "\(server) has no \(noun) \(quoted(name))",
            details: best.map { ["did you mean \(inlineText($0))?"] } ?? [],
            hint: session.invocation.line(list, []) + " lists them")
    }
}
