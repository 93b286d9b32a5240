/// `resources/list` and `resources/read` (server/resources).
extension Dispatcher {
    /// The maximum length of a URI that is considered, in bytes.
    static let maxURIBytes = 8192

    // MARK: Listing

    func listResources(
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        var registry = registry
        if let arrivals = registry.contents.arrivals {
            if !arrivals.isOver { return listResources(request, after: arrivals, &writer, sink) }
            // They may have ended after this registry was taken.
            registry = self.registry.current.view(of: request.caller)
        }
        if registry.contents.providers.isEmpty { return list(request, registry, &writer) }
        let place: Place
        do {
            place = try self.place(of: cursor(of: request), registry, request.principalKey)
        } catch {
            return fail(request, error, &writer)
        }
        return `defer`(request, timeout: nil, &writer, sink) { [self, registry] deferred in
            do {
                let page = try await page(at: place, registry)
                return answer { write(page, for: request, &$0) }
            } catch {
                return answer { fail(request, publicError(error, "resources/list"), &$0) }
            }
        }
    }

    /// Serves the list once the resources of other servers that are expected have arrived.
    private func listResources(
        _ request: Request, after arrivals: Arrivals, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        `defer`(request, timeout: nil, &writer, sink) { [self] deferred in
            guard await everything(after: arrivals, for: deferred, within: Arrivals.longestList) else {
                return nil
            }
            let registry = registry.current.view(of: request.caller)
            if registry.contents.providers.isEmpty { return answer { list(request, registry, &$0) } }
            do {
                let place = try place(of: cursor(of: request), registry, request.principalKey)
                let page = try await page(at: place, registry)
                return answer { write(page, for: request, &$0) }
            } catch {
                return answer { fail(request, publicError(error, "resources/list"), &$0) }
            }
        }
    }

    private func write(
        _ page: (resources: [Resource], next: String?), for request: Request, _ writer: inout JSONWriter
    ) -> Disposition {
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        writer.key("resources")
        writer.array(page.resources, for: request.revision)
        writer.member(
            "nextCursor", page.next.map { cursors.seal($0, for: .resourcesList, of: request.principalKey) })
        writeCacheHints(options.listTTL, to: &writer, for: request)
        envelope.end(&writer, for: request.revision)
        return .answered(status: 200)
    }

    /// A position in the chain of sources: the registered resources first, then each provider.
    private struct Place {
        var source: Int
        var cursor: String?
    }

    private func place(
        of cursor: String?, _ registry: Registry, _ principal: String
    ) throws(MCPError) -> Place {
        guard let cursor else { return Place(source: registry.contents.resources.isEmpty ? 1 : 0) }
        guard let payload = cursors.open(cursor, for: .resourcesList, of: principal),
            let colon = payload.firstIndex(of: ":"), let source = Int(payload[..<colon]),
            (0 ... registry.contents.providers.count).contains(source)
        else { throw Self.badCursor }
        let rest = String(payload[payload.index(after: colon)...])
        return Place(source: source, cursor: rest.isEmpty ? nil : rest)
    }

    private func page(
        at place: Place, _ registry: Registry
    ) async throws -> (resources: [Resource], next: String?) {
        let limit = max(1, options.limits.pageSize)
        if place.source == 0 {
            let all = registry.contents.resources
            let offset = place.cursor.flatMap { Int($0) } ?? 0
            guard offset >= 0, offset <= all.count else { throw Self.badCursor }
            let end = min(all.count, offset + limit)
            let next = end < all.count ? "0:\(end)" : "1:"
            return (all[offset ..< end].map(\.resource), next)
        }
        let provider = registry.contents.providers[place.source - 1]
        let (resources, inner) = try await provider.resources(after: place.cursor, limit: limit)
        if let inner { return (resources, "\(place.source):\(inner)") }
        let isLast = place.source == registry.contents.providers.count
        return (resources, isLast ? nil : "\(place.source + 1):")
    }

    // MARK: Reading

    func readResource(
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        guard let uri = request.message.raw(request.message.head.uri)?.string else {
            return fail(request, .invalidParams("resources/read needs \"uri\", a string"), &writer)
        }
        guard Self.isAddress(uri) else {
            return fail(
                request,
                .invalidParams(
                    "\"uri\" must be a URI of at most \(Self.maxURIBytes) bytes, without white space"
                ),
                &writer)
        }
        if let error = refusal(request, on: uri, hiding: .resourceNotFound(uri)) {
            return fail(request, error, &writer)
        }
        // Other servers have time limits of their own, by which they are known to hang.
        let isForwarded =
            registry.resource(at: uri) == nil
            && registry.contents.providers.contains { $0 is any ForwardedResources }
        let timeout = isForwarded ? Arrivals.longestCall : nil
        return `defer`(request, timeout: timeout, &writer, sink) { [self] deferred in
            do {
                let context = RequestContext(request, deferred)
                guard let contents = try await read(uri, registry, context), !contents.isEmpty else {
                    return answer { fail(request, .resourceNotFound(uri), &$0) }
                }
                // A result that depends on answers is not the same for the next reader.
                let ttl = deferred.hasAsked ? .zero : options.readTTL
                return answer { write(contents, keptFor: ttl, for: request, &$0) }
            } catch {
                return answer { fail(request, publicError(error, "resources/read"), &$0) }
            }
        }
    }

    static func isAddress(_ uri: String) -> Bool {
        let bytes = uri.utf8
        return !bytes.isEmpty && bytes.count <= maxURIBytes && uri.contains(":")
            && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    private func read(
        _ uri: String, _ registry: Registry, _ context: RequestContext
    ) async throws -> [ResourceContents]? {
        if let entry = registry.resource(at: uri) { return try await entry.read(context) }
        for entry in registry.contents.templates {
            if let variables = entry.pattern.match(uri) {
                return try await entry.read(uri, variables, context)
            }
        }
        // Another server that lists the URI has it, whichever server comes first.
        let providers = registry.contents.providers
        let isUnknown = providers.map { ($0 as? any ForwardedResources)?.isKnown(uri) == false }
        var failure: (any Error)?
        for isLast in [false, true] {
            for (provider, isUnknown) in zip(providers, isUnknown) where isUnknown == isLast {
                do {
                    if let contents = try await provider.read(uri, context) { return contents }
                } catch  where isUnknown && !(error is InputPending) && !(error is CancellationError) {
                    // A server that is away must not hide the resources of the next one.
                    failure = failure ?? error
                }
            }
        }
        if let arrivals = registry.contents.arrivals {
            guard await everything(after: arrivals, for: context.call) else { throw CancellationError() }
            // They may also have ended after this registry was taken.
            let current = self.registry.current
            if current !== registry { return try await read(uri, current, context) }
        }
        // Nobody can tell whether it is a resource of that server.
        if let failure { throw failure }
        return nil
    }

    private func write(
        _ contents: [ResourceContents], keptFor ttl: Duration, for request: Request,
        _ writer: inout JSONWriter
    ) -> Disposition {
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        writer.key("contents")
        writer.array(contents, for: request.revision)
        if request.revision.has(.stampedResults) {
            writer.member("ttlMs", Int(clamping: ttl.milliseconds))
            // The contents may be for one caller only; lists are the same for all callers.
            writer.member("cacheScope", "private")
        }
        return close(request, from: mark, meta: nil, &writer)
    }

    /// Returns an error as the peer may see it: a JSON-RPC error as it is, any other error without its text.
    func publicError(_ error: any Error, _ method: String) -> MCPError {
        if let error = error as? MCPError { return error.peerFailure.map { .internalError($0) } ?? error }
        // Never sent: the questions are the response.
        if let pending = error as? InputPending { return .internalError(pending.description) }
        log("\(method) failed: \(error)")
        return .internalError("\(method) failed")
    }
}
