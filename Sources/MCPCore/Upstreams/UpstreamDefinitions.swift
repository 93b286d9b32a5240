import Synchronization

/// What a server behind this one offers, as it was last read: checked, cleaned and limited.
struct UpstreamDefinitions: Sendable {
    var tools: [Tool] = []
    var prompts: [Prompt] = []
    var resources: [Resource] = []
    var templates: [ResourceTemplate] = []
    /// What is left out, and why.
    var notes: [String] = []
    /// Whether there are resources, which need not be listed.
    var hasResources = false
    var reportsResourceChanges = false
    var completes = false

    /// Reads the lists of a connected server; a list that cannot be read keeps its `old` entries.
    ///
    /// - Parameters:
    ///   - pins: what the entries must be, other than resources, which come and go; nil accepts any.
    ///   - secrets: what the notes must not contain.
    static func read(
        from client: MCPClient, old: UpstreamDefinitions?, pins: UpstreamPins? = nil,
        hiding secrets: UpstreamSecrets = UpstreamSecrets()
    ) async -> UpstreamDefinitions {
        var new = UpstreamDefinitions()
        let capabilities = client.serverCapabilities.json
        new.reportsResourceChanges =
            client.protocolVersion.isModern
            ? capabilities["resources"] != nil
            : capabilities["resources"]?["subscribe"]?.boolValue == true
        new.completes = capabilities["completions"] != nil || !client.protocolVersion.isModern
        if capabilities["tools"] != nil {
            var list = UpstreamList(client, secrets, "tools/list", "tools", limit: UpstreamLimits.tools)
            list.pinned = pins?.tools
            new.tools = await list.read(Tool.init(json:), else: old?.tools ?? []) { $0.name }
            new.tools = new.tools.compactMap { list.checked($0) }
            new.notes += list.notes
        }
        if capabilities["prompts"] != nil {
            var list = UpstreamList(client, secrets, "prompts/list", "prompts", limit: UpstreamLimits.prompts)
            list.pinned = pins?.prompts
            new.prompts = await list.read(Prompt.init(json:), else: old?.prompts ?? []) { $0.name }
            new.notes += list.notes
        }
        new.hasResources = capabilities["resources"] != nil
        if new.hasResources {
            var list = UpstreamList(
                client, secrets, "resources/list", "resources", limit: UpstreamLimits.resources)
            new.resources = await list.read(Resource.init(json:), else: old?.resources ?? []) { $0.uri }
            new.resources = new.resources.filter { list.canBeRead($0.uri) }
            new.notes += list.notes
            list = UpstreamList(
                client, secrets, "resources/templates/list", "resourceTemplates",
                limit: UpstreamLimits.templates)
            list.isOptional = true
            list.pinned = pins?.templates
            new.templates = await list.read(ResourceTemplate.init(json:), else: old?.templates ?? []) {
                $0.uriTemplate
            }
            new.notes += list.notes
        }
        new.clean()
        return new
    }

    /// Returns what stays listed of an earlier server of the same name until the present one has answered:
    /// what must be as it was reviewed was so before.
    ///
    /// - Parameters:
    ///   - old: what the entries had to be; nil for anything.
    ///   - new: what they must be now.
    func kept(reviewed old: UpstreamPins?, now new: UpstreamPins?) -> UpstreamDefinitions {
        var kept = self
        kept.notes = []
        guard let new else { return kept }
        kept.tools.removeAll { new.tools[$0.name] == nil || new.tools[$0.name] != old?.tools[$0.name] }
        kept.prompts.removeAll {
            new.prompts[$0.name] == nil || new.prompts[$0.name] != old?.prompts[$0.name]
        }
        kept.templates.removeAll {
            let uri = $0.uriTemplate
            return new.templates[uri] == nil || new.templates[uri] != old?.templates[uri]
        }
        return kept
    }

    func isSame(as other: UpstreamDefinitions) -> Bool {
        tools == other.tools && prompts == other.prompts && resources == other.resources
            && templates == other.templates && hasResources == other.hasResources
            && completes == other.completes
            && reportsResourceChanges == other.reportsResourceChanges
    }

    private mutating func clean() {
        func cleaned(_ text: String?) -> String? { text?.cleaned(maxBytes: UpstreamLimits.textBytes) }
        for index in tools.indices {
            tools[index].title = cleaned(tools[index].title)
            tools[index].description = cleaned(tools[index].description)
        }
        for index in prompts.indices {
            prompts[index].title = cleaned(prompts[index].title)
            prompts[index].description = cleaned(prompts[index].description)
        }
        for index in resources.indices {
            resources[index].name = resources[index].name.cleanedLine(maxBytes: UpstreamLimits.textBytes)
            resources[index].title = cleaned(resources[index].title)
            resources[index].description = cleaned(resources[index].description)
        }
        for index in templates.indices {
            templates[index].name = templates[index].name.cleanedLine(maxBytes: UpstreamLimits.textBytes)
            templates[index].title = cleaned(templates[index].title)
            templates[index].description = cleaned(templates[index].description)
        }
    }
}

/// The reader of one list of a server, within limits.
private struct UpstreamList {
    private let client: MCPClient
    private let secrets: UpstreamSecrets
    private let method: String
    private let member: String
    private let limit: Int
    /// Whether a server may answer that it has no such list.
    var isOptional = false
    /// The only definitions that are accepted, by name; nil accepts any.
    var pinned: [String: JSONValue]?
    private(set) var notes: [String] = []

    init(
        _ client: MCPClient, _ secrets: UpstreamSecrets, _ method: String, _ member: String, limit: Int
    ) {
        self.client = client
        self.secrets = secrets
        self.method = method
        self.member = member
        self.limit = limit
    }

    private mutating func note(_ text: String) {
        if notes.count < 20 { notes.append(secrets.mask(text).cleanedLine(maxBytes: 300)) }
    }

    /// Returns the entries, the first of each name only.
    mutating func read<T: Sendable>(
        _ make: (JSONValue) throws(JSONError) -> T, else old: [T], name: (T) -> String
    ) async -> [T] {
        var entries: [T] = []
        var (names, cursors): (Set<String>, Set<String>) = ([], [])
        var cursor: String?
        var bytes = 0
        let omissions = Omissions()
        for page in 1 ... UpstreamLimits.pages {
            let result: RawJSON
            do {
                var options = CallOptions()
                options.usesCache = false
                options.onOmission = { text in omissions.add(text) }
                result = try await client.request(
                    method, cursor.map { ["cursor": .string($0)] } ?? [:], options: options)
            } catch {
                let isMissing = (error as? MCPError)?.code == MCPError.methodNotFoundCode
                if isMissing, isOptional || page > 1 { return entries }
                note("\(method) failed: \((error as? ClientError)?.message ?? "\(error)")")
                // The first pages are better than nothing.
                return old.isEmpty ? entries : old
            }
            for text in omissions.take() { note("\(method): \(text)") }
            bytes += result.bytes.count
            if bytes > UpstreamLimits.listBytes {
                note("\(method): more than \(UpstreamLimits.listBytes >> 20) MiB; the rest is left out")
                return entries
            }
            for element in result[member]?.elements ?? [] {
                guard entries.count < limit else {
                    note("\(method): more than \(limit) entries; the rest is left out")
                    return entries
                }
                guard hasUsableSize(element) else { continue }
                do throws(JSONError) {
                    let entry = try make(element.value)
                    guard isAccepted(element.value, as: name(entry)) else { continue }
                    if names.insert(name(entry)).inserted {
                        entries.append(entry)
                    } else {
                        note("\(method): \"\(name(entry))\" is listed twice; the first one is used")
                    }
                } catch {
                    note("\(method): an entry is left out: \(error)")
                }
            }
            guard let next = result["nextCursor"]?.string else { return entries }
            guard cursors.insert(next).inserted else {
                note("\(method): the list repeats its cursor; the rest is left out")
                return entries
            }
            cursor = next
        }
        note("\(method): more than \(UpstreamLimits.pages) pages; the rest is left out")
        return entries
    }

    private mutating func hasUsableSize(_ element: RawJSON) -> Bool {
        if element.bytes.count <= UpstreamLimits.definitionBytes { return true }
        let name = element["name"]?.string ?? ""
        note("\(method): \"\(name)\" is larger than \(UpstreamLimits.definitionBytes >> 10) KiB")
        return false
    }

    /// Returns whether a definition is as it was reviewed.
    private mutating func isAccepted(_ definition: JSONValue, as name: String) -> Bool {
        guard let pinned, pinned[name] != definition else { return true }
        let reason = pinned[name] == nil ? "is not in the lock file" : "differs from the lock file"
        note("\(method): \"\(name)\" is left out: it \(reason)")
        return false
    }

    /// Returns whether callers can name a resource.
    mutating func canBeRead(_ uri: String) -> Bool {
        if Dispatcher.isAddress(uri) { return true }
        note("\(method): \"\(uri)\" is left out: it is no URI that callers could read")
        return false
    }

    /// Returns a tool that callers can use, or nil.
    mutating func checked(_ tool: Tool) -> Tool? {
        var tool = tool
        guard case .object(var schema) = tool.inputSchema else {
            note("the tool \(tool.name) is left out: its input schema is not an object")
            return nil
        }
        if schema["type"] == nil { schema["type"] = "object" }
        guard schema["type"]?.stringValue == "object" else {
            note("the tool \(tool.name) is left out: its input schema does not describe an object")
            return nil
        }
        tool.inputSchema = .object(schema)
        do {
            _ = try HeaderPlan(tool.inputSchema)
        } catch {
            note("the tool \(tool.name) is left out: x-mcp-header in its input schema: \(error)")
            return nil
        }
        return tool
    }
}

/// What a response lacks, from the thread that received it.
private final class Omissions: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    func take() -> [String] {
        texts.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }
}
