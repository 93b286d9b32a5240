import MCPCore

/// `watch`: prints a line for each change that the server reports, until it is stopped.
struct WatchCommand {
    let session: Session
    private var options: Options { session.options }

    /// The number of addresses that are named because they are not watched.
    private static let maxNotes = 10

    /// Watches for changes.
    ///
    /// - Parameter uris: the resources to watch; none means the lists of tools, prompts and resources.
    func run(_ uris: [String]) async throws(Failure) {
        try options.exec?.check(session.environment)
        let filter = uris.isEmpty ? SubscriptionFilter.lists : SubscriptionFilter(resourceURIs: uris)
        do {
            // No call is made, so there is no response with which a change could arrive.
            let subscription = try await session.client.listen(filter, needsStream: true)
            try report(filter, subscription)
            var left = options.eventCount ?? .max
            var strange = 0
            for try await change in subscription {
                if case .resourceUpdated(let uri) = change, !WatchedAddress.covers(uri, uris) {
                    strange += 1
                    if strange <= Self.maxNotes {
                        session.console.note("ignored: \(quoted(uri)) is not below what is watched")
                    }
                    continue
                }
                await show(change)
                left -= 1
                // The reader has gone away, as with `head`; a full disk is reported at the end.
                if left == 0 || session.console.stdout.isClosed { return await subscription.cancel() }
            }
            session.console.note("the server ended the subscription")
        } catch let failure as Failure {
            throw failure
        } catch let error as MCPError where error.code == MCPError.methodNotFoundCode {
            throw Failure(
                code: .protocolError, kind: .rpcError, message: "the server sends no change notifications",
                details: ["sent: \(method) (\(session.identity))"],
                hint: "ask it again instead: \(session.invocation.line("tools", []))", rpc: error)
        } catch let error as ClientError where error.kind == .httpStatus {
            var failure = FailureMapping.failure(
                error, method: "watch", subject: nil, invocation: session.invocation)
            // One with a hint of its own was there, and is gone.
            if error.hint == nil {
                failure.details.append("change notifications are not available here (\(session.identity))")
                failure.hint = failure.hint ?? "another transport or a newer revision may provide them"
            }
            throw failure
        } catch {
            throw FailureMapping.failure(
                error, method: method, subject: nil, invocation: session.invocation)
        }
    }

    /// The request that subscribes.
    private var method: String {
        session.client.protocolVersion.isModern ? "subscriptions/listen" : "resources/subscribe"
    }

    /// Reports once which changes the server does not notify about (SUB-06).
    private func report(_ wanted: SubscriptionFilter, _ subscription: Subscription) throws(Failure) {
        let (all, reported) = (Self.names(wanted), Set(Self.names(subscription.accepted)))
        let missing = all.filter { !reported.contains($0) }.map { inlineText($0) }
        // What it reports without having been asked is not shown.
        if missing.count == all.count {
            throw Failure(
                code: .protocolError, kind: .protocolError,
                message: "the server does not notify about: \(missing.joined(separator: ", "))",
                details: ["there is nothing to watch (\(session.identity))"],
                hint: wanted.resourceURIs.first.map { uri in
                    "read it again instead: "
                        + session.invocation.line("read", [inlineText(ShellWord.quote(uri))])
                })
        }
        if !missing.isEmpty {
            session.console.note("the server does not notify about: \(missing.joined(separator: ", "))")
        }
        // That changes cannot be received has been said, or is about to be.
        if session.client.outage == nil, !subscription.isOver {
            session.console.note(session.console.noteStyle.dim("watching \(session.identity)"))
        }
    }

    /// The names of the lists, and the addresses, which no list is called like.
    private static func names(_ filter: SubscriptionFilter) -> [String] {
        let lists = [
            ("tools", filter.toolsListChanged), ("prompts", filter.promptsListChanged),
            ("resources", filter.resourcesListChanged),
        ]
        return lists.filter(\.1).map(\.0) + filter.resourceURIs
    }

    private func show(_ change: ServerChange) async {
        let event = WatchEvent(change)
        let outcome = await options.exec.asyncMap { await $0.run(event, printingTo: session.console) }
        if options.json {
            var object = event.json
            if let outcome { object["exec"] = .string(outcome) }
            session.console.json(RawJSON(.object(object)))
        } else {
            let time = WallTime.now.description.split(separator: "T").last?.prefix(8) ?? ""
            let suffix = outcome.map { "  → \($0)" } ?? ""
            session.console.line("\(time) \(event.text)\(suffix)")
        }
    }
}

/// The addresses about which a server may tell: those that are watched, and those below them.
enum WatchedAddress {
    /// Whether an address is one of the watched ones, or one below them, as it is written and as a program
    /// may decode it: without `..`, line ends and characters that nobody sees. A blank has to be encoded.
    static func covers(_ uri: String, _ watched: [String]) -> Bool {
        // By bytes: other spellings of a character are other addresses.
        if watched.contains(where: { $0.utf8.elementsEqual(uri.utf8) }) { return true }
        guard let base = watched.first(where: { uri.utf8.starts(with: ($0 + "/").utf8) }),
            !uri.unicodeScalars.contains(where: { $0.properties.isWhitespace })
        else { return false }
        var rest = String(decoding: uri.utf8.dropFirst(base.utf8.count), as: UTF8.self)
        // What is encoded twice may be decoded twice.
        for round in 0 ..< 4 {
            if !isPlain(rest) { return false }
            guard let decoded = PercentCoding.decode(rest.utf8) else {
                // A percent sign that was encoded.
                return round > 0 && !["%00", "%2e", "%2f", "%5c"].contains(where: rest.lowercased().contains)
            }
            if decoded == rest { return true }
            rest = decoded
        }
        return false
    }

    private static func isPlain(_ path: String) -> Bool {
        path.split(whereSeparator: { "/\\?#;".contains($0) }).allSatisfy { $0 != "." && $0 != ".." }
            && VisibleText.line(path) == path
    }
}

/// A change, in words.
struct WatchEvent: Sendable {
    let name: String
    let uri: String?

    init(_ change: ServerChange) {
        switch change {
        case .toolsListChanged: (name, uri) = ("tools changed", nil)
        case .promptsListChanged: (name, uri) = ("prompts changed", nil)
        case .resourcesListChanged: (name, uri) = ("resources changed", nil)
        case .resourceUpdated(let uri): (name, self.uri) = ("updated", uri)
        case .task(let task): (name, uri) = ("task \(task.taskID) \(task.status.rawValue)", nil)
        case .resubscribed: (name, uri) = ("reconnected", nil)
        }
    }

    var text: String { uri.map { "\(name) \(inlineText($0))" } ?? inlineText(name) }

    var json: JSONObject {
        var object: JSONObject = ["event": .string(name)]
        if let uri { object["uri"] = .string(uri) }
        return object
    }
}

extension Optional {
    fileprivate func asyncMap<T>(_ transform: (Wrapped) async -> T) async -> T? {
        guard let self else { return nil }
        return await transform(self)
    }
}
