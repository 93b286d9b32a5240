/// A tool as `tools/list` shows it (server/tools "Tool").
public struct Tool: RevisionedWireType {
    /// 1 to 128 characters of `A-Z a-z 0-9 _ - .`, unique in a server (TOOL-08).
    public var name: String
    /// A name for people (2025-06-18 and later).
    public var title: String?
    /// What the tool does, for the model.
    public var description: String?
    /// The JSON Schema of the arguments; its root has `"type": "object"`.
    public var inputSchema: JSONValue
    /// The JSON Schema of `structuredContent` (2025-06-18 and later).
    public var outputSchema: JSONValue?
    /// Hints about what the tool does to the world.
    public var annotations: ToolAnnotations?
    /// Pictures (2025-11-25 and later).
    public var icons: [Icon]
    /// Foreign data.
    public var meta: JSONObject?

    /// Describes a tool; without a schema it takes no arguments.
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

    /// The name to show to a person: title, the annotations' title, or the name (META-24).
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

    /// Writes the value as the revision has it.
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

    /// Before 2026-07-28 an output schema describes an object (TOOL-06).
    func showsOutputSchema(in revision: Revision) -> Bool {
        if revision.has(.anyStructured) { return true }
        return revision.has(.structured) && outputSchema?["type"]?.stringValue == "object"
    }
}

/// Hints about a tool; from a server you do not trust they are claims, not facts (TOOL-20).
public struct ToolAnnotations: RevisionedWireType {
    /// A name for people.
    public var title: String?
    /// Changes nothing. Absent means false.
    public var readOnlyHint: Bool?
    /// May destroy something. Absent means true.
    public var destructiveHint: Bool?
    /// Calling twice is calling once. Absent means false.
    public var idempotentHint: Bool?
    /// Reaches things outside the server. Absent means true.
    public var openWorldHint: Bool?

    /// Makes hints.
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
