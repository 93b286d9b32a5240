package import MCPCore

/// The tools of all sources, under the names that the model uses.
package struct ToolCatalog: Sendable {
    /// A tool and its source.
    package struct Entry: Sendable {
        /// The tool under its own name.
        package let tool: Tool
        let source: any ToolSource
        /// The name that the model uses.
        let name: String
        fileprivate(set) var policy: ToolPolicy
        /// The compiled input schema, or the reason why the source's schema cannot be used.
        package let input: Result<CompiledSchema, SchemaError>

        /// Whether the tool may run alongside others: as far as is known, it changes nothing.
        var runsBesideOthers: Bool {
            tool.annotations?.readOnlyHint == true && !source.isSerial(tool.name)
        }
    }

    /// A source whose tools are in the catalog.
    struct Origin: Sendable {
        let source: any ToolSource
        /// What the source tells a model.
        let instructions: String?
    }

    private(set) var entries: [Entry] = []
    /// The sources, in their order.
    private(set) var origins: [Origin] = []
    private var byName: [String: Entry] = [:]
    /// The sources of the names in `byName`, by what the names look like.
    private var owners: [String: ToolSourceID] = [:]
    /// The prefixes of tool names that are distinguished by their source.
    private var prefixes: [ToolSourceID: String] = [:]
    private var known: Set<ToolOrigin> = []
    /// Warnings about sources that could not list their tools.
    private(set) var warnings: [String] = []

    /// Creates an empty catalog.
    package init() {}

    /// Creates a catalog of one source's tools for all audiences, including those that are only for views.
    package init(tools: [Tool], of source: any ToolSource, _ policies: PolicyTable) {
        for tool in tools { add(tool, source, policies) }
    }

    /// Creates a catalog of the tools offered to models by querying all sources. A source that fails is left
    /// out with a warning; the others are still included.
    ///
    /// - Parameter before: the catalog of the previous round. A source that fails now keeps the tools that it
    ///   had there, so that the model learns from a call what is wrong.
    init(
        _ sources: [any ToolSource], _ policies: PolicyTable, before: ToolCatalog? = nil
    ) async throws {
        for source in sources { prefixes[source.id] = prefix(for: source.id) }
        for source in sources {
            var tools: [Tool]
            var instructions: String?
            do {
                tools = try await source.tools().filter { $0.visibility.contains(.model) }
                instructions = await source.instructions()
            } catch {
                try Task.checkCancellation()
                warnings.append("\(source.displayName) did not list its tools: \(error)")
                guard let before else { continue }
                tools = before.entries.filter { $0.source.id == source.id }.map(\.tool)
                instructions = before.origins.first { $0.source.id == source.id }?.instructions
            }
            origins.append(Origin(source: source, instructions: instructions))
            for tool in tools { add(tool, source, policies, before) }
        }
    }

    /// Returns the tool that the model knows under this name.
    package func entry(_ name: String) -> Entry? { byName[name] }

    /// The declarations for the model.
    var declarations: [Tool] {
        entries.map { entry in
            var tool = entry.tool
            tool.name = entry.name
            return tool
        }
    }

    /// Returns the same tools with other policies.
    package func under(_ policies: PolicyTable) -> ToolCatalog {
        var catalog = self
        for index in entries.indices {
            let entry = entries[index]
            catalog.entries[index].policy = policies.policy(for: entry.tool, of: entry.source)
            catalog.byName[entry.name] = catalog.entries[index]
        }
        return catalog
    }

    /// Returns a tool's name with that of its source.
    func fullName(of entry: Entry) -> String {
        (prefixes[entry.source.id] ?? prefix(for: entry.source.id)) + entry.tool.name
    }

    /// Returns a prefix that no other source has. The source's part of it contains no `__` and does not end
    /// with `_`, so that it can be told from the tool's.
    private func prefix(for source: ToolSourceID) -> String {
        let parts = source.name.split(separator: "_")
        let name = parts.isEmpty ? "source" : parts.joined(separator: "_")
        let known = Set(prefixes.values.map { LookAlike.folded($0) })
        var prefix = "\(name)__"
        var number = 1
        while known.contains(LookAlike.folded(prefix)) {
            number += 1
            prefix = "\(name)-\(number)__"
        }
        return prefix
    }

    private mutating func add(
        _ tool: Tool, _ source: any ToolSource, _ policies: PolicyTable, _ before: ToolCatalog? = nil
    ) {
        guard known.insert(ToolOrigin(source: source.id, name: tool.name)).inserted else {
            // A model may spell the name either way, and means one of them.
            let isOther = entries.contains {
                $0.source.id == source.id && $0.tool.name == tool.name
                    && !$0.tool.name.utf8.elementsEqual(tool.name.utf8)
            }
            let count = isOther ? "in two spellings" : "twice"
            warnings.append(
                "\(source.displayName) lists its tool \(tool.name) \(count); the first one is used")
            return
        }
        let name = free(tool.name, source)
        let policy = policies.policy(for: tool, of: source)
        let known = before?.byName[name]
        let input =
            known?.tool.inputSchema == tool.inputSchema
            ? known?.input ?? Self.compiled(tool) : Self.compiled(tool)
        if case .failure(let error) = input {
            warnings.append(
                "\(source.displayName): calls of \(tool.name) will fail, its input schema cannot be used: "
                    + "\(error)")
        }
        let entry = Entry(tool: tool, source: source, name: name, policy: policy, input: input)
        entries.append(entry)
        byName[name] = entry
        owners[LookAlike.folded(name)] = source.id
    }

    private static func compiled(_ tool: Tool) -> Result<CompiledSchema, SchemaError> {
        do {
            return .success(try CompiledSchema(tool.inputSchema))
        } catch {
            return .failure(error)
        }
    }

    /// Returns an available name for a tool.
    ///
    /// The first tool keeps its name; a tool that clashes with it receives its source's name as a prefix. A
    /// name that looks like that of another source's tool is never kept, because it could be mistaken for
    /// that tool, or take its place.
    private func free(_ name: String, _ source: any ToolSource) -> String {
        let looks = LookAlike.folded(name)
        let isForeign = prefixes.contains {
            $0.key != source.id && looks.hasPrefix(LookAlike.folded($0.value))
        }
        if !isForeign, isFree(name, for: source.id) { return name }
        let full = (prefixes[source.id] ?? prefix(for: source.id)) + name
        var candidate = full
        var number = 1
        while !isFree(candidate, for: source.id) {
            number += 1
            candidate = "\(full)__\(number)"
        }
        return candidate
    }

    private func isFree(_ name: String, for source: ToolSourceID) -> Bool {
        byName[name] == nil && owners[LookAlike.folded(name)] ?? source == source
    }
}

extension Tool {
    /// The client that runs the tool, where a server offers the tools of clients and names one of them.
    package var clientID: String? { meta?[VendorKey.clientID]?.stringValue }
}

/// The identity of a tool: its source and its own name.
private struct ToolOrigin: Hashable, Sendable {
    let source: ToolSourceID
    let name: String
}
