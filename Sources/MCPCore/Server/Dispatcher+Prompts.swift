/// `prompts/get` (server/prompts "Getting a Prompt").
extension Dispatcher {
    func getPrompt(
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        let name = request.message.raw(request.message.head.name)?.string ?? ""
        if let arrivals = registry.contents.arrivals, registry.prompt(named: name) == nil {
            let request = request.copied
            return `defer`(request, timeout: Arrivals.longestCall, &writer, sink) { [self] deferred in
                guard await everything(after: arrivals, for: deferred) else { return nil }
                do {
                    let entry = try promptEntry(request, self.registry.current)
                    let arguments = try promptArguments(request, entry.prompt)
                    return await answer(request, entry, arguments, deferred)
                } catch {
                    return answer { fail(request, publicError(error, "prompts/get"), &$0) }
                }
            }
        }
        let entry: PromptEntry
        let arguments: [String: String]
        do {
            entry = try promptEntry(request, registry)
            arguments = try promptArguments(request, entry.prompt)
        } catch {
            return fail(request, error, &writer)
        }
        let timeout = entry.isForwarded ? Arrivals.longestCall : nil
        return `defer`(request, timeout: timeout, &writer, sink) { [self] deferred in
            await answer(request, entry, arguments, deferred)
        }
    }

    private func answer(
        _ request: Request, _ entry: PromptEntry, _ arguments: [String: String], _ deferred: DeferredCall
    ) async -> Answer? {
        do {
            let result = try await entry.get(arguments, RequestContext(request, deferred))
            return answer { write(result, for: request, &$0) }
        } catch {
            return answer { fail(request, publicError(error, "prompts/get"), &$0) }
        }
    }

    private func write(
        _ result: GetPromptResult, for request: Request, _ writer: inout JSONWriter
    ) -> Disposition {
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        result.writeMembers(to: &writer, for: request.revision)
        return close(request, from: mark, meta: result.meta, &writer)
    }

    private func promptEntry(_ request: Request, _ registry: Registry) throws(MCPError) -> PromptEntry {
        guard let name = request.message.raw(request.message.head.name)?.string else {
            throw .invalidParams("prompts/get needs \"name\", a string")
        }
        guard let entry = registry.prompt(named: name) else {
            throw .invalidParams("Unknown prompt: \(name)")
        }
        if let error = refusal(request, on: name, hiding: .invalidParams("Unknown prompt: \(name)")) {
            throw error
        }
        return entry
    }

    /// Returns the arguments as text; every argument that the prompt requires must be present
    /// (PROM-04, PROM-06).
    private func promptArguments(_ request: Request, _ prompt: Prompt) throws(MCPError) -> [String: String] {
        var arguments: [String: String] = [:]
        if let raw = request.message.raw(request.message.head.arguments), !raw.isNull {
            guard let object = raw.value.objectValue else {
                throw .invalidParams("\"arguments\" must be an object")
            }
            for (name, value) in object {
                guard case .string(let text) = value else {
                    throw .invalidParams("The prompt argument \"\(name)\" must be a string")
                }
                arguments[name] = text
            }
        }
        let missing = prompt.arguments.filter { $0.required && arguments[$0.name] == nil }.map(\.name)
        guard missing.isEmpty else {
            throw .invalidParams(
                "The prompt \(prompt.name) needs: \(missing.joined(separator: ", "))",
                data: .object(["missing": .array(missing.map(JSONValue.string))]))
        }
        return arguments
    }
}
