/// Resources, resource templates and providers of resources.
extension MCPServer {
    /// Registers one resource.
    ///
    /// - Throws: `RegistrationError` when the address is taken.
    public func register(
        _ resource: Resource,
        read: @escaping @Sendable (RequestContext) async throws -> [ResourceContents]
    ) throws(RegistrationError) {
        try update { (draft) throws(RegistrationError) in
            if draft.resources.contains(where: { $0.resource.uri == resource.uri }) {
                throw RegistrationError("the resource \(resource.uri) is registered already")
            }
            draft.resources.append(ResourceEntry(resource: resource, read: read))
        }
    }

    /// Registers a family of resources; `read` gets the address and the template's variables,
    /// percent-decoded.
    ///
    /// - Throws: `RegistrationError` when the template is taken or not supported (`{name}` and `{+name}`
    ///   are).
    public func register(
        _ template: ResourceTemplate,
        read:
            @escaping @Sendable (
                _ uri: String, _ variables: [String: String], _ context: RequestContext
            ) async throws -> [ResourceContents]
    ) throws(RegistrationError) {
        let pattern = try URITemplate(template.uriTemplate)
        try update { (draft) throws(RegistrationError) in
            if draft.templates.contains(where: { $0.template.uriTemplate == template.uriTemplate }) {
                throw RegistrationError("the template \(template.uriTemplate) is registered already")
            }
            draft.templates.append(TemplateEntry(template: template, pattern: pattern, read: read))
        }
    }

    /// Registers a source of resources that are not known one by one.
    public func register(_ provider: any ResourceProvider) {
        // Nothing about a provider can clash, so the update cannot throw.
        try? update { $0.providers.append(provider) }
    }

    /// Takes a resource away; reads in flight go on. False when there is none at this address.
    @discardableResult
    public func unregisterResource(_ uri: String) -> Bool {
        remove(from: \.resources) { $0.resource.uri == uri }
    }
}
