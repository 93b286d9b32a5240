import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// One client against scripted answers: ids, results, progress, time limits, cancellation.
@Suite struct MCPClientTests {
    // MARK: Answers

    @Test func resultsComeAsOnTheWire() async throws {
        let transport = Script.modern { _ in [Script.result(#"{"x" : 1.0, "resultType":"complete"}"#)] }
        let client = try await MCPClient.connect(transport.target)
        let result = try await client.request("tools/list")
        #expect(String(result.bytes) == #"{"x" : 1.0, "resultType":"complete"}"#)
        await client.close()
    }

    @Test(
        arguments: [
            ("{}", nil), (#"{"resultType":"complete"}"#, nil),  // JRPC-07
            // MRTR-03: it asks for nothing and keeps nothing.
            (#"{"resultType":"input_required"}"#, ClientError.Kind.protocolViolation),
            (
                #"{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}}}"#,
                .inputRequired
            ),
            (#"{"resultType":"task"}"#, .protocolViolation),  // JRPC-08
            (#"{"resultType":7}"#, .protocolViolation), ("[]", .protocolViolation),
            ("null", .protocolViolation),
        ] as [(String, ClientError.Kind?)])
    func kindsOfResults(_ result: String, _ kind: ClientError.Kind?) async throws {
        let client = try await MCPClient.connect(Script.modern { _ in [Script.result(result)] }.target)
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == kind)
        if kind == .inputRequired { #expect(error?.result?["resultType"]?.string == "input_required") }
        await client.close()
    }

    /// What servers in the field send: code 0, data of any type, members missing.
    @Test(
        arguments: [
            (#"{"code":0,"message":"Unknown prompt: x"}"#, 0, "Unknown prompt: x", nil),
            (#"{"code":-32601,"message":"m","data":"tools/x"}"#, -32601, "m", "tools/x"),
            (#"{"code":-32601,"message":"m","data":""}"#, -32601, "m", ""),
            (#"{}"#, 0, "", nil),
            // ERR-05, ERR-08
            (#"{"code":-32002,"message":"Resource not found"}"#, -32002, "Resource not found", nil),
            (#"{"code":-32001,"message":"own"}"#, -32001, "own", nil),
        ] as [(String, Int, String, String?)])
    func errors(_ error: String, _ code: Int, _ message: String, _ data: String?) async throws {
        let transport = Script.legacy { _ in [.message(#"{"jsonrpc":"2.0","id":ID,"error":\#(error)}"#)] }
        let client = try await MCPClient.connect(transport.target)
        await #expect(throws: MCPError(code: code, message: message, data: data.map { .string($0) })) {
            try await client.request("prompts/get", ["name": "x"])
        }
        await client.close()
    }

    /// JRPC-05, CANC-05: only the own id ends a call; in another type it is malformed.
    @Test func foreignIdsAreIgnored() async throws {
        let garbage = Mutex<[String]>([])
        let transport = Script.modern { sent in
            [
                .message(#"{"jsonrpc":"2.0","id":99,"result":{"n":1}}"#),
                .message(#"{"jsonrpc":"2.0","id":"9ID","result":{"n":2}}"#),
                .message("hello world"),
                .message(#"{"jsonrpc":"2.0","id":ID.0,"result":{"n":4}}"#),
                .message(#"{"jsonrpc":"2.0","id":ID,"result":{"n":5}}"#),
            ]
        }
        var options = ClientOptions()
        options.trace = { event in
            if case .garbage(let line) = event { garbage.withLock { $0.append(line) } }
        }
        let client = try await MCPClient.connect(transport.target, options: options)
        #expect(try await client.request("tools/list")["n"]?.int == 4)
        #expect(garbage.withLock { $0.count } == 4)
        await client.close()
    }

    /// JRPC-11: an error without id belongs to the only request that waits.
    @Test(arguments: [
        #"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#,
        #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
    ])
    func errorWithoutID(_ text: String) async throws {
        let client = try await MCPClient.connect(Script.modern { _ in [.message(text)] }.target)
        await #expect(throws: MCPError.parseError("m")) { try await client.request("tools/list") }
        await client.close()
    }

    /// CVE-2026-25536: an answer on one HTTP exchange never ends the call of another.
    @Test func answersStayOnTheirExchange() async throws {
        let first = Mutex<Int64?>(nil)
        let transport = Script.modern(isHTTP: true) { sent in
            guard sent.method == "b" else {
                first.withLock { $0 = sent.id }
                return []
            }
            let other = first.withLock { $0 } ?? 0
            return [
                .message(#"{"jsonrpc":"2.0","id":\#(other),"result":{"stolen":true}}"#),
                Script.result(#"{"own":true}"#),
            ]
        }
        let client = try await MCPClient.connect(transport.target)
        let waiting = Task { try await client.request("a", options: CallOptions(timeout: .milliseconds(80))) }
        await waitUntil { transport.methods.last == "a" }
        #expect(try await client.request("b")["own"]?.bool == true)
        let error = await clientError { _ = try await waiting.value }
        #expect(error?.kind == .timeout)
        await client.close()
    }

    @Test func batchesOf2025_03_26() async throws {  // JRPC-19
        let text =
            #"[{"jsonrpc":"2.0","method":"notifications/message","params":{}},"#
            + #"{"jsonrpc":"2.0","id":ID,"result":{}}]"#
        let notified = Mutex(0)
        var options = ClientOptions()
        options.onNotification = { _, _ in notified.withLock { $0 += 1 } }
        let client = try await MCPClient.connect(
            Script.legacy("2025-03-26") { _ in [.message(text)] }.target, options: options)
        _ = try await client.request("tools/list")
        #expect(notified.withLock { $0 } == 1)
        await client.close()
    }

    // MARK: Requests of the server

    @Test(arguments: [
        ("ping", #"{"jsonrpc":"2.0","id":"s1","result":{}}"#),
        (
            "roots/list",
            #"{"jsonrpc":"2.0","id":"s1","error":{"code":-32601,"message":"Method not found: roots/list"}}"#
        ),
    ])
    func serverRequests(_ method: String, _ answer: String) async throws {  // LIFE-10
        let transport = Script.legacy { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        transport.push(#"{"jsonrpc":"2.0","id":"s1","method":"\#(method)"}"#)
        await waitUntil { transport.methods.last == "" }
        #expect(transport.sent.last?.text == answer)
        await client.close()
    }

    @Test func modernServersGetNoResponse() async throws {  // JRPC-17, STDIO-08
        let transport = Script.modern { _ in
            [.message(#"{"jsonrpc":"2.0","id":"s1","method":"ping"}"#), Script.result("{}")]
        }
        let client = try await MCPClient.connect(transport.target)
        _ = try await client.request("tools/list")
        #expect(transport.methods == ["server/discover", "tools/list"])
        await client.close()
    }

    // MARK: Progress, time limits, cancellation

    @Test func progressCarriesTheID() async throws {  // PROG-01, PROG-05
        let seen = Mutex<[ProgressReport]>([])
        let transport = Script.modern { _ in
            [
                .message(
                    Script.progress("ID", #"1,"total":4,"message":"m""#)
                ),
                .message(
                    Script.progress(#""ID""#, "2")
                ),
                .message(
                    Script.progress("77", "3")
                ),
                Script.result("{}"),
            ]
        }
        let client = try await MCPClient.connect(transport.target)
        _ = try await client.request(
            "tools/call", ["name": "x"],
            options: CallOptions { progress in seen.withLock { $0.append(progress) } })
        #expect(seen.withLock { $0 } == [ProgressReport(1, total: 4, message: "m")])
        let sent = try #require(transport.sent.last)
        #expect(sent.json["params"]?["_meta"]?["progressToken"]?.int64 == sent.id)
        await client.close()
    }

    // CANC-01, CANC-08, ERR-11
    @Test(arguments: [false, true]) func silenceTimesOut(_ isHTTP: Bool) async throws {
        let transport = Script.modern(isHTTP: isHTTP) { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        let error = await clientError {
            _ = try await client.request("tools/list", options: CallOptions(timeout: .milliseconds(900)))
        }
        #expect(error?.kind == .timeout)
        #expect(error?.message.contains("900 ms") == true)
        #expect(transport.abandoned == [2])
        // HTTPC-08: over modern HTTP the closed exchange says it.
        #expect((transport.methods.last == "notifications/cancelled") == !isHTTP)
        #expect(client.probe.requests == 0)
        await client.close()
    }

    /// Simulated time: 40 s, a report, 40 s more, and only then a minute of silence.
    @Test func progressRestartsTheSilence() async throws {  // CANC-09
        let clock = ManualClock()
        let now = clock.now
        let call = ClientCall(
            7, "tools/call", .modern(.newest), idleTimeout: .seconds(60), deadline: .seconds(130), now: now,
            onProgress: nil)
        let waiting = Task { await call.wait {} }
        await waitUntil { call.isWaiting }
        #expect(call.nextDeadline == now + .seconds(60))
        clock.advance(by: .seconds(40))
        call.report(ProgressReport(1), now: clock.now)
        #expect(call.nextDeadline == now + .seconds(100))
        clock.advance(by: .seconds(40))
        call.report(ProgressReport(2), now: clock.now)
        // The deadline holds whatever is reported.
        #expect(call.nextDeadline == now + .seconds(130))
        #expect(!call.hasBeenSent())
        var wasSent: [Bool] = []
        call.abandon(.failed(ClientError(.timeout, "x"))) { wasSent.append($0) }
        call.abandon(.failed(ClientError(.timeout, "y"))) { wasSent.append($0) }
        #expect(wasSent == [true])
        guard case .failed(let error) = await waiting.value else { Issue.record("not failed"); return }
        #expect(error.message == "x")
    }

    @Test func deadlineHoldsDespiteProgress() async throws {
        let transport = Script.modern { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        let error = await clientError {
            _ = try await client.request(
                "tools/call", ["name": "x"],
                options: CallOptions(timeout: .seconds(60), deadline: .milliseconds(20)))
        }
        #expect(error?.kind == .timeout)
        #expect(error?.message.contains("deadline") == true)
        await client.close()
    }

    @Test(arguments: [false, true]) func taskCancellation(_ isLegacy: Bool) async throws {
        let transport = isLegacy ? Script.legacy(isHTTP: true) { _ in [] } : Script.modern { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        let call = Task { try await client.request("tools/call", ["name": "x"]) }
        await waitUntil { transport.methods.last == "tools/call" }
        call.cancel()
        let error = await clientError { _ = try await call.value }
        #expect(error?.kind == .cancelled)
        let notice = try #require(transport.sent.last)
        #expect(notice.method == "notifications/cancelled")
        #expect(notice.json["params"]?["requestId"]?.int64 == transport.sent.dropLast().last?.id)
        await client.close()
    }

    @Test func cancelledBeforeTheStart() async throws {
        let transport = Script.modern { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        let call = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await client.request("tools/call", ["name": "x"])
        }
        let error = await clientError { _ = try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(!transport.methods.contains("tools/call"))
        await client.close()
    }

    @Test func everythingFailsWithTheConnection() async throws {  // fault 84
        let transport = Script.modern { sent in
            sent.method == "c" ? [.closed(ClientError(.connectionClosed, "gone"))] : []
        }
        let client = try await MCPClient.connect(transport.target)
        await withTaskGroup(of: ClientError.Kind?.self) { group in
            for method in ["a", "b"] {
                group.addTask { await clientError { _ = try await client.request(method) }?.kind }
            }
            await waitUntil { transport.methods.count >= 3 }
            group.addTask { await clientError { _ = try await client.request("c") }?.kind }
            for await kind in group { #expect(kind == .connectionClosed) }
        }
        let late = await clientError { _ = try await client.request("d") }
        #expect(late?.kind == .connectionClosed)
        await client.close()
        await client.close()
    }

    @Test func lettingGoEndsTheConnection() async throws {
        let transport = Script.modern { _ in [] }
        var client: MCPClient? = try await MCPClient.connect(transport.target)
        #expect(client != nil)
        #expect(transport.closings == 0)
        client = nil
        #expect(transport.closings == 1)
    }

    // MARK: Sessions (LEG-25)

    @Test func aLostSessionIsOpenedAgainOnce() async throws {
        let initializations = Mutex(0)
        let transport = ScriptedTransport(isHTTP: true) { sent in
            switch sent.method {
            case "server/discover": return [Script.error(-32601)]
            case "initialize":
                initializations.withLock { $0 += 1 }
                return [Script.result(Script.initialized())]
            case "notifications/initialized": return []
            default:
                let isOld = initializations.withLock { $0 } == 1
                return isOld
                    ? [.failure(ClientError(.sessionExpired, "404", httpStatus: 404))]
                    : [Script.result(#"{"ok":true}"#)]
            }
        }
        let client = try await MCPClient.connect(transport.target)
        try await withThrowingTaskGroup(of: Bool?.self) { group in
            for _ in 0 ..< 5 { group.addTask { try await client.request("tools/list")["ok"]?.bool } }
            for try await ok in group { #expect(ok == true) }
        }
        #expect(initializations.withLock { $0 } == 2)
        await client.close()
    }

    @Test func aSessionThatStaysLostFails() async throws {
        let transport = Script.legacy(isHTTP: true) { _ in
            [.failure(ClientError(.sessionExpired, "404", httpStatus: 404))]
        }
        let client = try await MCPClient.connect(transport.target)
        let error = await clientError { _ = try await client.request("tools/list") }
        #expect(error?.kind == .sessionExpired)
        #expect(transport.methods.filter { $0 == "initialize" }.count == 2)
        await client.close()
    }

    // MARK: Words of a request

    @Test func metaComesLastAndTheProtocolWins() async throws {
        let transport = Script.modern { _ in [Script.result("{}")] }
        let client = try await MCPClient.connect(transport.target)
        _ = try await client.request(
            "tools/call",
            ["_meta": ["io.modelcontextprotocol/protocolVersion": "1.0", "a": 1], "name": "ä b"],
            options: CallOptions(meta: ["b": 2]))
        let sent = try #require(transport.sent.last)
        let text = sent.text
        #expect(text.contains(#""params":{"name":"ä b","_meta":{"#))
        let meta = sent.json["params"]?["_meta"]
        #expect(meta?["a"]?.int == 1)
        #expect(meta?["b"]?.int == 2)
        #expect(meta?["io.modelcontextprotocol/protocolVersion"]?.string == "2026-07-28")
        #expect(sent.mirroredName == "ä b")
        await client.close()
    }

    @Test func legacyRequestsAreBare() async throws {
        let transport = Script.legacy { _ in [Script.result("{}")] }
        let client = try await MCPClient.connect(transport.target)
        _ = try await client.ping()
        #expect(
            transport.sent.last?.text
                == #"{"jsonrpc":"2.0","id":3,"method":"ping"}"#)
        #expect(transport.sent.last?.mirroredName == nil)
        await client.close()
    }

    @Test func tooDeepParamsAreNotSent() async throws {
        let transport = Script.modern { _ in [Script.result("{}")] }
        let client = try await MCPClient.connect(transport.target)
        var deep: JSONValue = 1
        for _ in 0 ..< 200 { deep = [deep] }
        let value = deep
        let error = await clientError { _ = try await client.request("x", ["deep": value]) }
        #expect(error?.kind == .invalidRequest)
        #expect(client.probe.requests == 0)
        await client.close()
    }

    // MARK: Pages

    @Test func pagesAreFetchedToTheEnd() async throws {  // PAGE-03, PAGE-04, PAGE-05
        let transport = Script.modern { sent in
            switch sent.json["params"]?["cursor"]?.string {
            case nil: [Script.result(#"{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":""}"#)]
            case "": [Script.result(#"{"tools":[],"nextCursor":"x"}"#)]
            default: [Script.result(#"{"tools":[{"name":"b","inputSchema":{}}],"nextCursor":null}"#)]
            }
        }
        let client = try await MCPClient.connect(transport.target)
        #expect(try await client.listTools().map(\.name) == ["a", "b"])
        await client.close()
    }

    @Test(arguments: [
        #"{"tools":[],"nextCursor":"again"}"#, #"{"tools":7}"#, #"{}"#,
    ]) func brokenLists(_ result: String) async throws {
        let client = try await MCPClient.connect(Script.modern { _ in [Script.result(result)] }.target)
        let error = await clientError { _ = try await client.listTools() }
        #expect(error?.kind == .protocolViolation)
        await client.close()
    }
}
