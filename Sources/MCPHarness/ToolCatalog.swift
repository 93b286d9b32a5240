package import MCPCore

/// The tools of all sources, by the names that the model uses.
package struct ToolCatalog: Sendable {
    /// A tool and where it comes from.
    package struct Entry: Sendable {
        /// The tool by its own name.
        package let tool: Tool
        let source: any ToolSource
        /// The name that the model uses.
        let name: String
        fileprivate(set) var policy: ToolPolicy
        /// Why the source's schema cannot be used, or the schema.
        package let input: Result<CompiledSchema, SchemaError>

        /// It changes nothing, as far as is known: it may run beside others.
        var runsBesideOthers: Bool {
            tool.annotations?.readOnlyHint == true && !source.isSerial(tool.name)
        }
    }

    private(set) var entries: [Entry] = []
    private var byName: [String: Entry] = [:]
    /// What names of tools begin with that are told apart by their source, of all sources.
    private var prefixes: [String] = []
    private var known: Set<ToolOrigin> = []
    /// Sources that could not tell their tools, in words.
    private(set) var warnings: [String] = []

    /// No tools.
    package init() {}

    /// The tools of one source for everybody: those that are for views alone too.
    package init(tools: [Tool], of source: any ToolSource, _ policies: PolicyTable) {
        for tool in tools { add(tool, source, policies) }
    }

    /// What models are offered: asks all sources. One that fails is left out, and said so: the others go on.
    init(_ sources: [any ToolSource], _ policies: PolicyTable) async throws {
        prefixes = sources.map { Self.prefix(of: $0) }
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

    /// The tool that the model knows by this name.
    package func entry(_ name: String) -> Entry? { byName[name] }

    /// The declarations for the model.
    var declarations: [Tool] {
        entries.map { entry in
            var tool = entry.tool
            tool.name = entry.name
            return tool
        }
    }

    /// The same tools under other policies.
    package func under(_ policies: PolicyTable) -> ToolCatalog {
        var catalog = self
        for index in entries.indices {
            let entry = entries[index]
            catalog.entries[index].policy = policies.policy(for: entry.tool, of: entry.source)
            catalog.byName[entry.name] = catalog.entries[index]
        }
        return catalog
    }

    private static func prefix(of source: any ToolSource) -> String { "\(source.id.name)__" }

    private mutating func add(_ tool: Tool, _ source: any ToolSource, _ policies: PolicyTable) {
        guard known.insert(ToolOrigin(source: source.id, name: tool.name)).inserted else {
            warnings.append("\(source.displayName) tells its tool \(tool.name) twice; the first one counts")
            return
        }
        let name = free(tool.name, source)
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

    /// The first keeps its name; what clashes with it has its source's name in front. A name that looks like
    /// one of another source's tools is never kept: it would be taken for that tool, or in its place.
    private func free(_ name: String, _ source: any ToolSource) -> String {
        let own = Self.prefix(of: source)
        let isForeign = prefixes.contains { $0 != own && name.hasPrefix($0) }
        if !isForeign, byName[name] == nil { return name }
        let full = own + name
        var candidate = full
        var number = 1
        while byName[candidate] != nil {
            number += 1
            candidate = "\(full)__\(number)"
        }
        return candidate
    }
}

/// A tool of a source, by its own name.
private struct ToolOrigin: Hashable, Sendable {
    let source: ToolSourceID
    let name: String
}
