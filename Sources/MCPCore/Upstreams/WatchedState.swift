/// What is watched at a server, and the subscriptions that report it.
struct WatchedState {
    struct Watched {
        /// Distinguishes it from an earlier one with the same URI.
        let number: Int
        /// How many watch it, by their principals, and the one among them for whom it counts.
        var watchers: [String: Int]
        var owner: String
        /// The number of the subscription that reports it.
        var subscription: Int?
        /// Whether the server has to be asked for it.
        var isDue = true
        /// Whether the server does not report it; it then does not keep the connection.
        var isRefused = false
        /// Whether the server has refused it, or a set that it was in: others are asked for before it.
        var isDoubtful = false
        /// Whether a change may have been missed.
        var mayHaveChanged: Bool
        /// Happens when the server has said whether it reports it, or could not be asked.
        var answer = OneTimeEvent()
        /// The time before the next attempt at the same connection.
        var pause = UpstreamLimits.refreshPause.first
    }

    /// A subscription that the server has acknowledged.
    struct Listening {
        var uris: Set<String>
        let subscription: Subscription
    }

    /// A subscription that the server is asked for.
    struct Question {
        let number: Int
        let connection: Int
        let client: MCPClient
        /// What it names; `added` is not reported yet.
        let uris: [String]
        let added: [String]
        /// Whether it replaces all others.
        let isAboutAll: Bool
        /// Whether what it adds is doubtful.
        let isDoubtful: Bool
    }

    var watched: [String: Watched] = [:]
    var lastNumber = 0
    var link: UpstreamLink?
    var keepsLink = false
    var onChange: (@Sendable (String) -> Void)?
    /// The number of the connection: the memory of a client that is gone may be that of the next one.
    var connection = 0
    private weak var client: MCPClient?
    var subscriptions: [Int: Listening] = [:]
    /// Whether a question is about to be asked, or is asked.
    var isAsking = false
    /// The number of doubtful resources that one question may add: a server that refuses some of them may
    /// refuse all.
    private var mostAdded = Int.max

    /// Begins with a new connection.
    mutating func begin(_ client: MCPClient) {
        self.client = client
        connection += 1
        subscriptions = [:]
        isAsking = false
        mostAdded = .max
        for uri in watched.keys {
            // What was subscribed, or about to be, may have changed.
            if watched[uri]?.isDue == false { watched[uri]?.mayHaveChanged = true }
            watched[uri]?.subscription = nil
            watched[uri]?.isDue = true
            watched[uri]?.isRefused = false
            watched[uri]?.isDoubtful = false
            watched[uri]?.pause = UpstreamLimits.refreshPause.first
        }
    }

    /// Returns whether a notification about a URI is one about a resource, or a part of it (RES-14).
    static func covers(_ resource: String, _ uri: String) -> Bool {
        SubscriptionFilter(resourceURIs: [resource]).wants(.resourceUpdated(uri))
    }

    // MARK: Watchers

    /// Adds a watcher. Returns the number of the resource, and whether the server has to be asked for it; nil
    /// when there are too many.
    mutating func watch(
        _ uri: String, for principal: String, mayHaveChanged: Bool
    ) -> (number: Int, isNew: Bool)? {
        if let found = watched[uri] {
            watched[uri]?.watchers[principal, default: 0] += 1
            // The server may have changed its mind.
            if found.isRefused {
                watched[uri]?.isRefused = false
                watched[uri]?.isDue = true
                watched[uri]?.answer = OneTimeEvent()
            }
            return (found.number, found.isRefused)
        }
        guard watched.count < UpstreamLimits.watched else { return nil }
        let own = principal.isEmpty ? 0 : watched.values.count { $0.owner == principal }
        guard own < UpstreamLimits.watchedByOne else { return nil }
        lastNumber += 1
        watched[uri] = Watched(
            number: lastNumber, watchers: [principal: 1], owner: principal, mayHaveChanged: mayHaveChanged)
        return (lastNumber, true)
    }

    /// Removes a watcher. Returns the subscriptions that are of no use any more.
    mutating func unwatch(_ uri: String, _ number: Int, for principal: String) -> [Subscription] {
        guard var found = watched[uri], found.number == number, let count = found.watchers[principal]
        else { return [] }
        found.watchers[principal] = count > 1 ? count - 1 : nil
        if found.watchers[found.owner] == nil {
            // Count it for the remaining watcher with the fewest resources.
            let counts = Dictionary(watched.values.map { ($0.owner, 1) }, uniquingKeysWith: +)
            let next = found.watchers.keys.min { counts[$0, default: 0] < counts[$1, default: 0] }
            guard let next else {
                watched[uri] = nil
                // Who still waits for the server looks for another one.
                found.answer.happen()
                return takeUnused()
            }
            found.owner = next
        }
        watched[uri] = found
        return []
    }

    // MARK: Questions

    var hasQuestions: Bool { client != nil && (watched.values.contains(where: \.isDue) || isTooWide) }

    /// Whether a subscription names what nobody watches.
    private var isTooWide: Bool {
        subscriptions.values.contains { listening in listening.uris.contains { watched[$0] == nil } }
    }

    /// Returns what the server is to be asked.
    mutating func takeQuestions() -> [Question] {
        guard let client else { return [] }
        let due = watched.filter(\.value.isDue)
        guard client.protocolVersion.isModern else {
            return due.keys.map { question(client, [$0], adding: [$0], isAboutAll: false, isDoubtful: false) }
        }
        guard !due.isEmpty || isTooWide else { return [] }
        let isDoubtful = !due.isEmpty && due.values.allSatisfy(\.isDoubtful)
        let next = due.filter { $0.value.isDoubtful == isDoubtful }.sorted {
            $0.value.number < $1.value.number
        }
        let added = Array(next.map(\.key).prefix(isDoubtful ? mostAdded : .max))
        let uris = Set(watched.filter { $0.value.subscription != nil }.keys).union(added)
        return uris.isEmpty
            ? [] : [question(client, uris.sorted(), adding: added, isAboutAll: true, isDoubtful: isDoubtful)]
    }

    private mutating func question(
        _ client: MCPClient, _ uris: [String], adding added: [String], isAboutAll: Bool, isDoubtful: Bool
    ) -> Question {
        lastNumber += 1
        for uri in added { watched[uri]?.isDue = false }
        return Question(
            number: lastNumber, connection: connection, client: client, uris: uris, added: added,
            isAboutAll: isAboutAll, isDoubtful: isDoubtful)
    }

    // MARK: Answers

    /// Takes a subscription. Returns what may have changed before, what the server does not report, and the
    /// subscriptions that are of no use any more.
    mutating func begin(
        _ subscription: Subscription, _ question: Question
    ) -> (changed: [String], refused: [String], unused: [Subscription]) {
        guard connection == question.connection else { return ([], [], [subscription]) }
        let accepted = Set(subscription.accepted.resourceURIs).intersection(question.uris)
        subscriptions[question.number] = Listening(uris: accepted, subscription: subscription)
        if question.isDoubtful, mostAdded < .max / 2 { mostAdded *= 2 }
        var (changed, refused): ([String], [String]) = ([], [])
        for uri in question.uris where watched[uri] != nil {
            guard accepted.contains(uri) else {
                refused.append(uri)
                continue
            }
            if watched[uri]?.mayHaveChanged == true { changed.append(uri) }
            watched[uri]?.subscription = question.number
            watched[uri]?.isDue = false
            watched[uri]?.isRefused = false
            watched[uri]?.isDoubtful = false
            watched[uri]?.mayHaveChanged = false
            watched[uri]?.answer.happen()
        }
        refuse(refused)
        return (changed, refused, takeUnused())
    }

    /// Compares a subscription that was made again with what it was before. Returns what the server does not
    /// report any more, and the subscriptions that are of no use any more.
    mutating func resume(
        _ subscription: Subscription, _ question: Question
    ) -> (refused: [String], unused: [Subscription]) {
        guard connection == question.connection else { return ([], []) }
        let accepted = Set(subscription.accepted.resourceURIs)
        let refused = question.uris.filter { uri in
            watched[uri]?.subscription == question.number && !accepted.contains(uri)
        }
        refuse(refused)
        return (refused, takeUnused())
    }

    /// Lets the connection go for resources that the server does not report; the next one asks again.
    private mutating func refuse(_ uris: [String]) {
        for uri in uris {
            watched[uri]?.subscription = nil
            watched[uri]?.isRefused = true
            watched[uri]?.isDoubtful = true
            watched[uri]?.mayHaveChanged = true
            watched[uri]?.answer.happen()
        }
    }

    /// Records a question without a subscription; without a refusal, the server may have one later. Returns
    /// what has to be asked for again.
    mutating func fail(_ question: Question, _ refusal: MCPError?) -> [String] {
        guard connection == question.connection else { return [] }
        if question.isAboutAll {
            // What nobody watches any more stays in the old subscription.
            for number in subscriptions.keys { subscriptions[number]?.uris.formIntersection(watched.keys) }
        }
        let left = question.added.filter { watched[$0]?.subscription == nil && watched[$0]?.isDue == false }
        if let refusal, question.added.count > 1, refusal.code != MCPError.methodNotFoundCode {
            // One of them may be the reason.
            mostAdded = question.added.count / 2
            for uri in left {
                watched[uri]?.isDue = true
                watched[uri]?.isDoubtful = true
            }
            return []
        }
        if refusal != nil { refuse(left) }
        for uri in left { watched[uri]?.answer.happen() }
        // A watcher may rely on it already.
        for uri in left { watched[uri]?.mayHaveChanged = true }
        return left
    }

    /// Removes a subscription that has ended. Returns what is not reported therefore.
    mutating func end(_ question: Question) -> [String] {
        guard connection == question.connection else { return [] }
        subscriptions[question.number] = nil
        let ended = question.uris.filter { watched[$0]?.subscription == question.number }
        for uri in ended {
            watched[uri]?.subscription = nil
            watched[uri]?.mayHaveChanged = true
        }
        return ended
    }

    /// Returns the subscriptions that report nothing that is watched, and forgets them.
    mutating func takeUnused() -> [Subscription] {
        let used = Set(watched.values.compactMap(\.subscription))
        let unused = subscriptions.filter { !used.contains($0.key) }
        for number in unused.keys { subscriptions[number] = nil }
        return unused.values.map(\.subscription)
    }

    // MARK: Attempts

    /// Returns the pause before resources are asked for again, with their numbers, and makes the next one
    /// longer.
    mutating func pause(
        before uris: [String], _ question: Question, after time: Duration
    ) -> (Duration, UpstreamLink, [String: Int])? {
        guard connection == question.connection, let link else { return nil }
        let first = UpstreamLimits.refreshPause.first
        guard let longest = uris.compactMap({ watched[$0]?.pause }).max() else { return nil }
        let pause = time < UpstreamLimits.goodRun ? longest : first
        for uri in uris { watched[uri]?.pause = min(pause * 2, UpstreamLimits.refreshPause.longest) }
        let numbers = uris.compactMap { uri in watched[uri].map { (uri, $0.number) } }
        return (pause, link, Dictionary(numbers) { $1 })
    }

    /// Lets nobody wait for a server that is away.
    func cannotAsk() { for found in watched.values where found.isDue { found.answer.happen() } }

    /// Asks again for what the server refused.
    mutating func refusedAreDue() {
        for (uri, found) in watched where found.isRefused { watched[uri]?.isDue = true }
    }

    /// Asks for those of the resources again that are not reported.
    mutating func isDue(_ numbers: [String: Int], _ connection: Int) {
        guard self.connection == connection else { return }
        for (uri, number) in numbers {
            guard let found = watched[uri], found.number == number, found.subscription == nil else {
                continue
            }
            watched[uri]?.isDue = true
        }
    }
}
