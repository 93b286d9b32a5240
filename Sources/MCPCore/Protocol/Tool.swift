/// A tool as listed by `tools/list` (server/tools "Tool").
public struct Tool: RevisionedWireType {
    /// The name: 1 to 128 characters of `A-Z a-z 0-9 _ - .`, unique within a server (TOOL-08).
    public var name: String
    /// A human-readable name (2025-06-18 and later).
    public var title: String?
    /// A description of what the tool does, for the model.
    public var description: String?
    /// The JSON Schema of the arguments; its root contains `"type": "object"`.
    public var inputSchema: JSONValue
    /// The JSON Schema of `structuredContent` (2025-06-18 and later).
    public var outputSchema: JSONValue?
    /// Hints about the effects of the tool.
    public var annotations: ToolAnnotations?
    /// Icons (2025-11-25 and later).
    public var icons: [Icon]
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates a description of a tool; without a schema, the tool accepts no arguments.
    public init(
        _ name: String, title: String? = nil, description: String? = nil,
        inputSchema: JSONValue = ["type": "object", "additionalProperties": false],
        outputSchema: JSONValue? = nil, annotations: ToolAnnotations? = nil, icons: [Icon] = [],
        meta: JSONObject? = nil
    ) {
        self.name = name
        self.title = title
        self.description = description
        self.inputSchema = inputSchema
        self.outputSchema = outputSchema
        self.annotations = annotations
        self.icons = icons
        self.meta = meta
    }

    /// The name to show to a person: the title, the annotations' title, or the name (META-24).
    public var displayName: String { title ?? annotations?.title ?? name }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "Tool")
        name = try members.string("name")
        title = try members.optionalString("title")
        description = try members.optionalString("description")
        inputSchema = members["inputSchema"] ?? ["type": "object"]
        outputSchema = members["outputSchema"]
        annotations = try members.optional("annotations")
        icons = try members.array("icons")
        meta = try members.optionalObject("_meta")
    }

    /// Writes the value in the form that the revision defines.
    package func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("name", name)
        if revision.has(.structured) { writer.member("title", title) }
        writer.member("description", description)
        writer.member("inputSchema", inputSchema)
        if let outputSchema, showsOutputSchema(in: revision) {
            writer.member("outputSchema", outputSchema)
        }
        if revision.has(.annotations), let annotations {
            writer.key("annotations")
            annotations.write(to: &writer, for: revision)
        }
        writer.icons(icons, for: revision)
        writer.meta(meta, for: revision)
        writer.endObject()
    }

    /// Whether the revision can describe this output; before 2026-07-28, an output schema must describe an
    /// object (TOOL-06).
    func showsOutputSchema(in revision: Revision) -> Bool {
        if revision.has(.anyStructured) { return true }
        return revision.has(.structured) && outputSchema?["type"]?.stringValue == "object"
    }
}

/// Hints about a tool; if the server is not trusted, they are claims, not facts (TOOL-20).
public struct ToolAnnotations: RevisionedWireType {
    /// A human-readable name.
    public var title: String?
    /// Whether the tool changes nothing. Absent means false.
    public var readOnlyHint: Bool?
    /// Whether the tool may destroy something. Absent means true.
    public var destructiveHint: Bool?
    /// Whether calling the tool twice has the same effect as calling it once. Absent means false.
    public var idempotentHint: Bool?
    /// Whether the tool accesses things outside the server. Absent means true.
    public var openWorldHint: Bool?

    /// Creates hints.
    public init(
        title: String? = nil, readOnlyHint: Bool? = nil, destructiveHint: Bool? = nil,
        idempotentHint: Bool? = nil, openWorldHint: Bool? = nil
    ) {
        self.title = title
        self.readOnlyHint = readOnlyHint
        self.destructiveHint = destructiveHint
        self.idempotentHint = idempotentHint
        self.openWorldHint = openWorldHint
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "ToolAnnotations")
        title = try members.optionalString("title")
        readOnlyHint = try members.optionalBool("readOnlyHint")
        destructiveHint = try members.optionalBool("destructiveHint")
        idempotentHint = try members.optionalBool("idempotentHint")
        openWorldHint = try members.optionalBool("openWorldHint")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("title", title)
        writer.member("readOnlyHint", readOnlyHint)
        writer.member("destructiveHint", destructiveHint)
        writer.member("idempotentHint", idempotentHint)
        writer.member("openWorldHint", openWorldHint)
        writer.endObject()
    }
}
