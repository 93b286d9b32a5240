/// The tools of all sources, by the names that the model uses.
struct ToolCatalog: Sendable {
    struct Entry: Sendable {
        /// The tool by its own name.
        let tool: Tool
        let source: any ToolSource
        /// The name that the model uses.
        let name: String
        fileprivate(set) var policy: ToolPolicy
        /// Why the source's schema cannot be used, or the schema.
        let input: Result<CompiledSchema, SchemaError>

        /// It changes nothing, as far as is known: it may run beside others.
        var runsBesideOthers: Bool {
            tool.annotations?.readOnlyHint == true && !source.isSerial(tool.name)
        }
    }

    private(set) var entries: [Entry] = []
    private var byName: [String: Entry] = [:]
    /// Sources that could not tell their tools, in words.
    private(set) var warnings: [String] = []

    /// No tools.
    init() {}

    /// The tools of one source for everybody: those that are for views alone too.
    init(tools: [Tool], of source: any ToolSource, _ policies: PolicyTable) {
        for tool in tools { add(tool, source, policies) }
    }

    /// What models are offered: asks all sources. One that fails is left out, and said so: the others go on.
    init(_ sources: [any ToolSource], _ policies: PolicyTable) async throws {
        for source in sources {
            let tools: [Tool]
            do {
                tools = try await source.tools()
            } catch {
                try Task.checkCancellation()
                warnings.append("\(source.displayName) did not tell its tools: \(error)")
                continue
            }
            for tool in tools where tool.visibility.contains(.model) { add(tool, source, policies) }
        }
    }

    func entry(_ name: String) -> Entry? { byName[name] }

    /// The declarations for the model.
    var declarations: [Tool] {
        entries.map { entry in
            var tool = entry.tool
            tool.name = entry.name
            return tool
        }
    }

    /// The same tools under other policies.
    func under(_ policies: PolicyTable) -> ToolCatalog {
        var catalog = self
        for index in entries.indices {
            let entry = entries[index]
            catalog.entries[index].policy = policies.policy(for: entry.tool, of: entry.source)
            catalog.byName[entry.name] = catalog.entries[index]
        }
        return catalog
    }

    /// The first keeps its name; what clashes with it has its source's name in front.
    private mutating func add(_ tool: Tool, _ source: any ToolSource, _ policies: PolicyTable) {
        var name = tool.name
        if byName[name] != nil { name = "\(source.id.name)__\(tool.name)" }
        guard byName[name] == nil else {
            warnings.append("\(source.displayName) has the tool \(tool.name) twice; the first one counts")
            return
        }
        let policy = policies.policy(for: tool, of: source)
        let input: Result<CompiledSchema, SchemaError>
        do {
            input = .success(try CompiledSchema(tool.inputSchema))
        } catch {
            input = .failure(error)
        }
        let entry = Entry(tool: tool, source: source, name: name, policy: policy, input: input)
        entries.append(entry)
        byName[name] = entry
    }
}
