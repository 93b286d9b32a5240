import Synchronization

/// What callers watch of the servers behind this one: each resource at the server that has it now, also after
/// another server has taken the place of that one, and after it was removed and is back.
final class UpstreamWatches: Sendable {
    private struct Watcher {
        let principal: String
        /// The watch at the server; nil while none has the resource.
        var watch: ResourceWatch? { didSet { changes += 1 } }
        /// How often the server has changed.
        private(set) var changes = 0

        init(principal: String, watch: ResourceWatch? = nil) {
            self.principal = principal
            self.watch = watch
        }
    }

    private struct Wish {
        /// Those who watch it, by their numbers.
        var watchers: [Int: Watcher] = [:]
        /// The server at which it is watched; nil while none has it.
        var upstream: Upstream?

        /// Moves all watchers to a server. Returns the watches that have ended therefore; nil when the server
        /// reports no changes, and nothing has moved.
        mutating func move(_ uri: String, to target: Upstream?) -> [ResourceWatch]? {
            var moved = watchers
            for number in watchers.keys.sorted() {
                moved[number]?.watch = target?.watch(
                    uri, for: watchers[number]?.principal ?? "", mayHaveChanged: true)
            }
            guard moved.values.contains(where: { $0.watch != nil }) else { return nil }
            defer { (watchers, upstream) = (moved, target) }
            return watchers.values.compactMap(\.watch)
        }

        /// Forgets the server.
        mutating func forget() {
            upstream = nil
            for number in watchers.keys { watchers[number]?.watch = nil }
        }
    }

    private struct State {
        var upstreams: [Upstream] = []
        var wishes: [String: Wish] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Watches a resource for as long as the returned object exists; returns nil when the server reports no
    /// changes of it, or watches as many as it may.
    func begin(_ uri: String, for principal: String, at upstream: Upstream) -> ResourceWatch? {
        let (number, ended) = state.withLock { state -> (Int?, [ResourceWatch]) in
            var wish = state.wishes[uri] ?? Wish()
            // The caller may have found a server that has just been replaced.
            let isThere = state.upstreams.contains { $0 === upstream }
            let target =
                wish.upstream
                ?? (isThere ? upstream : Self.server(of: uri, among: Self.offers(state.upstreams)))
            let isMove = wish.upstream == nil && !wish.watchers.isEmpty
            let watch = target?.watch(uri, for: principal, mayHaveChanged: isMove)
            guard let target, let watch else { return (nil, []) }
            let ended = isMove ? wish.move(uri, to: target) ?? [] : []
            wish.upstream = target
            state.lastNumber += 1
            wish.watchers[state.lastNumber] = Watcher(principal: principal, watch: watch)
            state.wishes[uri] = wish
            return (state.lastNumber, ended)
        }
        _ = ended
        return number.map { watch(uri, $0) }
    }

    /// Watches a resource once a server has it; returns nil when too many wait for one.
    @Sendable func beginLater(_ uri: String, for principal: String) -> ResourceWatch? {
        enum Step {
            case wait(Int)
            case begin(Upstream)
        }
        let step = state.withLock { state -> Step? in
            var wish = state.wishes[uri] ?? Wish()
            // It may have come a moment ago.
            let found = wish.upstream ?? Self.server(of: uri, among: Self.offers(state.upstreams))
            if let found { return .begin(found) }
            let waiting = state.wishes.values.lazy.filter { $0.upstream == nil }.flatMap(\.watchers.values)
            let own = principal.isEmpty ? 0 : waiting.count { $0.principal == principal }
            guard waiting.count < UpstreamLimits.watched, own < UpstreamLimits.watchedByOne else {
                return nil
            }
            state.lastNumber += 1
            wish.watchers[state.lastNumber] = Watcher(principal: principal)
            state.wishes[uri] = wish
            return .wait(state.lastNumber)
        }
        return switch step {
        case .wait(let number): watch(uri, number)
        case .begin(let upstream): begin(uri, for: principal, at: upstream)
        case nil: nil
        }
    }

    private func watch(_ uri: String, _ number: Int) -> ResourceWatch {
        ResourceWatch(
            isRefused: { [weak self] in await self?.isRefused(uri, number) ?? false },
            end: { [weak self] in self?.end(uri, number) })
    }

    /// Waits for the answer of the server that has the resource then: another one may take its place.
    private func isRefused(_ uri: String, _ number: Int) async -> Bool {
        func place() -> (isRefused: (@Sendable () async -> Bool)?, changes: Int?) {
            state.withLock { state in
                let watcher = state.wishes[uri]?.watchers[number]
                // A watch that is held would not end.
                return (watcher?.watch?.isRefused, watcher?.changes)
            }
        }
        while true {
            let (answer, changes) = place()
            guard let answer else { return false }
            let isRefused = await answer()
            if Task.isCancelled || changes == place().changes { return isRefused }
        }
    }

    private func end(_ uri: String, _ number: Int) {
        // The watch of the server ends outside of the lock.
        let ended = state.withLock { state -> Watcher? in
            let ended = state.wishes[uri]?.watchers.removeValue(forKey: number)
            if state.wishes[uri]?.watchers.isEmpty == true { state.wishes[uri] = nil }
            return ended
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
                var moved = wish
                if let old = moved.move(uri, to: target) {
                    ended += old
                } else if !isThere {
                    ended += wish.watchers.values.compactMap(\.watch)
                    moved.forget()
                } else {
                    continue
                }
                state.wishes[uri] = moved
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
