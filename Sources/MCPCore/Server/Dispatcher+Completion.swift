/// A client's request for the completion of an argument.
public struct CompletionQuery: Sendable, Hashable {
    /// The text typed so far.
    public let value: String
    /// The arguments that are already filled in (2025-06-18 and later).
    public let arguments: [String: String]
    /// The name of the argument.
    public let argument: String
}

/// An argument whose values can be completed.
struct CompletionEntry: Sendable {
    let reference: CompletionReference
    /// The name of the argument; empty for a reference of another server, which knows its arguments.
    let argument: String
    let body: @Sendable (CompletionQuery, RequestContext) async throws -> CompletionResult
    var isForwarded = false
}

/// `completion/complete` (server/utilities/completion).
extension Dispatcher {
    func complete(
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        let completion: Completion
        do throws(MCPError) {
            let reference = try reference(of: request)
            if let arrivals = registry.contents.arrivals, !registry.knows(reference) {
                let request = request.copied
                return `defer`(request, timeout: Arrivals.longestCall, &writer, sink) { [self] deferred in
                    guard await everything(after: arrivals, for: deferred) else { return nil }
                    do throws(MCPError) {
                        let completion = try self.completion(reference, request, self.registry.current)
                        return await answer(request, completion, deferred)
                    } catch {
                        return answer { fail(request, error, &$0) }
                    }
                }
            }
            completion = try self.completion(reference, request, registry)
        } catch {
            return fail(request, error, &writer)
        }
        if completion.entry == nil { return write(CompletionResult([]), for: request, &writer) }
        let timeout = completion.entry?.isForwarded == true ? Arrivals.longestCall : nil
        return `defer`(request, timeout: timeout, &writer, sink) { [self] deferred in
            await answer(request, completion, deferred)
        }
    }

    /// What is to be completed, and who can do it; nobody for an argument without proposals.
    private struct Completion: Sendable {
        let reference: CompletionReference
        let query: CompletionQuery
        let entry: CompletionEntry?
    }

    private func completion(
        _ reference: CompletionReference, _ request: Request, _ registry: Registry
    ) throws(MCPError) -> Completion {
        guard registry.knows(reference) else {
            throw .invalidParams("Unknown \(reference.kind.rawValue): \(reference.name)")
        }
        if let error = refusal(of: reference, request) { throw error }
        let (name, value) = try completedArgument(of: request)
        let entry = registry.contents.completions.first {
            $0.reference == reference && ($0.argument == name || $0.isForwarded)
        }
        let query = CompletionQuery(
            value: value, arguments: try otherArguments(of: request), argument: name)
        return Completion(reference: reference, query: query, entry: entry)
    }

    private func answer(
        _ request: Request, _ completion: Completion, _ deferred: DeferredCall
    ) async -> Answer? {
        let query = completion.query
        do {
            let result = try await completion.entry?.body(query, RequestContext(request, deferred))
            var shown = result ?? CompletionResult([])
            if let rights = request.caller?.identity.rights {
                shown = shown.reduced(to: rights, completion.reference, query)
            }
            return answer { write(shown, for: request, &$0) }
        } catch {
            return answer { fail(request, publicError(error, "completion/complete"), &$0) }
        }
    }

    private func reference(of request: Request) throws(MCPError) -> CompletionReference {
        guard let ref = request.message.params?["ref"] else {
            throw .invalidParams("completion/complete needs \"ref\"")
        }
        do {
            return try CompletionReference(json: ref.value)
        } catch {
            throw .invalidParams("\"ref\" is not valid: \(error)")
        }
    }

    private func completedArgument(of request: Request) throws(MCPError) -> (name: String, value: String) {
        guard let argument = request.message.params?["argument"], let name = argument["name"]?.string,
            let value = argument["value"]?.string
        else {
            throw .invalidParams(
                "completion/complete needs \"argument\" with the strings \"name\" and \"value\"")
        }
        return (name, value)
    }

    /// Returns the arguments that are already filled in, in revisions that send them (COMP-02).
    private func otherArguments(of request: Request) throws(MCPError) -> [String: String] {
        guard request.revision.has(.completionContext), let context = request.message.params?["context"],
            !context.isNull, let given = context["arguments"], !given.isNull
        else { return [:] }
        guard case .object(let members) = given.value else {
            throw .invalidParams("\"context.arguments\" must be an object")
        }
        var arguments: [String: String] = [:]
        for (name, value) in members {
            guard case .string(let text) = value else {
                throw .invalidParams("The argument \"\(name)\" in \"context\" must be a string")
            }
            arguments[name] = text
        }
        return arguments
    }

    private func write(
        _ result: CompletionResult, for request: Request, _ writer: inout JSONWriter
    ) -> Disposition {
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        // The handler may have changed the values of a result, so they are counted again (COMP-04).
        let cut = CompletionResult(result.values, total: result.total, hasMore: result.hasMore)
        writer.member("completion", cut.json)
        return close(request, from: mark, meta: nil, &writer)
    }
}

extension CompletionResult {
    /// Returns the values without those that lead to resources outside of a view.
    ///
    /// Where a value leads is unknown if the template has other expressions than `{name}` and `{+name}`, if
    /// it lacks the argument, or if a variable in front of the argument has no value. Such values are
    /// returned only if the view has everything that the template may lead to.
    func reduced(
        to view: some ResourceView, _ reference: CompletionReference, _ query: CompletionQuery
    ) -> CompletionResult {
        guard reference.kind == .resource, !view.showsAllNames else { return self }
        var arguments = query.arguments
        arguments[query.argument] = ""
        guard let template = try? URITemplate(reference.name),
            template.variables.prefix(while: { arguments[$0] != nil }).contains(query.argument)
        else {
            return view.showsAll(beginning: String(reference.name.prefix { $0 != "{" }))
                ? self : CompletionResult([])
        }
        let shown = values.filter { value in
            arguments[query.argument] = value
            let (uri, isWhole) = template.filled(arguments)
            return isWhole ? view.shows(uri: uri) : view.mayShow(beginning: uri)
        }
        return CompletionResult(shown, hasMore: hasMore)
    }
}

extension Registry {
    /// Returns whether the reference names anything whose arguments could be completed.
    func knows(_ reference: CompletionReference) -> Bool {
        switch reference.kind {
        case .prompt: prompt(named: reference.name) != nil
        case .resource:
            allTemplates.contains { $0.uriTemplate == reference.name } || resource(at: reference.name) != nil
        }
    }
}
