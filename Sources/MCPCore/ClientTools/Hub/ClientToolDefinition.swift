/// A tool as a client offers it, checked and cleaned: its texts are truncated and contain no control
/// characters.
struct ClientToolDefinition: Sendable, Hashable {
    let tool: Tool
    let instructions: String?
    /// The schema as it was sent; nil when there was none.
    let parameters: JSONValue?
    let showsExternalSources: Bool
    /// The timeout that the tool requests; nil for the hub's own.
    let timeout: Duration?
    /// The scopes that the tool says it needs.
    let scopes: Set<PermissionScope>

    var name: String { tool.name }
    /// Whether a call whose client is gone may be given to it again.
    var isIdempotent: Bool { tool.annotations?.idempotentHint ?? false }

    /// - Throws: `RegistrationError` when the name, a schema or its size is not acceptable.
    init(
        _ tool: Tool, instructions: String?, parameters: JSONValue?, showsExternalSources: Bool
    ) throws(RegistrationError) {
        for schema in [tool.inputSchema, tool.outputSchema].compactMap(\.self)
        where RawJSON(schema).bytes.count > ClientToolLimits.schemaBytes {
            throw RegistrationError(
                "a schema of \(tool.name) has more than \(ClientToolLimits.schemaBytes >> 10) KiB")
        }
        timeout = tool.declaredTimeout
        scopes = tool.declaredScopes
        var tool = tool
        tool.title = tool.title.map(Self.cleaned)
        tool.description = tool.description.map(Self.cleaned)
        // Data from a client must not claim anything in the server's name.
        tool.icons = []
        tool.meta = nil
        // The checks that every tool passes: its name, its schemas.
        _ = try ToolEntry(
            tool, timeout: nil, schemas: ClientToolLimits.schemas,
            handler: .asynchronous { _, _ in CallToolResult() })
        self.tool = tool
        self.instructions = instructions.map(Self.cleaned)
        self.parameters = parameters
        self.showsExternalSources = showsExternalSources
    }

    /// Creates a definition from a tool in the list of a connected provider.
    init(listed tool: Tool) throws(RegistrationError) {
        try self.init(
            tool, instructions: tool.meta?[VendorKey.instructions]?.stringValue,
            parameters: tool.inputSchema,
            showsExternalSources: tool.meta?[VendorKey.externalSources]?.boolValue ?? false)
    }

    /// Returns the tool as agents see it, without its instructions: those are a line of the server's, in
    /// their author's name, where a host passes them on.
    ///
    /// - Parameters:
    ///   - name: its own name, or a different one if two clients share it.
    ///   - clients: the clients that run its calls; the façade's, which have no names, are an empty one.
    func shown(as name: String, from clients: [String]) -> Tool {
        var shown = tool
        shown.name = name
        let names = clients.map { $0.isEmpty ? ClientToolGuidance.nameless : $0 }.joined(separator: ", ")
        shown.title = "\(tool.displayName) (from client\(clients.count == 1 ? "" : "s") \(names))"
        var meta: JSONObject = [:]
        // Where all run it, a call that names one would reach that one only.
        if clients.count == 1, let client = clients.first, !client.isEmpty {
            meta[VendorKey.clientID] = .string(client)
        }
        if let timeout { meta[VendorKey.timeout] = JSONValue(timeout.milliseconds) }
        if !scopes.isEmpty { meta[VendorKey.scopes] = .array(scopes.sorted().map { .string($0.name) }) }
        if showsExternalSources {
            meta[VendorKey.externalSources] = true
            var annotations = tool.annotations ?? ToolAnnotations()
            annotations.openWorldHint = true
            shown.annotations = annotations
        }
        shown.meta = meta.isEmpty ? nil : meta
        return shown
    }

    /// Returns the text without control characters, truncated to the limit between two characters.
    static func cleaned(_ text: String) -> String { text.cleaned(maxBytes: ClientToolLimits.textBytes) }
}
