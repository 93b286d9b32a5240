import MCPCore

/// What a server offers at one moment: its definitions, each as the server sent it, with sorted keys.
struct ServerSnapshot: Sendable, Hashable {
    /// A list of definitions.
    enum Kind: String, Sendable, CaseIterable {
        case tools, prompts, resources, resourceTemplates

        var method: String { self == .resourceTemplates ? "resources/templates/list" : "\(rawValue)/list" }
        /// The member that names a definition.
        var key: String {
            switch self {
            case .tools, .prompts: "name"
            case .resources: "uri"
            case .resourceTemplates: "uriTemplate"
            }
        }
        fileprivate func isOffered(_ capabilities: ServerCapabilities) -> Bool {
            switch self {
            case .tools: capabilities.hasTools
            case .prompts: capabilities.hasPrompts
            case .resources, .resourceTemplates: capabilities.hasResources
            }
        }
        var noun: String {
            switch self {
            case .tools: "tool"
            case .prompts: "prompt"
            case .resources: "resource"
            case .resourceTemplates: "template"
            }
        }
    }

    /// The name and version that the server declares.
    var server: String?
    var instructions: String?
    /// The definitions by name, of which two spellings of one letter are two; a list that is not known is
    /// missing.
    var definitions: [Kind: JSONObject] = [:]
    /// What could not be read, by list: an entry that this client leaves out may be there for others.
    var unreadable: [Kind: [String]] = [:]

    /// What could not be read, in the order of the lists.
    var allUnreadable: [String] { Kind.allCases.flatMap { unreadable[$0] ?? [] } }

    subscript(kind: Kind, name: String) -> JSONValue? { definitions[kind]?[name] }

    /// Asks a server for everything that it says it has.
    ///
    /// - Parameters:
    ///   - kinds: the lists to ask for. Resources come and go, so that lock files do without them.
    ///   - notesNameless: whether an entry without a name of its own is noted as one that cannot be read.
    ///     Otherwise it is an error, because it cannot be compared with another one.
    static func read(
        _ session: Session, _ kinds: [Kind] = [.tools, .prompts, .resourceTemplates],
        notesNameless: Bool = false
    ) async throws(Failure) -> ServerSnapshot {
        var snapshot = ServerSnapshot()
        snapshot.server = session.client.serverInfo.map { "\($0.name) \($0.version)" }
        snapshot.instructions = session.client.instructions
        let capabilities = session.client.serverCapabilities
        for kind in kinds {
            guard kind.isOffered(capabilities) else {
                snapshot.definitions[kind] = [:]
                continue
            }
            var found: JSONObject = [:]
            var nameless: [String] = []
            var count = 0
            do throws(Failure) {
                try await session.pages(kind.method) { page throws(Failure) in
                    let elements = try session.elements(page, kind.rawValue, method: kind.method)
                    let places = session.omissions.places(of: elements.count, responseTo: kind.method)
                    defer { count += places.total }
                    for (place, element) in zip(places.kept, elements) {
                        if let problem = add(element, to: &found, kind) {
                            let text = "\(kind.method): the entry number \(count + place + 1) \(problem)"
                            guard notesNameless else { throw .malformed(text) }
                            nameless.append(text)
                        }
                    }
                    return true
                }
            } catch {
                // Servers that have resources and no templates refuse to list these.
                guard kind == .resourceTemplates, error.rpcCode == MCPError.methodNotFoundCode else {
                    throw error
                }
            }
            snapshot.definitions[kind] = found
            let unreadable = session.omissions.texts(of: kind.method) + nameless
            if !unreadable.isEmpty { snapshot.unreadable[kind] = unreadable }
        }
        return snapshot
    }

    /// Adds a definition under its name; returns why it has no name of its own.
    private static func add(_ entry: RawJSON, to found: inout JSONObject, _ kind: Kind) -> String? {
        guard let name = entry[kind.key]?.string else { return "has no \(kind.key)" }
        // The last one would win here and the first one elsewhere.
        guard found[name] == nil else { return "is another definition of \(quoted(name))" }
        found[name] = sortedKeys(entry.value)
        return nil
    }

    /// Returns the value with the members of all objects in the order of their names.
    static func sortedKeys(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map { sortedKeys($0) })
        case .object(let members):
            .object(
                JSONObject(
                    members.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
                        .map { (key: $0.key, value: sortedKeys($0.value)) }))
        default: value
        }
    }
}
