/// The entries through which a server offers what other servers offer.
struct UpstreamEntries {
    private let offers: [(upstream: Upstream, definitions: UpstreamDefinitions)]
    private let servers: Set<String>
    private let prefixes: [String: String]
    private let watches: UpstreamWatches

    init(_ upstreams: [Upstream], _ watches: UpstreamWatches) {
        self.watches = watches
        servers = Set(upstreams.map(\.name))
        let prefixed = upstreams.compactMap { upstream in upstream.options.prefix.map { (upstream.name, $0) }
        }
        prefixes = Dictionary(prefixed) { $1 }
        offers = upstreams.compactMap { upstream in upstream.definitions.map { (upstream, $0) } }
    }

    func add(to draft: inout Registry.Draft, _ tools: inout UpstreamNames, _ prompts: inout UpstreamNames) {
        addTools(to: &draft, &tools)
        addPrompts(to: &draft, &prompts)
        var seen = Set(draft.resources.map(\.resource.uri))
        for (upstream, definitions) in offers {
            let resources = definitions.resources.filter { seen.insert($0.uri).inserted }
            guard definitions.hasResources else { continue }
            draft.providers.append(
                UpstreamResources(upstream, resources, templates: definitions.templates, watches))
            guard definitions.completes else { continue }
            for template in definitions.templates {
                let reference = CompletionReference.resource(template.uriTemplate)
                if draft.completions.contains(where: { $0.reference == reference }) { continue }
                draft.completions.append(completion(reference, at: reference, upstream))
            }
        }
    }

    private func wanted(_ name: String, _ upstream: Upstream) -> UpstreamNames.Wanted {
        let options = upstream.options
        let base = (options.prefix ?? "") + (options.rename[name] ?? name)
        let source = UpstreamNames.Source(server: upstream.name, name: name)
        return (source, base, options.prefix?.isEmpty == false, options.rename[name] != nil)
    }

    private func addTools(to draft: inout Registry.Draft, _ names: inout UpstreamNames) {
        let all = offers.flatMap { offer in offer.definitions.tools.map { wanted($0.name, offer.upstream) } }
        let shown = names.assign(
            all, of: servers, prefixes: prefixes, own: Set(draft.tools.map(\.tool.name)))
        for (upstream, definitions) in offers {
            for tool in definitions.tools {
                let source = UpstreamNames.Source(server: upstream.name, name: tool.name)
                guard let name = shown[source] else { continue }
                var shown = tool
                shown.name = name
                let original = tool.name
                let entry = try? ToolEntry(forwarding: shown, timeout: UpstreamLimits.longestCall) {
                    (call, context) in
                    try await upstream.callTool(original, call.arguments, context)
                }
                if let entry { draft.tools.append(entry) }
            }
        }
    }

    private func addPrompts(to draft: inout Registry.Draft, _ names: inout UpstreamNames) {
        let all = offers.flatMap { offer in
            offer.definitions.prompts.map { wanted($0.name, offer.upstream) }
        }
        let shown = names.assign(
            all, of: servers, prefixes: prefixes, own: Set(draft.prompts.map(\.prompt.name)))
        for (upstream, definitions) in offers {
            for prompt in definitions.prompts {
                let source = UpstreamNames.Source(server: upstream.name, name: prompt.name)
                guard let name = shown[source] else { continue }
                var shown = prompt
                shown.name = name
                let original = prompt.name
                var entry = PromptEntry(prompt: shown) { arguments, context in
                    try await upstream.getPrompt(original, arguments, context)
                }
                entry.isForwarded = true
                draft.prompts.append(entry)
                if definitions.completes {
                    draft.completions.append(completion(.prompt(name), at: .prompt(original), upstream))
                }
            }
        }
    }

    private func completion(
        _ shown: CompletionReference, at reference: CompletionReference, _ upstream: Upstream
    ) -> CompletionEntry {
        var entry = CompletionEntry(reference: shown, argument: "") { query, context in
            try await upstream.complete(reference, query, context)
        }
        entry.isForwarded = true
        return entry
    }
}

/// The resources of one server, as they were last listed.
struct UpstreamResources: ForwardedResources {
    let upstream: Upstream
    /// What is watched of all servers; nil where nobody asks.
    private let watches: UpstreamWatches?
    private let shown: [Resource]
    private let shownTemplates: [ResourceTemplate]
    private let patterns: [URITemplate]
    private let uris: Set<String>
    private let digest: String

    init(
        _ upstream: Upstream, _ resources: [Resource], templates: [ResourceTemplate],
        _ watches: UpstreamWatches? = nil
    ) {
        self.upstream = upstream
        self.watches = watches
        shown = resources
        shownTemplates = templates
        uris = Set(resources.map(\.uri))
        patterns = templates.compactMap { try? URITemplate($0.uriTemplate) }
        var hash = UInt64(14_695_981_039_346_656_037)
        for resource in resources {
            for byte in resource.uri.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
            hash = hash &* 31
        }
        digest = String(hash, radix: 16)
    }

    func resources(
        after cursor: String?, limit: Int
    ) async throws -> (page: [Resource], next: String?) {
        var offset = 0
        if let cursor {
            let parts = cursor.split(separator: ".")
            guard parts.count == 2, parts[1] == digest, let start = Int(parts[0]),
                shown.indices.contains(start)
            else { throw MCPError.invalidParams("The list has changed; start again without a cursor") }
            offset = start
        }
        let end = min(shown.count, offset + limit)
        return (Array(shown[offset ..< end]), end < shown.count ? "\(end).\(digest)" : nil)
    }

    func templates() -> [ResourceTemplate] { shownTemplates }

    func isKnown(_ uri: String) -> Bool {
        upstream.allows(uri) && (uris.contains(uri) || patterns.contains { $0.match(uri) != nil })
    }

    func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]? {
        guard upstream.allows(uri) else { return nil }
        do {
            let contents = try await upstream.readResource(uri, context)
            return contents.isEmpty && !isKnown(uri) ? nil : contents
        } catch let error as MCPError
            where error.code == MCPError.legacyResourceNotFoundCode
            || error.code == MCPError.invalidParamsCode
        {
            if isKnown(uri) { throw error }
            // It may be a resource of the next server.
            return nil
        }
    }

    func watch(_ uri: String, for principal: String) -> ResourceWatch? {
        isKnown(uri) ? watches?.begin(uri, for: principal, at: upstream) : nil
    }
}

extension Upstream {
    func callTool(
        _ name: String, _ arguments: RawJSON, _ context: RequestContext
    ) async throws -> ForwardedResult {
        do {
            return try await forward(
                "tools/call", ["name": .string(name), "arguments": arguments.value], context)
        } catch let failure as UpstreamFailure {
            throw ToolError(failure.description)
        }
    }

    func getPrompt(
        _ name: String, _ arguments: [String: String], _ context: RequestContext
    ) async throws -> GetPromptResult {
        let members = JSONObject(
            arguments.sorted { $0.key < $1.key }.map { (key: $0.key, value: JSONValue.string($0.value)) })
        return try await read("prompts/get", ["name": .string(name), "arguments": .object(members)], context)
        {
            var result = try GetPromptResult(json: $0)
            result.meta?["io.modelcontextprotocol/serverInfo"] = nil
            return result
        }
    }

    func readResource(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents] {
        try await read("resources/read", ["uri": .string(uri)], context) { json in
            try MemberReader(json, as: "ReadResourceResult").array("contents", required: true)
        }
    }

    func complete(
        _ reference: CompletionReference, _ query: CompletionQuery, _ context: RequestContext
    ) async throws -> CompletionResult {
        var params: JSONObject = [
            "ref": reference.json,
            "argument": ["name": .string(query.argument), "value": .string(query.value)],
        ]
        if !query.arguments.isEmpty {
            let members = query.arguments.sorted { $0.key < $1.key }.map {
                (key: $0.key, value: JSONValue.string($0.value))
            }
            params["context"] = ["arguments": .object(JSONObject(members))]
        }
        do {
            let result = try await read("completion/complete", params, context) { json in
                try CompletionResult(json: json["completion"] ?? .null)
            }
            return result.reduced(to: patterns.resources, reference, query)
        } catch {
            // A server without completion, or one that is away, has no values to propose.
            if error is CancellationError { throw error }
            return CompletionResult([])
        }
    }

    private func read<T: Sendable>(
        _ method: String, _ params: JSONObject, _ context: RequestContext,
        _ make: (JSONValue) throws -> T
    ) async throws -> T {
        let result: ForwardedResult
        do {
            result = try await forward(method, params, context)
        } catch let failure as UpstreamFailure {
            throw failure.error
        }
        do {
            return try make(result.json.value)
        } catch {
            throw MCPError.internalError("\(name) sent a malformed response to \(method)")
        }
    }
}
