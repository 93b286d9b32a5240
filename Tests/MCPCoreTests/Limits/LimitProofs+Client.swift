import Synchronization
import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let client: [LimitProof] = [
        LimitProof(
            "connecting, with all its steps",
            "\(LimitText.seconds(ClientOptions().connectLimit(forProgram: false))), "
                + "\(LimitText.seconds(ClientOptions().connectLimit(forProgram: true))) for a program",
            connecting),
        LimitProof(
            "silence of a program that has read `server/discover`",
            "\(LimitText.seconds(ClientOptions().probeTimeout)), then three times as long"
        ) {
            let tests = ProgramOpeningTests()
            try await tests.aServerThatIgnoresTheProbe()
            try await tests.aServerThatIsSlowToStart()
            try await ProgramOpeningTests().aServerThatDoesNotSurviveTheProbe("wedges")
        },
        LimitProof(
            "redirects while connecting (307, 308, same origin)", "\(MCPClient.maxRedirects)", redirects),
        LimitProof(
            "unusable messages that an error names", "\(ClientConnection.Unreadable.maxKept)", unusable),
        LimitProof(
            "entries of a list that cannot be read and are described", "\(DamagedResponse.maxDescribed)"
        ) { try DamagedResponseTests().manyEntries() },
        LimitProof(
            "entries of a list that contains some that cannot be read",
            LimitText.grouped(DamagedResponse.maxParts)
        ) { try DamagedResponseTests().manyEntries() },
        LimitProof(
            "messages that wait for a transport of the program",
            LimitText.bytes(ClientOptions().maxMessageBytes)
        ) { try await MessageTransportTests().aTransportThatIsStuck() },
        LimitProof(
            "what an HTTP carrier brings before it is read", LimitText.bytes(ClientOptions().maxMessageBytes)
        ) { try await HTTPCarrierTests().aFloodEndsTheResponse() },
        LimitProof(
            "rounds of questions in one call, or in its task (2026-07-28)", "\(ClientOptions().maxRounds)"
        ) {
            try await rounds()
            try await TaskFollowerTests().rounds()
        },
        LimitProof("questions in one result (2026-07-28)", "\(MCPClient.maxInputRequests)", questions),
        LimitProof(
            "answers that are kept",
            "\(LimitText.grouped(ResultCache.maxEntries)), \(LimitText.bytes(ResultCache.maxBytes)) in all"
        ) {
            try ResultCacheTests().boundedInNumber()
            try ResultCacheTests().boundedInBytes()
        },
        LimitProof("one answer that is kept", LimitText.bytes(ResultCache.maxEntryBytes), keptAnswer),
        LimitProof(
            "time an answer is kept",
            "what the server says, \(LimitText.seconds(ResultCache.maxLifetime)) at most"
        ) { try await ResultCacheTests().neverLongerThanADay() },
        LimitProof(
            "tools whose headers and output schemas are known",
            "\(LimitText.grouped(KnownTools.maxTools)), "
                + "\(LimitText.bytes(KnownTools.maxSchemaBytes)) of schemas"
        ) {
            try OutputSchemaTests().boundedInNumber()
            try OutputSchemaTests().boundedInBytes()
        },
        LimitProof("requests of a server that are worked on", "\(ServerRequestHandler.maximum)") {
            try await ServerRequestTests().manyAtOnce()
        },
        LimitProof(
            "further attempts to begin a session or a subscription again at an address that answers 404",
            "\(ClientConnection.maxAbsences) in a row, with pauses of up to 16 s"
        ) {
            for count in [ClientConnection.maxAbsences, ClientConnection.maxAbsences + 1] {
                try await HTTPClientSessionTests().addressWithoutServer(count)
                try await SubscriptionTests().addressWithoutServer(count)
            }
        },
        LimitProof("changes that wait for a reader", LimitText.grouped(Subscription.maxWaiting)) {
            try await waitingChanges()
            try await SubscriptionTests().whatWaits()
        },
        LimitProof("questions after a task that get lost in a row", "\(TaskFollower.maxLosses)") {
            for count in [TaskFollower.maxLosses, TaskFollower.maxLosses + 1] {
                try await TaskFollowerTests().losses(count)
            }
        },
        LimitProof(
            "pause between two questions after a task",
            "what the server says, 50 ms to \(LimitText.seconds(TaskFollower.intervals.upperBound)), and "
                + "`timeout` at most", pauses),
        LimitProof("pages of a list", LimitText.grouped(PagedSequence<Tool>.maxPages), pages),
        LimitProof(
            "requests to one server over HTTP at the same time", "\(HTTPClientPool.maxConnections)"
        ) { try await HTTPClientPoolTests().furtherCallsWait() },
        LimitProof(
            "free connections to one server that are kept",
            "\(HTTPClientPool.maxIdle), for \(LimitText.seconds(KeepAliveHint.idleTimeout)) each"
        ) {
            try await HTTPClientPoolTests().freeConnectionsAreBounded()
            try await HTTPClientPoolTests().unneededConnectionsAreClosed()
        },
        LimitProof(
            "flows that one request may cause",
            "\(HTTPCredentials.maxLogins) by 401, \(HTTPCredentials.maxStepUps) by 403"
        ) {
            try await AuthorizerRefusalTests().newTokenIsRefused()
            try await AuthorizerRefusalTests().twoStepUps()
        },
        LimitProof(
            "times that it is sent again without a flow",
            "\(HTTPCredentials.maxRenewals) with newer credentials of others, "
                + "\(HTTPCredentials.maxNonces) with another nonce"
        ) {
            AuthorizerRefusalTests().newerCredentialsOfOthers()
            try await AuthorizerRefusalTests().endlessNonces()
        },
    ]

    /// Who answers within the time is connected to, and no step may take longer than that.
    @Sendable private static func pauses() async throws {
        #expect(TaskFollower.intervals.lowerBound == .milliseconds(50))
        let longest = TaskFollower.intervals.upperBound
        let transport = Script.modern { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        for (named, timeout, pause) in [
            (Duration.milliseconds(49), Duration?.none, Duration.milliseconds(50)),
            (longest, nil, longest), (longest + .milliseconds(1), .seconds(3_600), longest),
            (.seconds(4), .seconds(4), .seconds(4)), (.seconds(5), .seconds(4), .seconds(4)),
        ] {
            let task = TaskInfo(
                "k", .working, createdAt: "2026-08-01T10:00:00Z", lastUpdatedAt: "2026-08-01T10:00:00Z",
                pollInterval: named)
            let follower = TaskFollower(client: client, options: CallOptions(timeout: timeout))
            #expect(follower.interval(before: task) == pause, "\(named)")
        }
        await client.close()
        try await TaskFollowerTests().aServerThatHangs()
    }

    @Sendable private static func connecting() async throws {
        let tests = ConnectLimitTests()
        try await tests.aServerThatIsSilentBehindTheHandshake()
        try await tests.aProgramThatIsSilentToTheProbe()
        for silent in ["server/discover", "initialize", "notifications/initialized"] {
            try await tests.aServerThatTakesAndNeverAnswers(
                silent, " did not respond to \(silent) within 5 s")
        }
        try await tests.aListenerThatAcceptsNothing()
        try await tests.aLoopThatNeverTurns()
    }

    @Sendable private static func redirects() async throws {
        for (count, isFollowed) in [(MCPClient.maxRedirects, true), (MCPClient.maxRedirects + 1, false)] {
            let peer = try HTTPPeer { heard in
                let steps = heard.head.split(separator: " ").dropFirst().first?.utf8.count ?? 0
                guard steps <= count else { return .result(heard, Script.discovered) }
                let next = String(repeating: "a", count: steps)
                return HTTPPeer.Answer(pieces: [
                    "HTTP/1.1 307 X\r\nLocation: /\(next)\r\nContent-Length: 0\r\n\r\n"
                ])
            }
            defer { peer.stop() }
            let target = ClientTarget.http("http://\(peer.endpoint)/")
            let error = await clientError { await (try MCPClient.connect(target)).close() }
            #expect(error?.kind == (isFollowed ? nil : .redirect))
        }
    }

    @Sendable private static func unusable() async throws {
        let limit = ClientConnection.Unreadable.maxKept
        for count in [limit, limit + 1] {
            let transport = Script.modern { _ in (1 ... count).map { .message("line \($0)") } }
            let client = try await MCPClient.connect(transport.target)
            let error = await clientError {
                _ = try await client.request("x/y", options: CallOptions(timeout: .milliseconds(20)))
            }
            #expect(error?.details.count == limit)
            #expect(error?.details.first?.hasSuffix("line \(count - limit + 1)") == true)
            await client.close()
        }
    }

    @Sendable private static func rounds() async throws {
        let limit = ClientOptions().maxRounds
        for (count, kind) in [(limit, nil), (limit + 1, ClientError.Kind.inputRequired)] {
            let asked = Counter()
            let transport = Script.modern { _ in
                let isQuestion = asked.increment() <= count
                return [
                    Script.result(
                        isQuestion
                            ? #"{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}}}"#
                            : Script.done)
                ]
            }
            var options = ClientOptions()
            options.onRoots = { [] }
            let client = try await MCPClient.connect(transport.target, options: options)
            let error = await clientError { _ = try await client.callTool("t") }
            #expect(error?.kind == kind)
            #expect(transport.methods.count { $0 == "tools/call" } == limit + 1)
            await client.close()
        }
    }

    @Sendable private static func questions() async throws {
        let limit = MCPClient.maxInputRequests
        for (count, kind) in [(limit, nil), (limit + 1, ClientError.Kind.protocolViolation)] {
            let answered = Counter()
            let isFirst = Mutex(true)
            let transport = Script.modern { _ in
                guard
                    isFirst.withLock({ first in
                        defer { first = false }; return first
                    })
                else {
                    return [Script.result(Script.done)]
                }
                let requests = (0 ..< count).map { #""\#($0)":{"method":"roots/list"}"# }
                let members = requests.joined(separator: ",")
                return [Script.result(#"{"resultType":"input_required","inputRequests":{\#(members)}}"#)]
            }
            var options = ClientOptions()
            options.onRoots = {
                answered.increment()
                return []
            }
            let client = try await MCPClient.connect(transport.target, options: options)
            let error = await clientError { _ = try await client.callTool("t") }
            #expect(error?.kind == kind)
            #expect(answered.value == (kind == nil ? limit : 0))
            await client.close()
        }
    }

    @Sendable private static func keptAnswer() async throws {
        let cache = ResultCache(clock: ManualClock())
        let key = try #require(ResultCache.Key("resources/read", ["uri": "mem://a"]))
        func isKept(_ bytes: Int) -> Bool {
            cache.dropAll()
            let text = JSONValue.string(String(repeating: "x", count: bytes))
            cache.keep(RawJSON(["ttlMs": 1_000, "text": text]), cache.ticket(for: key))
            return cache.result(for: key) != nil
        }
        // What is around the text and its key count too, with less than a kilobyte.
        #expect(isKept(ResultCache.maxEntryBytes - 1_024))
        #expect(!isKept(ResultCache.maxEntryBytes))
    }

    @Sendable private static func waitingChanges() async throws {
        for (count, isLost) in [
            (Subscription.maxWaiting, false), (Subscription.maxWaiting + 1, true),
        ] {
            let subscription = Subscription(accepted: .lists)
            for number in 0 ..< count { subscription.publish(.resourceUpdated("mem://\(number)")) }
            subscription.end(.success(()))
            var taken: [ServerChange] = []
            for try await change in subscription { taken.append(change) }
            #expect(taken.count == (isLost ? 1 : count))
            #expect(taken.first == (isLost ? .resubscribed : .resourceUpdated("mem://0")))
        }
    }

    @Sendable private static func pages() async throws {
        let limit = PagedSequence<Tool>.maxPages
        for (count, kind) in [(limit, nil), (limit + 1, ClientError.Kind.protocolViolation)] {
            let asked = Counter()
            let transport = Script.modern { _ in
                let number = asked.increment()
                return [
                    Script.tools(
                        #"{"name":"t\#(number)","inputSchema":{}}"#, next: number < count ? "\(number)" : nil)
                ]
            }
            let client = try await MCPClient.connect(transport.target)
            var names = 0
            let error = await clientError { names = try await client.listTools().count }
            #expect(error?.kind == kind)
            #expect(names == (kind == nil ? limit : 0) && asked.value == limit)
            await client.close()
        }
    }
}
