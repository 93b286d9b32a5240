import Synchronization

/// A resource with the code that reads it.
struct ResourceEntry: Sendable {
    let resource: Resource
    let read: @Sendable (RequestContext) async throws -> [ResourceContents]
}

/// A template with the code that reads what matches it.
struct TemplateEntry: Sendable {
    let template: ResourceTemplate
    let pattern: URITemplate
    let read: @Sendable (String, [String: String], RequestContext) async throws -> [ResourceContents]
}

/// A prompt with the code that fills it in.
struct PromptEntry: Sendable {
    let prompt: Prompt
    let get: @Sendable ([String: String], RequestContext) async throws -> GetPromptResult
}

/// Everything that a server offers, at one moment. A request keeps the snapshot it started with.
final class Registry: Sendable {
    /// What can be registered, before it is frozen.
    struct Draft: Sendable {
        var tools: [ToolEntry] = []
        var resources: [ResourceEntry] = []
        var templates: [TemplateEntry] = []
        var providers: [any ResourceProvider] = []
        var prompts: [PromptEntry] = []
        var completions: [CompletionEntry] = []
        /// How a model should use the server.
        var instructions: String?
        /// Tools of others come and go: they are declared even while there are none, and nobody keeps lists.
        var toolsComeAndGo = false
    }

    let contents: Draft
    private let declared: OfferedKinds
    /// Whether there is a view, or a tool that points to one: servers declare it (MCP Apps).
    let offersUI: Bool
    private let toolNames: NameTable
    private let resourceURIs: NameTable
    private let promptNames: NameTable
    /// Encoded pages of lists, made when first asked for.
    let pages = Mutex<[ListPage.Key: ListPage]>([:])
    /// What names the contents of a list.
    let digests = Mutex<[Method: String]>([:])

    /// - Parameter declared: kinds that are offered even while there are none.
    init(_ draft: Draft, declared: OfferedKinds = []) {
        contents = draft
        self.declared = declared
        offersUI =
            draft.resources.contains { $0.resource.mimeType.map(UIExtension.isViewType) ?? false }
            || draft.tools.contains { $0.tool.meta?["ui"]?["resourceUri"] != nil }
        toolNames = NameTable(draft.tools.map(\.tool.name))
        resourceURIs = NameTable(draft.resources.map(\.resource.uri))
        promptNames = NameTable(draft.prompts.map(\.prompt.name))
    }

    var offersTools: Bool {
        declared.contains(.tools) || contents.toolsComeAndGo || !contents.tools.isEmpty
    }
    var offersPrompts: Bool { declared.contains(.prompts) || !contents.prompts.isEmpty }
    var offersCompletions: Bool { !contents.completions.isEmpty }
    var offersResources: Bool {
        declared.contains(.resources) || !contents.resources.isEmpty || !contents.templates.isEmpty
            || !contents.providers.isEmpty
    }

    /// The tool named by a JSON string, quotes included.
    @inline(__always)
    func tool(named quoted: ByteSlice) -> ToolEntry? {
        let index = unsafe quoted.withBytes { bytes -> Int? in
            unsafe toolNames.index(of: UnsafeBufferPointer(rebasing: bytes[1 ..< bytes.count - 1]))
        }
        // An escaped spelling is the same name; it only takes the slow way.
        if index == nil, quoted.contains(0x5C), let name = RawJSON(unchecked: quoted).string {
            return toolNames.index(of: name).map { contents.tools[$0] }
        }
        return index.map { contents.tools[$0] }
    }

    func resource(at uri: String) -> ResourceEntry? {
        resourceURIs.index(of: uri).map { contents.resources[$0] }
    }

    /// Whether a change of this resource can be told: it is registered, a template covers it, or a provider
    /// says so.
    func reportsChanges(of uri: String) -> Bool {
        resource(at: uri) != nil || contents.templates.contains { $0.pattern.match(uri) != nil }
            || contents.providers.contains { $0.reportsChanges(of: uri) }
    }

    func prompt(named name: String) -> PromptEntry? {
        promptNames.index(of: name).map { contents.prompts[$0] }
    }
}

/// The current registry, and the way to change it.
final class RegistryBox: Sendable {
    private struct State {
        var draft = Registry.Draft()
        var snapshot: Registry?
    }

    private let declared: OfferedKinds
    private let state: Mutex<State>

    init(instructions: String?, declared: OfferedKinds = []) {
        self.declared = declared
        var first = State()
        first.draft.instructions = instructions
        state = Mutex(first)
    }

    var current: Registry {
        state.withLock { state in
            if let snapshot = state.snapshot { return snapshot }
            let snapshot = Registry(state.draft, declared: declared)
            state.snapshot = snapshot
            return snapshot
        }
    }

    /// What is registered at this moment.
    var draft: Registry.Draft { state.withLock { $0.draft } }

    /// Changes what is offered; requests in flight keep the snapshot they started with.
    func update(
        _ change: (inout Registry.Draft) throws(RegistrationError) -> Void
    ) throws(RegistrationError) {
        try state.withLock { (state) throws(RegistrationError) in
            try change(&state.draft)
            state.snapshot = nil
        }
    }
}
