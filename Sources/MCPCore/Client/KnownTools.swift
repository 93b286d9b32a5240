import Synchronization

/// Facts from the tool lists that calls need: which arguments are repeated in headers (HDR-15), the schemas
/// of the results (TOOL-15), and whether a call may be sent twice.
final class KnownTools: Sendable {
    /// The number of tools that are remembered; calls of further tools are made without this knowledge.
    static let maxTools = 10_000
    /// The total size of the output schemas that are remembered, in bytes; results of further tools are not
    /// checked.
    static let maxSchemaBytes = 8 << 20

    private enum Output {
        case none
        case schema(JSONValue)
        case compiled(CompiledSchema)
    }

    private struct Entry {
        var headers: HeaderPlan?
        var output = Output.none
        var schemaBytes = 0
        /// Whether the tool changes nothing, or nothing more when it is called again (TOOL-20).
        var isRepeatable = false
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var schemaBytes = 0
    }

    private let state = Mutex(State())

    // MARK: Learning

    /// Learns from a page of a list. Errors in its annotations are reported when the page is handed out.
    func learn(_ page: RawJSON, isFirst: Bool, mirrors: Bool) {
        state.withLock { state in
            if isFirst, state.entries.count >= Self.maxTools { state = State() }
            page["tools"]?.forEachElement { tool in
                guard let name = tool["name"]?.string else { return }
                state.schemaBytes -= state.entries.removeValue(forKey: name)?.schemaBytes ?? 0
                guard state.entries.count < Self.maxTools else { return }
                let entry = Self.entry(
                    tool, mirrors: mirrors, room: Self.maxSchemaBytes - state.schemaBytes)
                guard let entry else { return }
                state.schemaBytes += entry.schemaBytes
                state.entries[name] = entry
            }
        }
    }

    /// Returns the entry of a tool; nil if there is nothing to remember about it.
    private static func entry(_ tool: RawJSON, mirrors: Bool, room: Int) -> Entry? {
        var entry = Entry()
        if mirrors, let schema = tool["inputSchema"] {
            // An annotation that cannot be used causes no header.
            entry.headers = (try? HeaderPlan(schema.value, at: .lenient)) ?? nil
        }
        if let schema = tool["outputSchema"], schema.kind == .object, schema.bytes.count <= room {
            entry.output = .schema(schema.value)
            entry.schemaBytes = schema.bytes.count
        }
        let annotations = tool["annotations"]
        entry.isRepeatable =
            annotations?["readOnlyHint"]?.bool == true || annotations?["idempotentHint"]?.bool == true
        return entry.headers == nil && entry.schemaBytes == 0 && !entry.isRepeatable ? nil : entry
    }

    /// Forgets promises of a tool list that has changed: results are no longer checked against the old
    /// schemas, and the old hints about repeated calls are void. Headers stay; a server that requires others
    /// reports that (HDR-26).
    func forgetPromises() {
        state.withLock { state in
            for name in state.entries.keys {
                state.entries[name]?.output = .none
                state.entries[name]?.schemaBytes = 0
                state.entries[name]?.isRepeatable = false
            }
            state.schemaBytes = 0
        }
    }

    // MARK: Calls

    /// Returns whether the list declares that calling the tool twice does no harm; false for an unknown tool.
    func isRepeatable(_ name: String) -> Bool {
        state.withLock { $0.entries[name]?.isRepeatable ?? false }
    }

    /// Returns the header fields that repeat the arguments of a call.
    func fields(for params: JSONObject) -> [(name: String, value: String)] {
        guard let name = params["name"]?.stringValue else { return [] }
        let plan = state.withLock { $0.entries[name]?.headers }
        return plan?.fields(for: params["arguments"]?.objectValue ?? [:]) ?? []
    }

    /// Returns whether a schema for the results of a tool is known.
    func hasOutputSchema(_ name: String) -> Bool {
        state.withLock { if case .none = $0.entries[name]?.output ?? .none { false } else { true } }
    }

    /// Returns the schema for the results of a tool; nil when none is known.
    ///
    /// - Throws: `SchemaError` the first time that a schema cannot be used; it is forgotten after that.
    func outputSchema(of name: String) throws(SchemaError) -> CompiledSchema? {
        let output = state.withLock { $0.entries[name]?.output ?? .none }
        switch output {
        case .none: return nil
        case .compiled(let schema): return schema
        case .schema(let json):
            do {
                let schema = try CompiledSchema(json)
                keep(.compiled(schema), for: name)
                return schema
            } catch {
                keep(.none, for: name)
                throw error
            }
        }
    }

    private func keep(_ output: Output, for name: String) {
        state.withLock { state in
            // Another list may have arrived in the meantime.
            if case .schema? = state.entries[name]?.output { state.entries[name]?.output = output }
        }
    }
}
