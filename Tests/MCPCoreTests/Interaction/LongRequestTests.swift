import MCPCore
import TestSupport
import Testing

/// Progress, cancellation and deadlines in every revision over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LongRequestTests {
    // PROG-02, PROG-03, JRPC-30, HTTP-18, HTTP-20, LEG-04, LEG-11, META-17
    @Test(arguments: Setting.all, ["t1", 42] as [JSONValue])
    func progress(_ setting: Setting, _ token: JSONValue) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.call("steps", id: "s", progressToken: token)
            #expect(reply.text == "done")
            let mine = client.heard.filter {
                $0["params"]?["progressToken"]?.value == token || $0["id"]?.string == "s"
            }
            #expect(mine.count == 4)
            #expect(mine.last?["id"]?.string == "s")
            #expect(mine.dropLast().compactMap { $0["params"]?["progress"]?.double } == [1, 2, 3])
            #expect(mine.dropLast().allSatisfy { $0["method"]?.string == "notifications/progress" })
            #expect(mine.first?["params"]?["total"]?.double == 3)
            #expect(
                mine.first?["params"]?["message"]?.string == (setting.version >= "2025-03-26" ? "step" : nil))
            // META-14
            #expect(mine.first?["params"]?["_meta"] == nil)
            if setting.leg == .http {
                #expect(reply.headers["content-type"]?.hasPrefix("text/event-stream") == true)
                // HTTP-21
                #expect(reply.headers["x-accel-buffering"] == "no")
            }
        }
    }

    // PROG-04, PROG-09: nobody asked, nothing is sent.
    @Test(arguments: Setting.all) func noProgressWithoutAToken(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            for token in [nil, .null, true, []] as [JSONValue?] {
                let reply = await client.call("steps", progressToken: token)
                #expect(reply.text == "done")
                if setting.leg == .http { #expect(reply.headers["content-type"] == "application/json") }
            }
            #expect(client.heard.allSatisfy { $0["method"] == nil })
        }
    }

    // CANC-01, CANC-03, CANC-11, STDIO-12, HTTP-24, HTTP-25, HTTP-26
    @Test(arguments: Setting.all) func cancellation(_ setting: Setting) async throws {
        let test = try TestServer()
        try await withClient(setting, test.server) { client in
            async let reply = client.call("wait", ["name": "c"], id: "c")
            #expect(await test.begun("c").wait())
            try await client.cancel("c")
            #expect(await test.cancelled.wait())
            #expect(await reply.answer == nil)
            // The connection goes on, and nothing more comes for the cancelled request.
            #expect(await client.call("add", ["a": 1]).text == "1")
            #expect(client.answers(to: "c").isEmpty)
        }
    }

    // CANC-04, CANC-06
    @Test(arguments: Setting.all) func cancellationsThatConcernNobody(_ setting: Setting) async throws {
        let test = try TestServer()
        try await withServer(setting, test.server) { served in
            let (client, other) = (try await served.client(), try await served.client())
            async let reply = client.call("wait", ["name": "d"], id: "d")
            #expect(await test.begun("d").wait())
            for id in ["unknown", 1, .null, [], "D"] as [JSONValue] {
                await client.notify("notifications/cancelled", ["requestId": id])
            }
            await client.notify("notifications/cancelled")
            // Another client's request is not theirs to cancel (CANC-02).
            await other.notify("notifications/cancelled", ["requestId": "d"])
            test.release.open()
            #expect(await reply.text == "released d")
            // It is over: cancelling it now changes nothing.
            await client.notify("notifications/cancelled", ["requestId": "d"])
            #expect(client.answers(to: "d").count == 1)
        }
    }

    // LEG-09: in a session a closed connection is no cancellation.
    @Test(arguments: Setting.legacy.filter { $0.leg == .http })
    func disconnectInASession(_ setting: Setting) async throws {
        let test = try TestServer()
        try await withClient(setting, test.server) { client in
            async let gone = client.call("wait", ["name": "e"], id: "e")
            #expect(await test.begun("e").wait())
            try await client.hangUp("e")
            #expect(await gone.answer == nil)
            // Still in flight: its id is taken in this session.
            #expect(await client.call("add", ["a": 1], id: "e").errorCode == -32600)
            #expect(!test.cancelled.isOpen)
            test.release.open()
        }
    }

    // CANC-08: one answer, then the handler is cancelled, and what it returns is dropped.
    @Test(arguments: Setting.all) func deadline(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.limits.requestDeadline = .seconds(1)
        let test = try TestServer(options)
        try await withClient(setting, test.server) { client in
            let reply = await client.call("wait", ["name": "f"], id: "f")
            #expect(reply.errorCode == MCPError.deadlineExceededCode)
            #expect(reply.status == setting.status(200))
            #expect(await test.cancelled.wait())
            #expect(await client.call("add", ["a": 1]).text == "1")
            #expect(client.answers(to: "f").count == 1)
        }
    }

    // SEC-10: no more requests in flight than the limit.
    @Test(arguments: Setting.all.filter { $0.leg != .http || !$0.isModern })
    func tooManyInFlight(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.limits.maxRequestsInFlight = 2
        let test = try TestServer(options)
        try await withClient(setting, test.server) { client in
            async let first = client.call("wait", ["name": "1"])
            async let second = client.call("wait", ["name": "2"])
            #expect(await test.begun("1").wait())
            #expect(await test.begun("2").wait())
            let third = await client.call("wait", ["name": "3"])
            #expect(third.errorCode == MCPError.overloadedCode)
            // What is answered at once needs no place.
            #expect(await client.call("add", ["a": 1]).text == "1")
            test.release.open()
            #expect(await first.text == "released 1")
            #expect(await second.text == "released 2")
            #expect(await client.call("wait", ["name": "4"]).text == "released 4")
        }
    }
}
