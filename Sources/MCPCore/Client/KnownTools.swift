import Synchronization

/// What the lists of tools have shown and calls need: which arguments are repeated in headers (HDR-15), and
/// what results look like (TOOL-15); and whether a call may be sent twice.
final class KnownTools: Sendable {
    /// Tools that are remembered; the calls of further ones are made without this knowledge.
    static let maxTools = 10_000
    /// Output schemas that are remembered, in bytes; results of further tools are not checked.
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
        /// The tool changes nothing, or nothing more when it is called again (TOOL-20).
        var isRepeatable = false
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var schemaBytes = 0
    }

    private let state = Mutex(State())

    // MARK: Learning

    /// Takes a page of a list. What is wrong with its annotations is said when the page is handed out.
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

    /// Nil for a tool of which there is nothing to remember.
    private static func entry(_ tool: RawJSON, mirrors: Bool, room: Int) -> Entry? {
        var entry = Entry()
        if mirrors, let schema = tool["inputSchema"] {
            // An annotation that cannot be used mirrors nothing.
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

    /// The tools are others now: results are not held against schemas of the past, and what they promised of
    /// a second call is void. Headers stay; a server that wants others says so (HDR-26).
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

    /// Whether the list said that calling the tool twice does no harm; false when nothing is known of it.
    func isRepeatable(_ name: String) -> Bool {
        state.withLock { $0.entries[name]?.isRepeatable ?? false }
    }

    /// The header fields that a call repeats its arguments in.
    func fields(for params: JSONObject) -> [(name: String, value: String)] {
        guard let name = params["name"]?.stringValue else { return [] }
        let plan = state.withLock { $0.entries[name]?.headers }
        return plan?.fields(for: params["arguments"]?.objectValue ?? [:]) ?? []
    }

    /// The schema that results of a tool fit; nil when none is known.
    ///
    /// - Throws: `SchemaError` the first time that a schema cannot be used; later there is none.
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
            // Another list may have come meanwhile.
            if case .schema? = state.entries[name]?.output { state.entries[name]?.output = output }
        }
    }
}
