public import MCPCore

/// The views of a server (MCP Apps 2026-01-26 "UI Resource Format", "Resource Discovery").
extension MCPServer {
    /// Adds a tool whose results are shown by a view. Register the view with `addUIResource`.
    ///
    /// The tool works without a view too: its result needs `content` that a model, and a client without
    /// views, can read. `structuredContent` and `_meta` are for the view.
    ///
    /// ```swift
    /// try server.addUIResource("ui://clock/face", html: page)
    /// try server.addUITool(Tool("clock", description: "Shows the time."), resourceURI: "ui://clock/face") {
    ///     call, context in .structured(["time": .string(now())])
    /// }
    /// ```
    /// - Parameters:
    ///   - resourceURI: the address of the view, `ui://…`.
    ///   - visibility: the audiences that may see and call the tool; all of them by default.
    ///   - timeout: the longest time that a call may take; nil uses the server's `requestDeadline`.
    /// - Throws: `RegistrationError` when the address is not that of a view, and any error that `register`
    ///   throws.
    public func addUITool(
        _ tool: Tool, resourceURI: String, visibility: Set<ToolAudience> = Set(ToolAudience.allCases),
        timeout: Duration? = nil,
        handler: @escaping @Sendable (ToolCall, RequestContext) async throws -> CallToolResult
    ) throws(RegistrationError) {
        guard UIResource.isViewURI(resourceURI) else { throw .notAView(resourceURI) }
        try register(tool.forUI(resourceURI, visibility), timeout: timeout, handler: handler)
    }

    /// Adds a tool that views of this server can call and that models do not see.
    /// - Throws: any error that `register` throws.
    public func addAppTool(
        _ tool: Tool, timeout: Duration? = nil,
        handler: @escaping @Sendable (ToolCall, RequestContext) async throws -> CallToolResult
    ) throws(RegistrationError) {
        try register(tool.forUI(nil, [.app]), timeout: timeout, handler: handler)
    }

    /// Adds the document of a view.
    ///
    /// - Parameters:
    ///   - uri: the address, `ui://…`.
    ///   - name: a name; the address when it is nil.
    ///   - html: a complete HTML5 document of at most 8 MiB. Origins that it loads from must be listed in
    ///     `csp`.
    ///   - csp: the origins that the document accesses; nil for none.
    ///   - permissions: the device features that it uses.
    ///   - domain: the origin that it requests, in the host's own format.
    ///   - prefersBorder: whether the host draws a border; nil leaves it to the host.
    /// - Throws: `RegistrationError` when the address is not that of a view or is already in use, or the
    ///   document is too long.
    public func addUIResource(
        _ uri: String, name: String? = nil, title: String? = nil, description: String? = nil, html: String,
        csp: UICSPDomains? = nil, permissions: Set<UIPermission> = [], domain: String? = nil,
        prefersBorder: Bool? = nil
    ) throws(RegistrationError) {
        guard UIResource.isViewURI(uri) else { throw .notAView(uri) }
        let size = html.utf8.count
        guard size <= UIResource.maxBytes else {
            throw RegistrationError("the view \(uri) has \(size) bytes; hosts show at most 8 MiB")
        }
        let asked = UIResourceMeta(
            csp: csp, permissions: permissions, domain: domain, prefersBorder: prefersBorder
        ).json
        let meta: JSONObject? = asked.isEmpty ? nil : ["ui": .object(asked)]
        let resource = Resource(
            uri, name: name ?? uri, title: title, description: description, mimeType: UIExtension.mimeType,
            size: size, meta: meta)
        // Hosts check both places; the content's own metadata takes precedence.
        let contents = ResourceContents(uri: uri, mimeType: UIExtension.mimeType, text: html, meta: meta)
        try register(resource) { _ in [contents] }
    }
}

extension RequestContext {
    /// Whether the client shows views: it declared the extension, with this request (2026-07-28) or in the
    /// handshake. If it does not, `content` must contain everything.
    public var clientSupportsUI: Bool { clientCapabilities.hasUI }
}

extension RegistrationError {
    fileprivate static func notAView(_ uri: String) -> RegistrationError {
        RegistrationError("\(uri) is not a view address; use ui:// followed by a name")
    }
}

extension Tool {
    /// Returns the tool with the metadata that hosts read: `_meta.ui`, along with the older key of the
    /// address.
    fileprivate func forUI(_ uri: String?, _ visibility: Set<ToolAudience>) -> Tool {
        var tool = self
        var meta = meta ?? [:]
        var members = meta["ui"]?.objectValue ?? [:]
        if let uri {
            members["resourceUri"] = .string(uri)
            meta["ui/resourceUri"] = .string(uri)
        }
        if visibility.count < ToolAudience.allCases.count {
            members["visibility"] = .array(
                ToolAudience.allCases.filter(visibility.contains).map { .string($0.rawValue) })
        }
        meta["ui"] = .object(members)
        tool.meta = meta
        return tool
    }
}
