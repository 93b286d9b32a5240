import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// Commands as tools as clients of both eras see them: progress, questions, tasks, kept results.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LongWorkTests {
    private static let both = ["2025-11-25", "2026-07-28"].map { Setting.inMemory($0) }

    private func server(_ tools: String, in directory: String = "/") throws -> ConfiguredServer {
        try ConfiguredServer("{ \"tools\": { \(tools) } }", in: directory)
    }

    private func lines(_ path: String) -> Int {
        ((try? Files.read(path, maxBytes: 1 << 16)) ?? []).count { $0 == 0x0A }
    }

    // MARK: Progress

    @Test(arguments: both) func linesBecomeNotifications(_ setting: Setting) async throws {
        let server = try server(
            #""t": { "exec": ["sh", "-c", "echo one; sleep 0.3; echo two"], "progress": "lines" }, "#
                + #""e": { "exec": ["sh", "-c", "echo one >&2; echo out"], "#
                + #""progress": { "format": "lines", "from": "stderr" } }"#)
        try await withClient(setting, server.server) { client in
            #expect(await client.call("t", progressToken: "p").text == "one\ntwo\n")
            #expect(await client.call("e", progressToken: "q").text == "out\n")
            // Without a token, nobody wants to know.
            #expect(await client.call("t").text == "one\ntwo\n")
            let messages = client.heard.filter { $0["method"]?.string == "notifications/progress" }
                .compactMap { $0["params"]?["message"]?.string }
            #expect(messages == ["one", "two", "one"])
        }
    }

    @Test func jsonLinesLeaveTheResult() async throws {
        let server = try server(
            #""t": { "exec": ["printf", "{\"progress\":1}\n{\"a\":1}"], "progress": "jsonlines", "#
                + #""result": "json" }"#)
        #expect(try await server.call("t").structuredContent == ["a": 1])
    }

    // MARK: Exit statuses

    @Test func otherStatusesMaySucceed() async throws {
        let server = try server(
            #""t": { "input": {"n": {"type": "integer"}}, "exec": ["sh", "-c", "exit $1", "sh", "{n}"], "#
                + #""successExitStatus": [1] }"#)
        #expect(try await server.call("t", ["n": 0]).content.map(\.text) == [""])
        let nothing = try await server.call("t", ["n": 1])
        #expect(!nothing.isError && nothing.content.map(\.text) == ["exit status 1"])
        #expect(try await server.call("t", ["n": 2]).isError)
    }

    // MARK: Confirmation

    private static func confirmed(in directory: TemporaryDirectory) throws -> ConfiguredServer {
        try ConfiguredServer(
            #"""
            { "tools": { "t": { "input": { "unit": {"type": "string"} }, "confirm": "Restart {unit}?",
              "exec": ["sh", "-c", "echo \"$1\" >> runs", "sh", "{unit}"] } } }
            """#, in: directory.path)
    }

    @Test(arguments: both) func theUserDecides(_ setting: Setting) async throws {
        let directory = try TemporaryDirectory()
        let server = try Self.confirmed(in: directory)
        for (answer, text, runs) in [
            (TestAnswer.decline, "t was not run: the user declined", 0),
            (.cancel, "t was not run: the user did not decide", 0), (.accept([:]), "", 1),
        ] {
            try await withAskedClient(setting, server.server, answering: { _ in answer }) { client in
                let reply = await client.call("t", ["unit": "web\n\u{202E}now"])
                #expect(reply.text == text)
                #expect(client.asked.map(\.message) == ["Restart web\\n\\u{202e}now?"])
            }
            #expect(lines("\(directory.path)/runs") == runs * 2)
        }
    }

    @Test(arguments: both) func aClientThatCannotAskRunsNothing(_ setting: Setting) async throws {
        let directory = try TemporaryDirectory()
        let server = try Self.confirmed(in: directory)
        try await withClient(setting, server.server) { client in
            let reply = await client.call("t", ["unit": "web"])
            if setting.isModern {
                #expect(reply.errorCode == -32021)
            } else {
                #expect(reply.text.hasPrefix("t was not run: it asks the user before it runs"))
            }
        }
        #expect(lines("\(directory.path)/runs") == 0)
    }

    /// A question is no failure: not in the figures, not among the errors, not in the audit log, and no reason
    /// for a recording.
    @Test func aQuestionIsNoFailure() async throws {
        let directory = try TemporaryDirectory()
        var recording = RecorderSettings(directory: directory.path)
        recording.triggers = [.error]
        let recorder = FlightRecorder(recording, log: .disabled)
        let audit = try AuditLog(AuditSettings(file: "\(directory.path)/audit"), log: .disabled)
        let observer = Observer(
            metrics: CallMetrics { _ in true }, audit: (audit, Redactor(RedactionSettings())),
            recorder: recorder, errors: ErrorRing(), calls: .none, log: .disabled)
        let server = try ConfiguredServer(
            #"{ "tools": { "t": { "confirm": "Run?", "exec": ["true"] } } }"#, in: directory.path,
            observer: observer)
        try await withAskedClient(.inMemory(), server.server, answering: { _ in .accept([:]) }) { client in
            #expect(await client.call("t").text == "")
            #expect(client.asked.count == 1)
        }
        // A call is noted after its answer.
        func calls() -> [CallMetrics.Series]? { observer.metrics?.snapshot.series.filter { $0.tool == "t" } }
        #expect(await eventually { calls()?.map(\.count) == [2] })
        #expect(calls()?.map(\.outcome) == [.ok])
        #expect(observer.errors?.total == 0)
        let written = await eventually { lines("\(directory.path)/audit") == 2 }
        audit.finish()
        recorder.finish()
        let bytes = try Files.read("\(directory.path)/audit", maxBytes: 1 << 16)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.ranges(of: "\"outcome\":\"ok\"").count == 2 && !text.contains("tool_error"), "\(text)")
        #expect(written)
        #expect(try Files.names(in: directory.path).names == ["audit"])
    }

    /// What was confirmed is what runs, and it runs once (MRTR-11).
    @Test func aConfirmationIsForItsArgumentsAlone() async throws {
        let directory = try TemporaryDirectory()
        let server = try Self.confirmed(in: directory)
        let capabilities: JSONObject = ["elicitation": ["form": [:]]]
        try await withServer(.inMemory(), server.server) { served in
            let client = try await served.client(capabilities: capabilities)
            let asked = await client.call("t", ["unit": "web"])
            let state = try #require(asked.result?["requestState"]?.value)
            let key = try #require(asked.result?["inputRequests"]?.value.objectValue?.keys.first)
            func retry(_ unit: String, state: JSONValue) async -> RawReply {
                await client.request(
                    "tools/call",
                    [
                        "name": "t", "arguments": ["unit": .string(unit)], "requestState": state,
                        "inputResponses": .object([key: ["action": "accept", "content": [:]]]),
                    ])
            }
            #expect(await retry("worker", state: state).errorCode == -32602)
            #expect(await retry("web", state: .string("x" + (state.stringValue ?? ""))).errorCode == -32602)
            #expect(lines("\(directory.path)/runs") == 0)
            #expect(await retry("web", state: state).errorCode == nil)
            #expect(await retry("web", state: state).errorCode == -32602)
            #expect(lines("\(directory.path)/runs") == 1)
        }
    }

    /// An answer to a question that was never asked is none, and the answer to one counts from the start of the
    /// command: a client that repeats a request whose response it lost does not run it again.
    @Test func aConfirmationCountsOnce() async throws {
        let directory = try TemporaryDirectory()
        let server = try ConfiguredServer(
            #"""
            { "tools": { "t": { "confirm": "Go?",
              "exec": ["sh", "-c", "echo x >> runs; while ! test -e end; do sleep 0.02; done"] } } }
            """#, in: directory.path)
        let capabilities: JSONObject = ["elicitation": ["form": [:]]]
        try await withServer(.inMemory(), server.server) { served in
            let client = try await served.client(capabilities: capabilities)
            func accept(_ state: JSONValue?) async -> RawReply {
                var params: JSONObject = [
                    "name": "t", "arguments": [:],
                    "inputResponses": ["confirm": ["action": "accept", "content": [:]]],
                ]
                params["requestState"] = state
                return await client.request("tools/call", params)
            }
            let asked = await accept(nil)
            #expect(asked.result?["resultType"]?.string == "input_required")
            #expect(lines("\(directory.path)/runs") == 0)
            let state = try #require(asked.result?["requestState"]?.value)
            async let first = accept(state)
            #expect(await comesTrue { lines("\(directory.path)/runs") == 1 })
            #expect(await accept(state).errorCode == -32602)
            try directory.write("end", "")
            #expect(await first.errorCode == nil)
            #expect(lines("\(directory.path)/runs") == 1)
        }
    }

    /// A question that was answered before a reload, or at an instance with another configuration, says
    /// nothing about another command: the user is asked again.
    @Test(arguments: [
        #""exec": ["sh", "-c", "echo x >> new"]"#,
        #""exec": ["sh", "-c", "echo x >> old"], "env": { "TARGET": "production" }"#,
        #""exec": ["sh", "-c", "echo x >> old"], "stdin": "all""#,
        #""exec": ["sh", "-c", "echo x >> old"], "cwd": "/tmp""#,
        #""exec": ["sh", "-c", "echo x >> old"], "description": "Does something else""#,
        #""exec": ["sh", "-c", "echo x >> old"], "limits": { "cpu": "5s" }"#,
    ]) func aConfirmationIsForItsCommandAlone(_ changed: String) async throws {
        let directory = try TemporaryDirectory()
        try directory.write("key", String(repeating: "k", count: 32))
        func server(_ members: String) throws -> ConfiguredServer {
            try ConfiguredServer(
                #"{ "state": { "key": "${file:key}" }, "tools": { "t": { "confirm": "Go?", \#(members) } } }"#,
                in: directory.path)
        }
        let same = #""exec": ["sh", "-c", "echo x >> old"]"#
        func accept(_ server: ConfiguredServer, _ state: JSONValue?) async throws -> RawReply {
            var params: JSONObject = ["name": "t", "arguments": [:]]
            if let state {
                params["requestState"] = state
                params["inputResponses"] = ["confirm": ["action": "accept", "content": [:]]]
            }
            let capabilities: JSONObject = ["elicitation": ["form": [:]]]
            var reply: RawReply?
            try await withServer(.inMemory(), server.server) { served in
                let client = try await served.client(capabilities: capabilities)
                reply = await client.request("tools/call", params)
            }
            return try #require(reply)
        }
        let asked = try await accept(try server(same), nil)
        let state = try #require(asked.result?["requestState"]?.value)
        let again = try await accept(try server(changed), state)
        #expect(again.result?["resultType"]?.string == "input_required")
        #expect(lines("\(directory.path)/old") == 0 && lines("\(directory.path)/new") == 0)
        // The same configuration goes on where the other instance was.
        #expect(try await accept(try server(same), state).result?["isError"]?.bool != true)
        #expect(lines("\(directory.path)/old") == 1)
    }

    /// What did not run the command does not use the answer up; what the user declined does.
    @Test func aConfirmationIsUsedUpByARun() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("root")
        try directory.write("root/f", "")
        let server = try ConfiguredServer(
            #"""
            { "tools": { "t": { "confirm": "Go?",
              "input": { "path": {"type": "string", "format": "path", "x-root": "root"} },
              "exec": ["sh", "-c", "echo x >> runs"], "stdin": "{path}" } } }
            """#, in: directory.path)
        try await withServer(.inMemory(), server.server) { served in
            let client = try await served.client(capabilities: ["elicitation": ["form": [:]]])
            let poor = try await served.client()
            func ask() async throws -> JSONValue {
                try #require(await client.call("t", ["path": "f"]).result?["requestState"]?.value)
            }
            func answer(_ client: RawClient, _ state: JSONValue, _ action: String) async -> RawReply {
                await client.request(
                    "tools/call",
                    [
                        "name": "t", "arguments": ["path": "f"], "requestState": state,
                        "inputResponses": ["confirm": ["action": .string(action)]],
                    ])
            }
            let (first, second) = (try await ask(), try await ask())
            #expect(await answer(poor, first, "accept").errorCode == -32021)
            try directory.move("root/f", to: "root/g")
            #expect(await answer(client, first, "accept").result?["isError"]?.bool == true)
            try directory.move("root/g", to: "root/f")
            #expect(lines("\(directory.path)/root/runs") == 0)
            let ran = await answer(client, first, "accept")
            #expect(ran.result != nil && ran.result?["isError"]?.bool != true, "\(ran)")
            #expect(lines("\(directory.path)/root/runs") == 1)
            #expect(await answer(client, first, "accept").errorCode == -32602)
            #expect(await answer(client, second, "decline").text == "t was not run: the user declined")
            #expect(await answer(client, second, "accept").errorCode == -32602)
            #expect(lines("\(directory.path)/root/runs") == 1)
        }
    }

    // MARK: Tasks

    private static let extensions: JSONObject = ["extensions": ["io.modelcontextprotocol/tasks": [:]]]

    private func task(
        _ client: RawClient, _ id: JSONValue, until isDone: (String) -> Bool
    ) async throws -> RawJSON {
        for _ in 0 ..< 3_000 {
            let reply = await client.request("tasks/get", ["taskId": id])
            let result = try #require(reply.result, "\(reply)")
            if isDone(result["status"]?.string ?? "") { return result }
            await pause()
        }
        throw MCPError.internalError("the task does not end")
    }

    @Test func aCallBecomesATask() async throws {
        let server = try server(
            #""t": { "exec": ["sh", "-c", "echo working; sleep 0.3; echo done"], "progress": "lines", "#
                + #""task": "optional" }"#)
        try await withServer(.inMemory(), server.server) { served in
            let client = try await served.client(capabilities: Self.extensions)
            let id = try #require(await client.call("t").result?["taskId"]?.value)
            let end = try await task(client, id) { $0 != "working" }
            #expect(end["status"]?.string == "completed")
            #expect(end["result"]?["content"]?[0]?["text"]?.string == "working\ndone\n")
            #expect(["working", "done"].contains(end["statusMessage"]?.string))
            let plain = try await served.client()
            #expect(await plain.call("t").text == "working\ndone\n")
        }
    }

    /// A task that found no place says so, and no longer that it waits.
    @Test func aTaskThatWasBusy() async throws {
        let server = try server(
            #""t": { "exec": ["sleep", "60"], "timeout": "1s", "concurrency": 1, "task": "required" }"#)
        try await withServer(.inMemory(), server.server) { served in
            let client = try await served.client(capabilities: Self.extensions)
            var messages: [String] = []
            var ids: [JSONValue] = []
            for _ in 0 ..< 5 { ids.append(try #require(await client.call("t").result?["taskId"]?.value)) }
            for id in ids {
                let end = try await task(client, id) { $0 != "working" }
                messages.append(end["statusMessage"]?.string ?? "")
            }
            #expect(messages.contains { $0.hasPrefix("busy: no slot became free within ") }, "\(messages)")
        }
    }

    /// A task whose command waits for others says so.
    @Test func aTaskThatWaitsSaysSo() async throws {
        let directory = try TemporaryDirectory()
        let server = try server(
            #""t": { "exec": ["sh", "-c", "echo x >> runs; until [ -e go ]; do sleep 0.02; done"], "#
                + #""timeout": "1m", "concurrency": 1, "task": "required" }"#, in: directory.path)
        try await withServer(.inMemory(), server.server) { served in
            let client = try await served.client(capabilities: Self.extensions)
            let first = try #require(await client.call("t").result?["taskId"]?.value)
            #expect(await comesTrue { lines("\(directory.path)/runs") == 1 })
            let second = try #require(await client.call("t").result?["taskId"]?.value)
            var message: String?
            for _ in 0 ..< 3_000 where message == nil {
                await pause()
                let reply = await client.request("tasks/get", ["taskId": second])
                message = reply.result?["statusMessage"]?.string
            }
            #expect(message == "waiting for other calls to end")
            try directory.write("go", "")
            for id in [first, second] {
                let end = try await task(client, id) { $0 != "working" }
                #expect(end["status"]?.string == "completed")
            }
        }
    }

    @Test func finishedTasksMakeRoom() async throws {
        let server = try server(#""t": { "exec": ["true"], "task": "required" }"#)
        try await withServer(.inMemory(), server.server) { served in
            let client = try await served.client(capabilities: Self.extensions)
            var ids: [JSONValue] = []
            for _ in 0 ... ServerBuilder.maxTasks {
                let id = try #require(await client.call("t").result?["taskId"]?.value)
                _ = try await task(client, id) { $0 == "completed" }
                ids.append(id)
            }
            #expect(await client.request("tasks/get", ["taskId": ids[0]]).errorCode == -32602)
            #expect(await client.request("tasks/get", ["taskId": ids[1]]).errorCode == nil)
        }
    }

    @Test func aCancelledTaskKillsItsProcesses() async throws {
        let directory = try TemporaryDirectory()
        let server = try server(
            #""t": { "exec": ["sh", "-c", "sleep 600 & echo $! > pid; wait"], "timeout": "20m", "#
                + #""task": "required" }"#, in: directory.path)
        try await withServer(.inMemory(), server.server) { served in
            #expect(await (try await served.client()).call("t").errorCode == -32021)
            let client = try await served.client(capabilities: Self.extensions)
            let id = try #require(await client.call("t").result?["taskId"]?.value)
            var pid: Int32?
            #expect(
                await comesTrue {
                    let text = try? ConfigFile.text(at: "\(directory.path)/pid", shownAs: "pid")
                    pid = text.flatMap { Int32($0) }
                    return pid != nil
                })
            await client.request("tasks/cancel", ["taskId": id])
            let process = try #require(pid)
            #if os(Linux)
            #expect(await comesTrue { [nil, "Z", "X"].contains(ProcFS.state(of: process)) })
            #endif
        }
    }

    // MARK: Cached results

    /// A call that waits for the run of another one has a heartbeat, too.
    @Test func whoWaitsForAnotherRunIsToldSo() async throws {
        let directory = try TemporaryDirectory()
        var runtime = CommandRuntime()
        runtime.heartbeat = .milliseconds(50)
        let server = try ConfiguredServer(
            #"{ "tools": { "t": { "exec": ["sh", "-c", "echo x >> runs; until [ -e go ]; do sleep 0.02; done"], "#
                + #""cacheTtl": "1h", "timeout": "1m", "annotations": {"readOnlyHint": true} } } }"#,
            in: directory.path, runtime: runtime)
        try await withClient(.inMemory(), server.server) { client in
            let first = Task { await client.call("t", progressToken: "a") }
            #expect(await comesTrue { lines("\(directory.path)/runs") == 1 })
            let second = Task { await client.call("t", progressToken: "b") }
            let told = await client.heard("notifications/progress") {
                $0["params"]?["progressToken"]?.string == "b"
            }
            let message = told?["params"]?["message"]?.string ?? "nothing"
            #expect(message.hasPrefix("waiting for the same call to end for "), "\(message)")
            try directory.write("go", "")
            for call in [first, second] { #expect(await call.value.errorCode == nil) }
            #expect(lines("\(directory.path)/runs") == 1)
        }
    }

    @Test func identicalCallsRunOnce() async throws {
        let directory = try TemporaryDirectory()
        let server = try server(
            #""t": { "input": {"x?": {"type": "string"}}, "#
                + #""exec": ["sh", "-c", "echo x >> runs; sleep 0.2; cat runs"], "cacheTtl": "1h", "#
                + #""annotations": {"readOnlyHint": true} }, "#
                + #""bad": { "exec": ["sh", "-c", "echo x >> bad; exit 1"], "cacheTtl": "1h", "#
                + #""annotations": {"readOnlyHint": true} }"#, in: directory.path)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0 ..< 8 { group.addTask { try await server.call("t").text } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "x\n", count: 8))
        #expect(try await server.call("t").text == "x\n")
        #expect(try await server.call("t", ["x": "other"]).text == "x\nx\n")
        // Failures are not kept.
        for _ in 0 ..< 2 { #expect(try await server.call("bad").isError) }
        #expect(lines("\(directory.path)/bad") == 2)
    }
}
