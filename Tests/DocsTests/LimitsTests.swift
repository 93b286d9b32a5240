import Foundation
import Testing

@testable import MCPCore

/// docs/limits.md names every limit with the default that the code has.
@Suite struct LimitsTests {
    static let rows: [(limit: String, value: String)] = {
        let server = ServerLimits()
        let http = HTTPLimits()
        let options = HTTPServerOptions()
        let schema = SchemaLimits()
        let tasks = TaskOptions()
        return [
            ("`ServerLimits.jsonDepth`", "\(server.jsonDepth) (\(JSONLimits.greatestDepth) at most)"),
            ("string request id", "\(RequestID.maximumBytes) bytes"),
            ("`ServerLimits.lineBytes`", bytes(server.lineBytes)),
            ("`HTTPLimits.maxBodyBytes`", bytes(http.maxBodyBytes)),
            ("`ServerLimits.batchMessages`", "\(server.batchMessages) messages"),
            ("`ServerLimits.pageSize`", "\(server.pageSize) entries"),
            ("`ServerLimits.requestsInFlight`", "\(server.requestsInFlight)"),
            ("`ServerLimits.requestDeadline`", seconds(server.requestDeadline)),
            ("`ServerLimits.inputTimeout`", seconds(server.inputTimeout)),
            ("`ServerLimits.openQuestions`", "\(server.openQuestions)"),
            ("`ServerOptions.stateLifetime`", seconds(ServerOptions().stateLifetime)),
            ("`requestState`", bytes(RequestState.maximumBytes)),
            ("answers waiting for a reader, per HTTP connection", bytes(server.outputBytes)),
            ("answers waiting for a reader over stdio", bytes(StdioServer.backlogBytes)),
            ("messages of a batch that is still being read", bytes(server.outputBytes)),
            (
                "`ServerLimits.memoryBytes`",
                "\(bytes(server.memoryBytes)), and \(bytes(HTTPConnection.ownBytes)) for each connection"
            ),
            ("what is read ahead of a request", bytes(HTTPConnection.readBytes)),
            ("`ServerLimits.logMessages`", thousands(server.logMessages)),
            ("values of one completion", "\(CompletionResult.maximumValues)"),
            ("`TaskOptions.tasks`", thousands(tasks.tasks)),
            ("`TaskOptions.ttl`", "\(seconds(tasks.ttl)) (\(seconds(tasks.maxTTL)) at most)"),
            ("`TaskOptions.deadline`", seconds(tasks.deadline)),
            ("`TaskOptions.resultBytes`", "\(bytes(tasks.resultBytes)) (64 KiB to 4 MiB)"),
            ("`TaskOptions.totalBytes`", bytes(tasks.totalBytes)),
            ("questions of one task", thousands(ServerTask.maximumQuestions)),
            ("`ClientOptions.connectTimeout`", seconds(ClientOptions().connectTimeout)),
            ("`ClientOptions.maxRounds`", "\(ClientOptions().maxRounds)"),
            (
                "answers that are kept",
                "\(thousands(ResultCache.maximumEntries)), \(bytes(ResultCache.maximumBytes)) in all"
            ),
            ("one answer that is kept", bytes(ResultCache.maximumEntryBytes)),
            (
                "time an answer is kept",
                "what the server says, \(seconds(ResultCache.maximumLifetime)) at most"
            ),
            (
                "tools whose headers and output schemas are known",
                "\(thousands(KnownTools.maximumTools)), \(bytes(KnownTools.maximumSchemaBytes)) of schemas"
            ),
            ("requests of a server that are worked on", "\(ServerRequests.maximum)"),
            ("changes that wait for a reader", thousands(Subscription.maximumWaiting)),
            ("questions after a task that get lost in a row", "\(TaskFollower.maximumLosses)"),
            ("pages of a list", thousands(PagedSequence<Tool>.maxPages)),
            ("resources that one session watches", thousands(SessionMemory.maximumURIs)),
            ("different resources that change", thousands(ChangeBus.maximumPending)),
            ("channels of one hub", thousands(ClientToolLimits.channels)),
            ("tools of one client", "\(ClientToolLimits.toolsPerClient)"),
            ("tools of clients in one channel", "\(ClientToolLimits.toolsPerChannel)"),
            ("clients of one channel", "\(ClientToolLimits.clientsPerChannel)"),
            ("schema of a client's tool", bytes(ClientToolLimits.schemaBytes)),
            ("description of a client's tool", "\(bytes(ClientToolLimits.textBytes)) each"),
            ("instructions of a channel", bytes(ClientToolLimits.instructionBytes)),
            ("names of channels and clients", "\(ClientToolLimits.nameBytes) bytes"),
            ("result of a client", "10,000,000 bytes"),
            ("calls that wait for one client", "\(ClientToolLimits.callsPerClient)"),
            ("registrations of one channel", "\(ClientToolLimits.registrationsPerMinute)"),
            (
                "`ClientToolOptions.callTimeout`",
                "\(seconds(ClientToolOptions().callTimeout)); a tool's own, 600 s at most"
            ),
            ("`ClientToolOptions.graceTime`", seconds(ClientToolOptions().graceTime)),
            ("`ClientToolOptions.timeToLive`", seconds(ClientToolOptions().timeToLive)),
            (
                "events kept for listeners",
                "\(ClientToolLimits.keptEvents), \(bytes(ClientToolLimits.keptEventBytes))"
            ),
            ("events that wait for one listener", thousands(ClientToolLimits.waitingEvents)),
            ("listeners of one channel", "\(ClientToolLimits.listenersPerChannel)"),
            ("GET streams of one session", "\(SessionStreams.maximumServerStreams)"),
            (
                "events kept for one stream",
                "\(ResumableStream.maximumEvents), \(bytes(ResumableStream.maximumBytes))"
            ),
            ("how long they wait", seconds(ResumableStream.age)),
            ("events kept for all streams", bytes(EventStore.maximumBytes)),
            ("streams of one session that are kept", "\(SessionStreams.maximumPerSession)"),
            ("sessions that are remembered", thousands(SessionMemory.maxSessions)),
            ("sessions whose streams are kept", thousands(SessionStreams.maxSessions)),
            ("ended sessions that are remembered", thousands(LegacySessions.maxEnded)),
            ("agents without a token made", "\(ClientToolLimits.openChannels)"),
            ("what waits of a model's answer", bytes(HTTPEventPost.maxWaitingBytes)),
            ("events of a turn that wait", thousands(ToolHarness.maxWaitingEvents)),
            ("events of a host that wait", thousands(AppHost.maxWaitingEvents)),
            ("unread over stdio", bytes(StdioServer.toldLimit)),
            ("`HTTPLimits.maxRequestLineBytes`", bytes(http.maxRequestLineBytes)),
            ("`HTTPLimits.maxHeaderBytes`", "\(bytes(http.maxHeaderBytes)), \(http.maxFields) fields"),
            ("`HTTPLimits.maxChunkExtensionBytes`", bytes(http.maxChunkExtensionBytes)),
            ("`HTTPServerOptions.headTimeout`", seconds(options.headTimeout)),
            ("`HTTPServerOptions.bodyTimeout`", seconds(options.bodyTimeout)),
            ("`HTTPServerOptions.idleTimeout`", seconds(options.idleTimeout)),
            ("`HTTPServerOptions.writeTimeout`", seconds(options.writeTimeout)),
            ("endpoints of a side door", thousands(SideEndpoints.maximumEndpoints)),
            ("answer of a side door", seconds(server.requestDeadline)),
            ("`HTTPServerOptions.drainTimeout`", seconds(options.drainTimeout)),
            ("`HTTPServerOptions.connections`", "10,000"),
            (
                "`SchemaLimits`",
                "\(schema.maxDepth), \(schema.maxWork / 1_000_000) million, \(schema.maxViolations)"
            ),
            ("marks of the look-arounds", bytes(PatternMatcher.maxMarkBytes)),
            ("places of all subschemas", bytes(SchemaIndex.maxNameBytes)),
        ]
    }()

    static func bytes(_ count: Int) -> String {
        count >= 1 << 20 ? "\(count >> 20) MiB" : "\(count >> 10) KiB"
    }

    static func thousands(_ count: Int) -> String {
        count < 1000 ? "\(count)" : "\(count / 1000),\(String(1000 + count % 1000).dropFirst())"
    }

    static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }

    @Test("docs/limits.md states the default", arguments: rows.map(\.limit))
    func stated(limit: String) throws {
        let page = try String(
            contentsOf: DocumentTests.root.appendingPathComponent("docs/limits.md"), encoding: .utf8)
        let line = try #require(
            page.components(separatedBy: "\n").first { $0.contains(limit) }, "no row for \(limit)")
        let value = try #require(Self.rows.first { $0.limit == limit }?.value)
        #expect(line.contains("| \(value)"), "\(limit) is \(value); the page says: \(line)")
        #expect(HTTPServerOptions().connections == 10_000)
    }
}
