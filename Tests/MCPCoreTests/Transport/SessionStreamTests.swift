import MCPCore
import Synchronization
import TestSupport
import Testing

/// Streams of sessions over raw HTTP: the GET stream and resumption (2025-11-25 basic/transports).
@Suite(.serialized, .timeLimit(.minutes(5))) struct SessionStreamTests {
    static let versions = ["2025-03-26", "2025-06-18", "2025-11-25"]
    private static let toolsChanged = "notifications/tools/list_changed"
    private static let updated = "notifications/resources/updated"

    private static func open(_ session: WireSession, after id: String? = nil) async throws -> WireStream {
        let stream = try session.get(after: id)
        try #require(await stream.opened(), "\(stream.status ?? 0)")
        return stream
    }

    /// Reports progress, then waits for the gate, and reports again.
    private static func slowServer(_ gate: Gate) throws -> MCPServer {
        let server = try TestServer().server
        try server.register(Tool("slow")) { _, context in
            await context.progress(1)
            await gate.wait()
            for step in 2 ... 4 { await context.progress(Double(step)) }
            return .text("done")
        }
        return server
    }

    private static let slow = #"{"name":"slow","arguments":{},"_meta":{"progressToken":"p"}}"#

    // MARK: The GET stream

    // LEG-01, LEG-13, HTTP-16, HTTP-17, LEG-23, LEG-24, HDR-03: who may open it.
    @Test func whoMayOpenIt() async throws {
        let server = try TestServer().server
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: "2025-11-25")
            let oldest = try await WireSession(port: port, version: "2024-11-05")
            let id = "Mcp-Session-Id: \(session.id)"
            let cases: [(fields: [String], accept: String?, status: Int)] = [
                ([id], "text/event-stream", 200), ([id], "application/json, text/event-stream", 200),
                ([id], "*/*", 200), ([id], nil, 406), ([id], "application/json", 406),
                ([id], "text/event-stream;q=0", 406),
                ([], "text/event-stream", 405), (["Mcp-Session-Id: x"], "text/event-stream", 404),
                ([id, id], "text/event-stream", 400),
                (["Mcp-Session-Id: \(oldest.id)"], "text/event-stream", 405),
                ([id, "MCP-Protocol-Version: 2025-11-25"], "text/event-stream", 200),
                ([id, "MCP-Protocol-Version: 1999-01-01"], "text/event-stream", 400),
                ([id, "MCP-Protocol-Version: 2026-07-28"], "text/event-stream", 405),
                ([id, "Content-Length: 2"], "text/event-stream", 400),
                ([id, "Origin: https://evil.example"], "text/event-stream", 403),
            ]
            for (fields, accept, status) in cases {
                let stream = try WireStream(port: port, WireSession.get(fields, accept: accept))
                #expect(await stream.until { $0.status != nil || $0.isOver })
                #expect(stream.status == status, "\(fields) \(accept ?? "-")")
                if status == 200 {
                    #expect(stream.headers["content-type"] == "text/event-stream")
                    #expect(stream.headers["cache-control"] == "no-store")
                }
                if status == 405 { #expect(stream.headers["allow"]?.contains("POST") == true) }
                stream.close()
                #expect(
                    await comesTrue { session.liveStreams(server) == 0 })
            }
        }
    }

    // LEG-16, LEG-17: at most four, and each message on one of them.
    @Test(arguments: versions) func several(_ version: String) async throws {
        let server = try TestServer().server
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: version)
            var streams: [WireStream] = []
            for _ in 0 ..< 4 { streams.append(try await Self.open(session)) }
            let fifth = try session.get()
            #expect(await fifth.until { $0.status == 409 })
            for round in 1 ... 20 {
                server.notifyToolsChanged()
                server.probe.deliverChanges()
                let all = streams
                #expect(await comesTrue { all.map(\.methods.count).reduce(0, +) == round })
            }
            #expect(streams.map(\.methods.count).sorted() == [0, 0, 0, 20])
            // Another session has streams of its own.
            let other = try await Self.open(try await WireSession(port: port, version: version))
            // One that ends makes room, and another one gets what comes.
            let newest = try #require(streams.first { !$0.methods.isEmpty })
            newest.close()
            var last: WireStream?
            for _ in 0 ..< 100 where last?.status != 200 {
                last = try session.get()
                #expect(await last?.until { $0.status != nil } == true)
            }
            server.notifyToolsChanged()
            #expect(await last?.heard(Self.toolsChanged) != nil)
            #expect(await other.heard(Self.toolsChanged) != nil)
            for stream in streams + [other, last].compactMap({ $0 }) { stream.close() }
        }
    }

    // LEG-06, LEG-18: ids name their stream; 2025-11-25 has one before anything can be lost.
    @Test(arguments: versions) func ids(_ version: String) async throws {
        let server = try TestServer().server
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: version)
            let streams = [try await Self.open(session), try await Self.open(session)]
            for stream in streams {
                guard version == "2025-11-25" else { continue }
                #expect(await stream.until { !$0.events.isEmpty })
                #expect(stream.events[0].data.isEmpty && stream.events[0].id != nil)
            }
            server.notifyToolsChanged()
            #expect(await streams[1].heard(Self.toolsChanged) != nil)
            streams[1].close()
            #expect(await comesTrue { session.liveStreams(server) == 1 })
            server.notifyToolsChanged()
            #expect(await streams[0].heard(Self.toolsChanged) != nil)
            let ids = streams.flatMap { $0.events.compactMap(\.id) }
            #expect(ids.count == Set(ids).count)
            #expect(ids.count == (version == "2025-11-25" ? 4 : 2))
            let names = streams.map { Set($0.events.compactMap { $0.id?.split(separator: "-").first }) }
            #expect(names.allSatisfy { $0.count == 1 } && names[0] != names[1])
            streams[0].close()
        }
    }

    // HTTP-22: proxies keep a quiet stream open.
    @Test func quietStreams() async throws {
        let server = try TestServer().server
        var options = HTTPServerOptions()
        options.keepAliveInterval = .milliseconds(20)
        try await server.withPort(options, loops: 2) { port in
            let session = try await WireSession(port: port, version: "2025-11-25")
            let body = HTTPServerTests.body(
                "subscriptions/listen", #""notifications":{"toolsListChanged":true}"#)
            let modern = try WireStream(
                port: port, HTTPServerTests.post(body, method: "subscriptions/listen"))
            for stream in [try await Self.open(session), modern] {
                #expect(await stream.until { $0.comments >= 3 })
                stream.close()
            }
        }
    }

    // HTTP-22: neither do they give up on a call that takes long, in any revision.
    @Test func quietCalls() async throws {
        let gate = Gate()
        let server = try TestServer().server
        try server.register(Tool("quiet")) { _, _ in
            await gate.wait()
            return .text("done")
        }
        var options = HTTPServerOptions()
        options.keepAliveInterval = .milliseconds(20)
        try await server.withPort(options, loops: 2) { port in
            let session = try await WireSession(port: port, version: "2025-11-25")
            let body = HTTPServerTests.body("tools/call", #""name":"quiet""#)
            let modern = try WireStream(
                port: port,
                HTTPServerTests.post(body, method: "tools/call", more: "Mcp-Name: quiet\r\n"))
            let streams = [try session.stream("tools/call", #"{"name":"quiet"}"#, id: 5), modern]
            for stream in streams { #expect(await stream.until { $0.comments >= 3 }) }
            gate.open()
            for stream in streams {
                #expect(await stream.until { $0.isComplete && $0.messages.count == 1 })
                stream.close()
            }
        }
    }

    // LEG-11, LEG-24, LEG-26: the end of a session ends its streams and its requests.
    @Test func endOfASession() async throws {
        let gate = Gate()
        let server = try Self.slowServer(gate)
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: "2025-11-25")
            let other = try await WireSession(port: port, version: "2025-11-25")
            let streams = [try await Self.open(session), try await Self.open(session)]
            let call = try session.stream("tools/call", Self.slow, id: 5)
            let kept = try await Self.open(other)
            #expect(await call.until { $0.messages.count == 1 })
            #expect(try await session.delete() == 204)
            for stream in streams + [call] { #expect(await stream.until { $0.isComplete }) }
            #expect(call.messages.count == 1)
            #expect(try await session.request("tools/list")?.status == 404)
            let again = try session.get()
            #expect(await again.until { $0.status == 404 })
            server.notifyToolsChanged()
            #expect(await kept.heard(Self.toolsChanged) != nil)
            #expect(server.probe.requests == 0)
            gate.open()
            kept.close()
        }
    }

    // The end of the server ends streams in good order.
    @Test func endOfTheServer() async throws {
        let server = try TestServer().server
        var streams: [WireStream] = []
        try await server.withPort(loops: 2) { port in
            for version in Self.versions {
                streams.append(try await Self.open(try await WireSession(port: port, version: version)))
            }
            server.notifyToolsChanged()
        }
        for stream in streams {
            #expect(await stream.until { $0.isComplete })
            #expect(stream.methods == [Self.toolsChanged])
        }
    }

    // MARK: Taking up again

    // LEG-19, LEG-20: nothing of the server's own messages is lost, nothing comes twice, and it goes on.
    @Test(arguments: versions) func theServersStream(_ version: String) async throws {
        let server = try TestServer().server.covering("a:{number}")
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: version)
            for number in 0 ..< 40 {
                let reply = try await session.request("resources/subscribe", #"{"uri":"a:\#(number)"}"#)
                #expect(reply?.status == 200)
            }
            func change(_ numbers: Range<Int>) {
                for number in numbers {
                    server.notifyResourceUpdated("a:\(number)")
                    server.probe.deliverChanges()
                }
            }
            var heard: [String] = []
            var last: String?
            for round in 0 ..< 4 {
                let stream = try await Self.open(session, after: last)
                change(round * 10 ..< round * 10 + 5)
                let wanted = round == 0 ? 5 : 10
                #expect(await stream.until { $0.messages.count >= wanted })
                // What was read last may not be what was sent last.
                let cut = stream.messages.prefix(wanted - round % 2)
                heard += cut.compactMap { $0.json?["params"]?["uri"]?.string }
                last = cut.last?.id
                stream.close()
                #expect(await comesTrue { session.liveStreams(server) == 0 })
                change(round * 10 + 5 ..< round * 10 + 10)
                if round % 2 == 1 {
                    // The one that was cut off comes first, once.
                    let rest = try await Self.open(session, after: last)
                    #expect(await rest.until { $0.messages.count >= 6 })
                    heard += rest.messages.prefix(1).compactMap { $0.json?["params"]?["uri"]?.string }
                    last = rest.messages.first?.id
                    rest.close()
                    #expect(await comesTrue { session.liveStreams(server) == 0 })
                }
            }
            let rest = try await Self.open(session, after: last)
            #expect(await rest.until { $0.messages.count >= 5 })
            heard += rest.messages.compactMap { $0.json?["params"]?["uri"]?.string }
            #expect(heard == (0 ..< 40).map { "a:\($0)" })
            rest.close()
        }
    }

    // LEG-09, LEG-14, LEG-20: a call goes on without its client, which gets the rest on another connection.
    @Test(arguments: versions) func aCall(_ version: String) async throws {
        let gate = Gate()
        let server = try Self.slowServer(gate)
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: version)
            let listening = try await Self.open(session)
            let call = try session.stream("tools/call", Self.slow, id: 5)
            #expect(await call.until { $0.messages.count == 1 })
            let last = try #require(call.lastID)
            call.close()
            #expect(try await session.request("ping")?.status == 200)
            #expect(server.probe.requests == 1)
            // Once before the rest is there, and once after it.
            let early = try await Self.open(session, after: last)
            gate.open()
            #expect(await early.until { $0.isComplete })
            let late = try await Self.open(session, after: last)
            #expect(await late.until { $0.isComplete })
            for stream in [early, late] {
                #expect(stream.methods == Array(repeating: "notifications/progress", count: 3))
                #expect(stream.messages.last?.json?["result"]?["content"]?[0]?["text"]?.string == "done")
                #expect(stream.messages.last?.json?["id"]?.int == 5)
            }
            #expect(early.events.map(\.id) == late.events.map(\.id))
            // No answer and nothing of the call on the server's own stream.
            server.notifyToolsChanged()
            #expect(await listening.heard(Self.toolsChanged) != nil)
            #expect(listening.messages.count == 1)
            listening.close()
        }
    }

    // LEG-16: who takes a stream up ends it for who had it.
    @Test func takingOver() async throws {
        let server = try TestServer().server
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: "2025-11-25")
            let first = try await Self.open(session)
            #expect(await first.until { !$0.events.isEmpty })
            let second = try await Self.open(session, after: first.lastID)
            #expect(await first.until { $0.isComplete })
            #expect(session.liveStreams(server) == 1)
            server.notifyToolsChanged()
            #expect(await second.heard(Self.toolsChanged) != nil)
            #expect(first.messages.isEmpty)
            second.close()
        }
    }

    // LEG-20: only events of this session; what is not there is 400, never another stream's (fault 71).
    @Test func idsOfOthers() async throws {
        let server = try TestServer().server
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: "2025-11-25")
            let other = try await WireSession(port: port, version: "2025-11-25")
            let stream = try await Self.open(other)
            #expect(await stream.until { !$0.events.isEmpty })
            let id = try #require(stream.lastID)
            let name = id.prefix { $0 != "-" }
            let ids = [
                id, "x", "-", "--", "\(name)", "\(name)-", "\(name)-x", "\(name)-+0", "\(name)--1",
                "\(name)-99999999999999999999", String(repeating: "9", count: 4_000), "\(id)-0",
            ]
            for wrong in ids {
                let refused = try session.get(after: wrong)
                #expect(await refused.until { $0.status != nil || $0.isOver })
                #expect(refused.status == 400, "\(wrong.prefix(60))")
            }
            for wrong in ["\(name)-1", "\(name)-7", id.uppercased() + "x"] {
                let refused = try other.get(after: wrong)
                #expect(await refused.until { $0.status == 400 }, "\(wrong)")
            }
            let twice = try WireStream(
                port: port,
                WireSession.get(
                    ["Mcp-Session-Id: \(other.id)", "Last-Event-ID: \(id)", "Last-Event-ID: \(id)"]))
            #expect(await twice.until { $0.status == 400 })
            server.notifyToolsChanged()
            #expect(await stream.heard(Self.toolsChanged) != nil)
            stream.close()
        }
    }

    // LEG-07: the handler lets the client poll; LEG-10: only where the revision has that.
    @Test(arguments: versions) func polling(_ version: String) async throws {
        let gates = [Gate(), Gate()]
        let server = try TestServer().server
        try server.register(Tool("polled")) { _, context in
            await context.progress(1)
            for gate in gates {
                context.releaseStream(retryAfter: .milliseconds(250))
                await gate.wait()
                await context.progress(gate === gates[0] ? 2 : 3)
            }
            return .text("done")
        }
        try await server.withPort(loops: 2) { port in
            let session = try await WireSession(port: port, version: version)
            let call = try session.stream("tools/call", Self.slow.replacing("slow", with: "polled"), id: 5)
            guard version == "2025-11-25" else {
                #expect(await call.until { $0.messages.count == 1 })
                for gate in gates { gate.open() }
                #expect(await call.until { $0.isComplete })
                #expect(call.messages.count == 4)
                #expect(call.events.allSatisfy { $0.retry == nil })
                return
            }
            var streams = [call]
            for gate in gates {
                let stream = try #require(streams.last)
                if gate === gates[1] { #expect(await stream.until { $0.messages.count == 1 }) }
                #expect(await stream.until { $0.isComplete })
                #expect(stream.events.last?.retry == 250)
                #expect(stream.events.last?.data == "")
                // The handler can only let go of a stream that is there.
                streams.append(try await Self.open(session, after: stream.lastID))
                gate.open()
            }
            let last = try #require(streams.last)
            #expect(await last.until { $0.isComplete })
            let values = streams.flatMap(\.messages).compactMap { $0.json?["params"]?["progress"]?.int }
            #expect(values == [1, 2, 3])
            #expect(last.messages.last?.json?["result"]?["content"]?[0]?["text"]?.string == "done")
        }
    }

    // JRPC-26, LEG-20, LEG-21: another instance with the same key goes on with a session; its events are
    // gone.
    @Test func anotherInstance() async throws {
        var options = ServerOptions()
        options.stateKey = [UInt8](repeating: 3, count: 32)
        var session: WireSession?
        var last: String?
        try await TestServer(options).server.withPort(loops: 2) { port in
            let opened = try await WireSession(port: port, version: "2025-11-25")
            let stream = try await Self.open(opened)
            #expect(await stream.until { !$0.events.isEmpty })
            (session, last) = (opened, stream.lastID)
        }
        let server = try TestServer(options).server
        try await server.withPort(loops: 2) { port in
            let again = try await WireSession(port: port, version: "2025-11-25", id: #require(session).id)
            let lost = try again.get(after: last)
            #expect(await lost.until { $0.status == 400 })
            #expect(try await again.request("resources/subscribe", #"{"uri":"mem://a"}"#)?.status == 200)
            let stream = try await Self.open(again)
            server.notifyResourceUpdated("mem://a")
            #expect(await stream.heard(Self.updated) != nil)
            stream.close()
        }
        // A key of its own: the session is nobody's.
        try await TestServer().server.withPort(loops: 2) { port in
            let lost = try await WireSession(port: port, version: "2025-11-25", id: #require(session).id)
                .get()
            #expect(await lost.until { $0.status == 404 })
        }
    }

    // Several addresses of one server are one endpoint: what is opened here goes on there, and ends
    // everywhere.
    @Test func severalAddresses() async throws {
        let directory = TemporaryDirectory()
        let server = try TestServer().server
        let running = try server.start([
            .http(.tcp(port: 0), .unix(path: "\(directory.path)/s"), .tcp(port: 0))
        ])
        let ports = running.ports
        #expect(ports.count == 2 && ports[0] != ports[1])
        let session = try await WireSession(port: ports[0], version: "2025-11-25")
        let stream = try await Self.open(session)
        #expect(await stream.until { !$0.events.isEmpty })
        stream.close()
        let there = try await WireSession(port: ports[1], version: "2025-11-25", id: session.id)
        let resumed = try await Self.open(there, after: stream.lastID)
        #expect(try await there.delete() == 204)
        #expect(await resumed.until { $0.isComplete })
        #expect(try await session.request("ping")?.status == 404)
        await running.stop()
    }
}
