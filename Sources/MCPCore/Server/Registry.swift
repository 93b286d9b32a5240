import Synchronization

/// A resource with the code that reads it.
struct ResourceEntry: Sendable {
    let resource: Resource
    let read: @Sendable (RequestContext) async throws -> [ResourceContents]
}

/// A template with the code that reads the resources that match it.
struct TemplateEntry: Sendable {
    let template: ResourceTemplate
    let pattern: URITemplate
    let read: @Sendable (String, [String: String], RequestContext) async throws -> [ResourceContents]
}

/// A prompt with the code that fills it in.
struct PromptEntry: Sendable {
    let prompt: Prompt
    let get: @Sendable ([String: String], RequestContext) async throws -> GetPromptResult
    /// Whether the prompt is one of another server.
    var isForwarded = false
}

/// Everything that a server offers at one moment. A request keeps the snapshot that it started with.
final class Registry: Sendable {
    /// The contents of a registry, before it is frozen.
    struct Draft: Sendable {
        var tools: [ToolEntry] = []
        var resources: [ResourceEntry] = []
        var templates: [TemplateEntry] = []
        var providers: [any ResourceProvider] = []
        var prompts: [PromptEntry] = []
        var completions: [CompletionEntry] = []
        /// Instructions for a model that uses the server.
        var instructions: String?
        /// Whether others provide tools that come and go: tools are then declared even while there are none,
        /// and clients do not cache lists.
        var toolsComeAndGo = false
        /// The entries of other servers that are still expected; nil without other servers.
        var arrivals: Arrivals?
        /// Watches a resource that one of them may have, for a principal; nil when all have arrived.
        var watchLater: (@Sendable (_ uri: String, _ principal: String) -> ResourceWatch?)?
    }

    let contents: Draft
    let declared: OfferedKinds
    /// Whether there is a view, or a tool that refers to one, which servers declare (MCP Apps).
    let offersUI: Bool
    private let toolNames: NameTable
    private let resourceURIs: NameTable
    private let promptNames: NameTable
    /// The encoded pages of lists, created on first request.
    let pages = Mutex<[ListPage.Key: ListPage]>([:])
    /// The parts of this registry that callers see, by `AccessRights.viewKey`.
    let views = Mutex(BoundedTable<String, Registry>(capacity: maxViews, policy: .evictLeastRecentlyUsed))
    /// The maximum number of views that are remembered; the least recently used one is made again.
    static let maxViews = 64
    /// Whether a tool requires scopes.
    let hasScopedTools: Bool
    /// The digests of the contents of lists.
    let digests = Mutex<[Method: String]>([:])

    /// - Parameter declared: the kinds that are offered even while they have no entries.
    init(_ draft: Draft, declared: OfferedKinds = []) {
        contents = draft
        self.declared = declared
        offersUI =
            draft.resources.contains { $0.resource.mimeType.map(UIExtension.isViewType) ?? false }
            || draft.tools.contains { $0.tool.meta?["ui"]?["resourceUri"] != nil }
        hasScopedTools = draft.tools.contains { !$0.scopes.isEmpty }
        toolNames = NameTable(draft.tools.map(\.tool.name))
        resourceURIs = NameTable(draft.resources.map(\.resource.uri))
        promptNames = NameTable(draft.prompts.map(\.prompt.name))
    }

    /// Whether entries of other servers may come and go, so that every kind is declared.
    private var hasOtherServers: Bool { contents.arrivals != nil }

    var offersTools: Bool {
        declared.contains(.tools) || contents.toolsComeAndGo || hasOtherServers || !contents.tools.isEmpty
    }
    var offersPrompts: Bool { declared.contains(.prompts) || hasOtherServers || !contents.prompts.isEmpty }
    var offersCompletions: Bool { hasOtherServers || !contents.completions.isEmpty }
    var offersResources: Bool {
        declared.contains(.resources) || hasOtherServers || !contents.resources.isEmpty
            || !contents.templates.isEmpty || !contents.providers.isEmpty
    }

    /// Returns the tool that a JSON string, including its quotes, names.
    @inline(__always)
    func tool(named quoted: ByteSlice) -> ToolEntry? {
        let index = unsafe quoted.withBytes { bytes -> Int? in
            unsafe toolNames.index(of: UnsafeBufferPointer(rebasing: bytes[1 ..< bytes.count - 1]))
        }
        // A name with escapes is the same name; it only takes the slow path.
        if index == nil, quoted.contains(0x5C), let name = RawJSON(unchecked: quoted).string {
            return toolNames.index(of: name).map { contents.tools[$0] }
        }
        return index.map { contents.tools[$0] }
    }

    func resource(at uri: String) -> ResourceEntry? {
        resourceURIs.index(of: uri).map { contents.resources[$0] }
    }

    /// The source of reports about changes of a resource.
    enum ChangeReports: Sendable {
        case own
        case forwarded(ResourceWatch)
    }

    /// Begins to watch a resource for a principal who may use it. Returns nil when its changes cannot be
    /// reported: it is not registered, no template matches it, and no provider reports its changes.
    func watch(_ uri: String, for principal: String) -> ChangeReports? {
        if resource(at: uri) != nil || contents.templates.contains(where: { $0.pattern.match(uri) != nil }) {
            return .own
        }
        for provider in contents.providers {
            if let other = provider as? any ForwardedResources {
                if let watch = other.watch(uri, for: principal) { return .forwarded(watch) }
            } else if provider.reportsChanges(of: uri) {
                return .own
            }
        }
        return nil
    }

    func prompt(named name: String) -> PromptEntry? {
        promptNames.index(of: name).map { contents.prompts[$0] }
    }
}

/// The current registry, and the means to change it.
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

    /// The contents that are registered at this moment.
    var draft: Registry.Draft { state.withLock { $0.draft } }

    /// Changes what is offered; requests in flight keep the snapshot that they started with.
    func update(
        _ change: (inout Registry.Draft) throws(RegistrationError) -> Void
    ) throws(RegistrationError) {
        try state.withLock { (state) throws(RegistrationError) in
            try change(&state.draft)
            state.snapshot = nil
        }
    }
}
