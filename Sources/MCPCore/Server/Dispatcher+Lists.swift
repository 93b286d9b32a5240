import Synchronization

/// `tools/list`, `prompts/list`, `resources/templates/list` and the static part of `resources/list`
/// (server/utilities/pagination).
extension Dispatcher {
    /// Serves a list, once the entries of other servers that are expected have arrived.
    func list(
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        guard let arrivals = registry.contents.arrivals else { return list(request, registry, &writer) }
        if arrivals.isOver {
            // They may have ended after this registry was taken.
            return list(request, self.registry.current.view(of: request.caller), &writer)
        }
        return `defer`(request, timeout: nil, &writer, sink) { [self] deferred in
            guard await everything(after: arrivals, for: deferred, within: Arrivals.longestList) else {
                return nil
            }
            return answer { list(request, self.registry.current.view(of: request.caller), &$0) }
        }
    }

    func list(_ request: Request, _ registry: Registry, _ writer: inout JSONWriter) -> Disposition {
        let list = request.verdict.entry.method
        let offset: Int
        do {
            offset = try self.offset(
                in: list, cursor: cursor(of: request), registry, of: request.principalKey)
        } catch {
            return fail(request, error, &writer)
        }
        let page = page(list, from: offset, registry, request.revision)
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        writer.rawMembers(page.members)
        if let next = page.next {
            writer.member("nextCursor", cursors.seal(next, for: list, of: request.principalKey))
        }
        writeCacheHints(
            options.listTTL, to: &writer, for: request, isPrivate: registry.contents.toolsComeAndGo)
        envelope.end(&writer, for: request.revision)
        return .answered(status: 200)
    }

    /// Returns the cursor of a list request; an empty string is a cursor, null is not (PAGE-04).
    func cursor(of request: Request) throws(MCPError) -> String? {
        guard let raw = request.message.params?["cursor"], !raw.isNull else { return nil }
        guard let text = raw.string else { throw .invalidParams("\"cursor\" must be a string") }
        return text
    }

    func offset(
        in list: Method, cursor: String?, _ registry: Registry, of principal: String = ""
    ) throws(MCPError) -> Int {
        guard let cursor else { return 0 }
        guard let payload = cursors.open(cursor, for: list, of: principal) else { throw Self.badCursor }
        let parts = payload.split(separator: ".")
        guard parts.count == 2, let offset = Int(parts[0]), offset > 0, offset < registry.count(of: list)
        else { throw Self.badCursor }
        guard registry.digest(of: list) == parts[1] else {
            throw .invalidParams("The list has changed; start again without a cursor")
        }
        return offset
    }

    static var badCursor: MCPError { .invalidParams("Invalid cursor") }

    /// Returns the page, encoded now or earlier.
    private func page(
        _ list: Method, from offset: Int, _ registry: Registry, _ revision: Revision
    ) -> ListPage {
        let key = ListPage.Key(list: list, revision: revision.index, offset: offset)
        let isStable = registry.isStable(list)
        if isStable, let page = registry.pages.withLock({ $0[key] }) { return page }
        let count = registry.count(of: list)
        let end = min(count, offset + max(1, options.limits.pageSize))
        var writer = JSONWriter()
        writer.key(list.listMember)
        registry.write(list, offset ..< end, to: &writer, for: revision)
        let next = end < count ? "\(end).\(registry.digest(of: list))" : nil
        let page = ListPage(members: writer.finish(), next: next)
        if isStable { registry.pages.withLock { $0[key] = page } }
        return page
    }
}
