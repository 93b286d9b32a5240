import Synchronization

/// What callers watch of the servers behind this one: each resource at the server that has it now, also after
/// another server has taken the place of that one, and after it was removed and is back.
final class UpstreamWatches: Sendable {
    private struct Wish {
        /// The principal who was the first.
        let owner: String
        /// How many watch it.
        var count = 0
        /// The server at which it is watched; nil while none has it.
        var upstream: Upstream?
        var watch: ResourceWatch?
    }

    private struct State {
        var upstreams: [Upstream] = []
        var wishes: [String: Wish] = [:]
    }

    private let state = Mutex(State())

    /// Watches a resource for as long as the returned object exists; returns nil when the server reports no
    /// changes of it, or watches as many as it may.
    func begin(_ uri: String, for principal: String, at upstream: Upstream) -> ResourceWatch? {
        let isWatched = state.withLock { state -> Bool in
            var wish = state.wishes[uri] ?? Wish(owner: principal)
            if wish.watch == nil {
                // The caller may have found a server that has just been replaced.
                let isThere = state.upstreams.contains { $0 === upstream }
                let target = isThere ? upstream : Self.server(of: uri, among: Self.offers(state.upstreams))
                wish.watch = target?.watch(uri, for: principal)
                wish.upstream = target
            }
            guard wish.watch != nil else { return false }
            wish.count += 1
            state.wishes[uri] = wish
            return true
        }
        return isWatched ? ResourceWatch { [weak self] in self?.end(uri) } : nil
    }

    private func end(_ uri: String) {
        // The watch of the server ends outside of the lock.
        let ended = state.withLock { state -> Wish? in
            state.wishes[uri]?.count -= 1
            return state.wishes[uri]?.count == 0 ? state.wishes.removeValue(forKey: uri) : nil
        }
        _ = ended
    }

    /// Moves what is watched to the servers that have it now.
    ///
    /// - Parameter current: returns the servers, in their order.
    func update(_ current: () -> [Upstream]) {
        let ended = state.withLock { state -> [ResourceWatch] in
            state.upstreams = current()
            if state.wishes.isEmpty { return [] }
            let offers = Self.offers(state.upstreams)
            var ended: [ResourceWatch] = []
            for (uri, wish) in state.wishes {
                let isThere = state.upstreams.contains { $0 === wish.upstream }
                let target = Self.server(of: uri, among: offers)
                if isThere, target == nil || target === wish.upstream { continue }
                let watch = target?.watch(uri, for: wish.owner, mayHaveChanged: true)
                if isThere, watch == nil { continue }
                if let old = wish.watch { ended.append(old) }
                state.wishes[uri]?.watch = watch
                state.wishes[uri]?.upstream = watch == nil ? nil : target
            }
            return ended
        }
        _ = ended
    }

    private static func offers(_ upstreams: [Upstream]) -> [UpstreamResources] {
        upstreams.compactMap { upstream in
            guard let definitions = upstream.definitions, definitions.reportsResourceChanges else {
                return nil
            }
            return UpstreamResources(upstream, definitions.resources, templates: definitions.templates)
        }
    }

    private static func server(of uri: String, among offers: [UpstreamResources]) -> Upstream? {
        offers.first { $0.isKnown(uri) }?.upstream
    }
}
