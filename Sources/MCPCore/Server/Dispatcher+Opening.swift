extension Dispatcher {
    /// Serves `server/discover` (server/discover; VER-05 to VER-09).
    func discover(_ request: Request, _ registry: Registry, _ writer: inout JSONWriter) -> Disposition {
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        writer.key("supportedVersions")
        writer.beginArray()
        for version in ProtocolVersion.known { writer.string(version.text) }
        writer.endArray()
        writeCapabilities(registry, to: &writer, for: request.revision)
        writer.member("instructions", registry.contents.instructions)
        writeCacheHints(
            options.listTTL, to: &writer, for: request, isPrivate: registry.contents.toolsComeAndGo)
        envelope.end(&writer, for: request.revision)
        return .answered(status: 200)
    }

    /// Serves `initialize` (2025-11-25 basic/lifecycle "Initialization").
    func initialize(
        _ request: Request, _ registry: Registry, _ channel: inout ServerChannel, _ writer: inout JSONWriter
    ) -> Disposition {
        if channel.session != nil {
            return fail(request, .invalidRequest("This connection is already initialized"), &writer)
        }
        guard let wanted = request.message.params?["protocolVersion"]?.string else {
            return fail(request, .invalidParams("initialize needs \"protocolVersion\", a string"), &writer)
        }
        // A client with an unsupported version receives a counter-offer, not an error (LIFE-03).
        let named = Revision.named(wanted).flatMap { $0.isModern ? nil : $0 }
        let revision = named ?? .newestLegacy
        let declared = request.message.params?["capabilities"] ?? RawJSON(unchecked: ByteSlice("{}"))
        channel.session = NegotiatedSession(
            revision: revision, abilities: ClientAbilities(declared, for: revision))
        if let stream = channel.stream.take() { attach(stream, to: channel.id) }
        envelope.begin(&writer, id: request.idBytes, for: revision)
        writer.member("protocolVersion", revision.version.text)
        writeCapabilities(registry, to: &writer, for: revision)
        writer.key("serverInfo")
        identity.write(to: &writer, for: revision)
        writer.member("instructions", registry.contents.instructions)
        envelope.end(&writer, for: revision)
        return .answered(status: 200)
    }

    /// Serves `ping` (LIFE-10).
    func pong(_ request: Request, _ writer: inout JSONWriter) -> Disposition {
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        envelope.end(&writer, for: request.revision)
        return .answered(status: 200)
    }

    /// Writes exactly the capabilities that are implemented and registered (VER-13).
    private func writeCapabilities(
        _ registry: Registry, to writer: inout JSONWriter, for revision: Revision
    ) {
        writer.key("capabilities")
        writer.beginObject()
        if registry.offersTools { writer.member("tools", ["listChanged": true] as JSONObject) }
        if registry.offersResources {
            writer.member("resources", ["subscribe": true, "listChanged": true] as JSONObject)
        }
        if registry.offersPrompts { writer.member("prompts", ["listChanged": true] as JSONObject) }
        if registry.offersCompletions, revision.has(.completionsCapability) {
            writer.emptyObject("completions")
        }
        // Any handler may log (LOG-01).
        writer.emptyObject("logging")
        let extensions = DeclaredExtension.all.filter {
            revision.has($0.needs) && $0.isOffered(self, registry)
        }
        if !extensions.isEmpty {
            let members = extensions.map { (key: $0.identifier, value: [:] as JSONValue) }
            writer.member("extensions", JSONObject(members))
        }
        writer.endObject()
    }

    /// Writes `ttlMs` and `cacheScope` (CACHE-01). Lists are public unless they contain tools that others
    /// provide, or the server knows its callers: then no cache may pass them on (AUTH-46).
    func writeCacheHints(
        _ ttl: Duration, to writer: inout JSONWriter, for request: Request, isPrivate: Bool = false
    ) {
        guard request.revision.has(.stampedResults) else { return }
        writer.member("ttlMs", isPrivate ? 0 : Int(clamping: ttl.milliseconds))
        let isPrivate = isPrivate || request.caller != nil
        if isPrivate { writer.member("cacheScope", "private") } else { writer.member("cacheScope", "public") }
    }
}

extension JSONWriter {
    mutating func emptyObject(_ name: StaticString) {
        key(name)
        beginObject()
        endObject()
    }
}

/// An extension that a server declares, without settings (basic/versioning "Extension Negotiation").
struct DeclaredExtension: Sendable {
    let identifier: String
    /// The features of the revisions in which the extension is declared.
    let needs: Revision.Features
    let isOffered: @Sendable (Dispatcher, Registry) -> Bool

    /// All extensions that this library supports.
    static let all: [DeclaredExtension] = [
        DeclaredExtension(identifier: TaskOptions.identifier, needs: .extensions) { dispatcher, _ in
            dispatcher.tasks != nil
        },
        // Hosts of every revision look for views.
        DeclaredExtension(identifier: UIExtension.identifier, needs: []) { _, registry in registry.offersUI },
    ]
}
