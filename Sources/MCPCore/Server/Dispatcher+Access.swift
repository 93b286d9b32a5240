import Synchronization

/// What a caller may use (AUTH-40), for all methods that name an item.
extension Dispatcher {
    /// Returns the error for a caller who may not use an item; nil for one who may. An error about scopes is
    /// audited when it is sent.
    ///
    /// - Parameter unknown: the error for an item that does not exist.
    func refusal(
        _ request: Request, on name: String, scopes: [String] = [], hiding unknown: MCPError
    ) -> MCPError? {
        guard let identity = request.caller?.identity else { return nil }
        switch identity.rights.decision(on: name, scopes: scopes) {
        case .allowed:
            audit(request, name, reason: nil)
            return nil
        case .lacks(let scopes): return .insufficientScope(scopes)
        case .hidden:
            audit(request, name, reason: "not among the caller's names")
            request.trace?.wasDenied()
            return unknown
        }
    }

    @inline(__always)
    func refusal(_ request: Request, on entry: ToolEntry) -> MCPError? {
        guard let identity = request.caller?.identity, identity.isReported || !identity.mayCall(entry) else {
            return nil
        }
        return decision(about: request, on: entry)
    }

    @inline(never)
    private func decision(about request: Request, on entry: ToolEntry) -> MCPError? {
        let name = entry.tool.name
        return refusal(
            request, on: name, scopes: entry.scopes, hiding: .invalidParams("Unknown tool: \(name)"))
    }

    func refusal(of reference: CompletionReference, _ request: Request) -> MCPError? {
        let unknown = MCPError.invalidParams("Unknown \(reference.kind.rawValue): \(reference.name)")
        if reference.kind == .resource, reference.name.contains("{") {
            guard request.caller?.identity.rights.shows(template: reference.name) == false else { return nil }
            request.trace?.wasDenied()
            return unknown
        }
        return refusal(request, on: reference.name, hiding: unknown)
    }

    func mayUse(_ uri: String, _ request: Request) -> Bool {
        request.caller.map { $0.identity.rights.decision(on: uri) == .allowed } ?? true
    }

    /// Reports a decision about a request.
    ///
    /// - Parameters:
    ///   - name: nil stands for the one in the message.
    ///   - reason: the reason for a refusal; nil if access is allowed.
    func audit(_ request: Request, _ name: String? = nil, reason: String?) {
        guard let identity = request.caller?.identity, reason != nil || identity.isReported,
            let onAccess = identity.onAccess
        else { return }
        let head = request.message.head
        onAccess(
            AccessEvent(
                isAllowed: reason == nil, principal: identity.principal, method: request.message.method,
                name: name ?? (request.message.raw(head.name) ?? request.message.raw(head.uri))?.string,
                reason: reason))
    }
}

extension Registry {
    /// Returns what the lists show to a caller.
    func view(of caller: Caller?) -> Registry {
        guard let rights = caller?.identity.rights, !rights.showsAllNames || hasScopedTools else {
            return self
        }
        if let view = views.withLock({ $0.use(rights.viewKey) }) { return view }
        var draft = contents
        draft.tools.removeAll { !rights.shows($0.tool.name, scopes: $0.scopes) }
        draft.prompts.removeAll { !rights.shows($0.prompt.name) }
        draft.resources.removeAll { !rights.shows(uri: $0.resource.uri) }
        draft.templates.removeAll { !rights.shows(template: $0.template.uriTemplate) }
        draft.providers = draft.providers.map { ProviderView(provider: $0, rights: rights) }
        let view = Registry(draft, declared: declared)
        return views.withLock { views in
            if let other = views.use(rights.viewKey) { return other }
            views.insert(view, for: rights.viewKey)
            return view
        }
    }
}

/// The part of a provider's lists that a caller sees.
private struct ProviderView: ResourceProvider {
    let provider: any ResourceProvider
    let rights: AccessRights

    func resources(
        after cursor: String?, limit: Int
    ) async throws -> (page: [Resource], next: String?) {
        let (page, next) = try await provider.resources(after: cursor, limit: limit)
        return (page.filter { rights.shows(uri: $0.uri) }, next)
    }

    func templates() -> [ResourceTemplate] {
        provider.templates().filter { rights.shows(template: $0.uriTemplate) }
    }

    func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]? {
        try await provider.read(uri, context)
    }

    func reportsChanges(of uri: String) -> Bool { provider.reportsChanges(of: uri) }
}
