/// Resources, resource templates and providers of resources.
extension MCPServer {
    /// Registers one resource.
    ///
    /// - Throws: `RegistrationError` when the URI is taken.
    public func register(
        _ resource: Resource,
        read: @escaping @Sendable (RequestContext) async throws -> [ResourceContents]
    ) throws(RegistrationError) {
        try update { (draft) throws(RegistrationError) in
            if draft.resources.contains(where: { $0.resource.uri == resource.uri }) {
                throw RegistrationError("the resource \(resource.uri) is already registered")
            }
            draft.resources.append(ResourceEntry(resource: resource, read: read))
        }
    }

    /// Registers a family of resources; `read` receives the URI and the template's variables,
    /// percent-decoded.
    ///
    /// - Throws: `RegistrationError` when the template is taken or not supported (`{name}` and
    ///   `{+name}` are supported).
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
                throw RegistrationError("the template \(template.uriTemplate) is already registered")
            }
            draft.templates.append(TemplateEntry(template: template, pattern: pattern, read: read))
        }
    }

    /// Registers a source of resources that are not known individually.
    public func register(_ provider: any ResourceProvider) {
        // A provider cannot conflict with another one, so the update cannot throw.
        try? update { $0.providers.append(provider) }
    }

    /// Removes a resource; reads in flight continue. Returns false when there is no resource with this URI.
    @discardableResult
    public func unregisterResource(_ uri: String) -> Bool {
        remove(from: \.resources) { $0.resource.uri == uri }
    }
}
