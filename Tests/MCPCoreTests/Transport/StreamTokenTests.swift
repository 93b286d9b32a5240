import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Open streams whose token is no longer good.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StreamTokenTests {
    private static let start = WallTime(secondsSinceEpoch: 1_800_000_000)

    /// A server with a call that reports progress and then waits.
    private static func server(_ clock: any TimeSource, _ cancelled: Gate, _ release: Gate) throws
        -> MCPServer
    {
        var options = ServerOptions()
        options.limits.requestDeadline = .seconds(3_600)
        let server = try TestServer(options, clock: clock).server
        try server.register(Tool("advance", inputSchema: ["type": "object"])) { _, context in
            await context.progress(1, total: 2)
            await withTaskCancellationHandler { () -> Void in
                _ = await release.wait()
            } onCancel: {
                cancelled.open()
            }
            return .text("done")
        }
        return server
    }

    private static func listen(_ port: UInt16, _ token: String) throws -> WireStream {
        try WireStream(
            port: port,
            Protected.post(
                "subscriptions/listen", #""notifications":{"toolsListChanged":true}"#, token: token))
    }

    private static func steps(_ port: UInt16, _ token: String) throws -> WireStream {
        let meta =
            #""_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}"#
        let body =
            #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"advance","arguments":{},\#(meta)}}"#
        return try WireStream(
            port: port,
            HTTPServerTests.post(
                body, method: "tools/call", more: Protected.bearer(token) + "Mcp-Name: advance\r\n"))
    }

    // A revoked token ends its streams at once, a subscription in good order and a call with an error; those
    // of other tokens go on.
    @Test func aRevokedToken() async throws {
        let clock = ManualClock(wallTime: Self.start)
        let (cancelled, release) = (Gate(), Gate())
        let leaked = StaticToken.make(name: "leaked", scopes: ["mcp:use"])
        let other = StaticToken.make(name: "other", scopes: ["mcp:use"])
        let tokens = try StaticTokens([leaked.record, other.record])
        try await Protected.serve(
            try Self.server(clock, cancelled, release), try Protected.authorization(tokens)
        ) { port in
            let subscription = try Self.listen(port, leaked.token)
            let kept = try Self.listen(port, other.token)
            let call = try Self.steps(port, leaked.token)
            let session = try await WireSession(
                port: port, version: "2025-11-25", more: ["Authorization: Bearer \(leaked.token)"])
            let get = try session.get()
            for stream in [subscription, kept, call, get] { #expect(await stream.opened()) }
            #expect(await call.heard("notifications/progress") != nil)
            #expect(await subscription.until { !$0.messages.isEmpty })
            tokens.revoke("leaked")
            for stream in [subscription, call, get] { #expect(await stream.until(\.isComplete)) }
            #expect(subscription.messages.last?.json?["result"] != nil)
            let error = call.messages.last?.json?["error"]
            #expect(error?["message"]?.string?.contains("was revoked") == true)
            #expect(await cancelled.wait())
            #expect(!kept.isOver)
            // Another token was added, and nothing happens to those that are still good.
            try tokens.replaceAll(with: [other.record, StaticToken.make(name: "new").record])
            #expect(await get.until(\.isComplete))
            #expect(!kept.isOver)
            kept.close()
            release.open()
        }
    }

    // A token that was revoked before its call began to stream ends the stream at once, too.
    @Test func aTokenRevokedBeforeItsStream() async throws {
        let clock = ManualClock(wallTime: Self.start)
        let (begun, released, cancelled, over) = (Gate(), Gate(), Gate(), Gate())
        let leaked = StaticToken.make(name: "leaked", scopes: ["mcp:use"])
        let tokens = try StaticTokens([leaked.record])
        var options = ServerOptions()
        options.limits.requestDeadline = .seconds(3_600)
        let server = try TestServer(options, clock: clock).server
        try server.register(Tool("advance", inputSchema: ["type": "object"])) { _, context in
            begun.open()
            _ = await released.wait()
            await context.progress(1, total: 2)
            await withTaskCancellationHandler { () -> Void in
                _ = await over.wait()
            } onCancel: {
                cancelled.open()
            }
            return .text("done")
        }
        try await Protected.serve(server, try Protected.authorization(tokens)) { port in
            let call = try Self.steps(port, leaked.token)
            #expect(await begun.wait())
            tokens.revoke("leaked")
            released.open()
            #expect(await call.until(\.isComplete))
            let error = call.messages.last?.json?["error"]
            #expect(error?["message"]?.string?.contains("was revoked") == true)
            #expect(await cancelled.wait())
            over.open()
        }
    }

    private static func user(_ verifiedFor: Duration?) -> TestVerifier.Outcome {
        .success(
            Principal(
                kind: .oauth, issuer: "https://id.example.com", subject: "u", scopes: ["mcp:use"],
                verifiedFor: verifiedFor))
    }

    // A token that has to be asked about is asked about every 60 s.
    @Test func aTokenThatBecomesInactive() async throws {
        let clock = ManualClock(wallTime: Self.start)
        let verifier = TestVerifier(["a": Self.user(.seconds(60)), "b": Self.user(.seconds(60))])
        try await Protected.serve(
            try Self.server(clock, Gate(), Gate()), try Protected.authorization(verifier)
        ) { port in
            let (ends, stays) = (try Self.listen(port, "a"), try Self.listen(port, "b"))
            for stream in [ends, stays] { #expect(await stream.until { !$0.messages.isEmpty }) }
            verifier.set("a", .failure(.invalid(.unknown)))
            clock.advance(by: StreamWatch.interval - .milliseconds(1))
            #expect(verifier.verified.count == 2)
            clock.advance(by: .milliseconds(1))
            #expect(await ends.until(\.isComplete))
            #expect(await comesTrue { verifier.verified.count == 4 })
            #expect(!stays.isOver)
            stays.close()
        }
    }

    // While nobody can say whether the token is good, its streams stay for 300 s.
    @Test func aTokenThatCannotBeChecked() async throws {
        let clock = ManualClock(wallTime: Self.start)
        let (cancelled, release) = (Gate(), Gate())
        let verifier = TestVerifier(["a": Self.user(.seconds(60))])
        try await Protected.serve(
            try Self.server(clock, cancelled, release), try Protected.authorization(verifier)
        ) { port in
            let stream = try Self.listen(port, "a")
            let call = try Self.steps(port, "a")
            #expect(await stream.until { !$0.messages.isEmpty })
            #expect(await call.heard("notifications/progress") != nil)
            verifier.set("a", .failure(.unavailable))
            let checks = Int(StreamWatch.patience / StreamWatch.interval)
            for number in 1 ..< checks {
                let before = verifier.verified.count
                clock.advance(by: StreamWatch.interval)
                #expect(await comesTrue { verifier.verified.count > before }, "\(number)")
                #expect(!stream.isOver)
            }
            clock.advance(by: StreamWatch.interval)
            #expect(await stream.until(\.isComplete))
            // The call is not to blame.
            release.open()
            #expect(await call.until(\.isComplete))
            #expect(call.messages.last?.json?["result"] != nil)
        }
    }
}
