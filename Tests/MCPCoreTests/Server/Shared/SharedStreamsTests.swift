import TestSupport
import Testing

@testable import MCPCore

/// Event streams of old sessions that a client takes up at another instance.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SharedStreamsTests {
    private static let versions = SessionStreamTests.versions
    private static let toolsChanged = "notifications/tools/list_changed"
    private static let slow = #"{"name":"slow","arguments":{},"_meta":{"progressToken":"p"}}"#

    private struct Two {
        let store: SharedStore
        let servers: [MCPServer]
        let ports: [UInt16]
        /// Lets `slow` end.
        let gate: Gate
    }

    /// Serves two instances with one key. `slow` reports progress, waits for the gate, and reports again.
    private static func withTwo(
        steps: Int = 4, padding: Int = 0, _ body: (Two) async throws -> Void
    ) async throws {
        let (store, gate) = (SharedStore(), Gate())
        func instance() throws -> MCPServer {
            var options = ServerOptions()
            options.stateKey = [UInt8](repeating: 5, count: 32)
            options.stateStore = store
            let server = MCPServer("streams", version: "1", options: options)
            try server.register(Tool("slow")) { _, context in
                await context.progress(1)
                await gate.wait()
                let text = padding == 0 ? nil : String(repeating: "x", count: padding)
                for step in 2 ..< steps + 1 { await context.progress(Double(step), message: text) }
                return .text("done")
            }
            return server
        }
        let servers = [try instance(), try instance()]
        try await servers[0].withPort { one in
            try await servers[1].withPort { two in
                defer { gate.open() }
                try await body(Two(store: store, servers: servers, ports: [one, two], gate: gate))
            }
        }
    }

    /// A session of both instances.
    private static func sessions(_ two: Two, _ version: String) async throws -> [WireSession] {
        let session = try await WireSession(port: two.ports[0], version: version)
        return [session, try await WireSession(port: two.ports[1], version: version, id: session.id)]
    }

    /// Begins a call, reads its first event, and goes. Returns the id of that event.
    private static func begin(_ session: WireSession) async throws -> String {
        let call = try session.stream("tools/call", slow, id: 5)
        try #require(await call.until { !$0.messages.isEmpty })
        let id = try #require(call.messages[0].id)
        call.close()
        return id
    }

    private static func settle(_ two: Two) async {
        for server in two.servers { await server.dispatcher.shared?.streams.settle() }
    }

    private static func stored(_ two: Two) -> [String: Duration] {
        two.store.lifetimes.filter { $0.key.hasPrefix("stream:") }
    }

    /// Ends `slow` and waits until its answer is stored.
    private static func finish(_ two: Two) async throws {
        two.gate.open()
        try #require(await comesTrue { two.servers[0].probe.requests == 0 })
        // The response is stored after the request has ended.
        try #require(await comesTrue { stored(two).values.allSatisfy { $0 == ResumableStream.age } })
        await settle(two)
    }

    // LEG-19, LEG-20
    @Test(arguments: versions) func theRestOfACall(_ version: String) async throws {
        try await Self.withTwo { two in
            let sessions = try await Self.sessions(two, version)
            let id = try await Self.begin(sessions[0])
            await Self.settle(two)
            #expect(Self.stored(two).values.map { $0 } == [SharedStreams.openAge])
            try await Self.finish(two)
            let rest = try sessions[1].get(after: id)
            #expect(await rest.until { $0.isComplete }, "\(rest.status ?? 0)")
            #expect(
                rest.messages.compactMap { $0.json?["params"]?["progress"]?.int } == [2, 3, 4])
            #expect(rest.messages.last?.json?["id"]?.int == 5)
            #expect(rest.messages.last?.json?["result"]?["content"]?[0]?["text"]?.string == "done")
            // From the middle, and when nothing is left.
            let middle = try sessions[1].get(after: rest.messages[2].id)
            #expect(await middle.until { $0.isComplete } && middle.messages.count == 1)
            let none = try sessions[1].get(after: rest.messages[3].id)
            #expect(await none.until { $0.isComplete } && none.messages.isEmpty && none.status == 200)
            // The instance of the call has it, too.
            let own = try sessions[0].get(after: id)
            #expect(await own.until { $0.isComplete } && own.messages.count == 4)
            // Nothing of this is readable in the store.
            for value in two.store.values {
                #expect(!String(decoding: value, as: UTF8.self).contains("jsonrpc"))
            }
        }
    }

    /// A client learns no id that other instances cannot find yet, also if the store is slow or fails.
    @Test(arguments: [false, true], versions) func idsThatAreStored(_ fails: Bool, _ version: String)
        async throws
    {
        try await Self.withTwo { two in
            let sessions = try await Self.sessions(two, version)
            let (gate, before) = (Gate(), two.store.waiting)
            defer { gate.open() }
            two.store.gate = gate
            let call = try sessions[0].stream("tools/call", Self.slow, id: 5)
            #expect(await call.opened())
            #expect(await comesTrue { two.store.waiting > before })
            two.gate.open()
            try #require(await comesTrue { two.servers[0].probe.requests == 0 })
            #expect(call.events.isEmpty && !call.isComplete)
            #expect(Self.stored(two).isEmpty)
            two.store.isAway = fails
            gate.open()
            #expect(await call.until { $0.isComplete })
            #expect(call.messages.count == 5)
            let ids = call.events.compactMap(\.id).compactMap {
                $0.split(separator: "-").last.flatMap { Int($0) }
            }
            #expect(ids == Array((version == "2025-11-25" ? 0 : 1) ... 5))
        }
    }

    /// The client asks again, until the call has ended.
    @Test func whileTheCallRuns() async throws {
        try await Self.withTwo { two in
            let sessions = try await Self.sessions(two, "2025-11-25")
            let id = try await Self.begin(sessions[0])
            await Self.settle(two)
            let early = try sessions[1].get(after: id)
            #expect(await early.until { $0.isComplete })
            #expect(early.messages.isEmpty && early.lastID == id)
            #expect(early.events.last?.retry == Int(SharedStreams.pause.milliseconds))
            try await Self.finish(two)
            let rest = try sessions[1].get(after: early.lastID)
            #expect(await rest.until { $0.isComplete } && rest.messages.count == 4)
        }
    }

    /// Without its instance, a call that has not ended never will: the client learns it.
    @Test func anInstanceThatHasEnded() async throws {
        try await Self.withTwo { two in
            let sessions = try await Self.sessions(two, "2025-11-25")
            let id = try await Self.begin(sessions[0])
            await Self.settle(two)
            let key = try #require(two.store.lifetimes.keys.first { $0.hasPrefix("instance:") })
            #expect(two.store.lifetimes[key] == InstanceLease.lifetime)
            // An ended lease that is not renewed any more: another session's entry stays as it is.
            let name = try #require(Self.stored(two).keys.first)
            let value = try #require(try await two.store.value(for: name))
            try await Self.finish(two)
            two.store.expire("instance:")
            two.store.put(value, for: name)
            let gone = try sessions[1].get(after: id)
            #expect(await gone.until { $0.status != nil } && gone.status == 400)
        }
    }

    // LEG-12, LEG-20
    @Test(arguments: versions) func theServersMessages(_ version: String) async throws {
        try await Self.withTwo { two in
            let sessions = try await Self.sessions(two, version)
            let stream = try sessions[0].get()
            #expect(await stream.opened())
            two.servers[0].notifyToolsChanged()
            let first = try #require(await stream.heard(Self.toolsChanged))
            stream.close()
            #expect(await comesTrue { sessions[0].liveStreams(two.servers[0]) == 0 })
            two.servers[0].notifyToolsChanged()
            two.servers[0].probe.deliverChanges()
            await Self.settle(two)
            let other = try sessions[1].get(after: first.id)
            #expect(await other.until { $0.messages.count == 1 })
            // It goes on with what comes here.
            #expect(await comesTrue { sessions[1].liveStreams(two.servers[1]) == 1 })
            two.servers[1].notifyToolsChanged()
            #expect(await other.until { $0.messages.count == 2 })
            #expect(Set(other.messages.compactMap(\.id)).count == 2)
            #expect(!other.isComplete)
            other.close()
            #expect(await comesTrue { sessions[1].liveStreams(two.servers[1]) == 0 })
        }
    }

    /// 64 events and 32 KiB: a client that missed more is told so.
    @Test func limits() async throws {
        for (steps, padding, kept) in [(100, 0, 64), (40, 2_000, 15)] {
            try await Self.withTwo(steps: steps, padding: padding) { two in
                let sessions = try await Self.sessions(two, "2025-11-25")
                let id = try await Self.begin(sessions[0])
                try await Self.finish(two)
                let lost = try sessions[1].get(after: id)
                #expect(await lost.until { $0.status != nil } && lost.status == 400)
                let name = try #require(id.split(separator: "-").first)
                let rest = try sessions[1].get(after: "\(name)-\(steps + 1 - kept)")
                #expect(await rest.until { $0.isComplete || $0.status != 200 && $0.status != nil })
                #expect(rest.messages.count == kept)
                #expect(two.store.values.allSatisfy { $0.count < SharedStreams.maxBytes + 1_000 })
                // The instance of the call keeps more.
                let own = try sessions[0].get(after: id)
                #expect(await own.until { $0.isComplete } && own.messages.count == steps)
            }
        }
    }

    @Test func withoutTheStore() async throws {
        try await Self.withTwo { two in
            let sessions = try await Self.sessions(two, "2025-11-25")
            let id = try await Self.begin(sessions[0])
            try await Self.finish(two)
            two.store.isAway = true
            let away = try sessions[1].get(after: id)
            #expect(await away.until { $0.status != nil } && away.status == 503)
            #expect(away.headers["retry-after"] == "1")
            // Its own instance needs no store.
            let own = try sessions[0].get(after: id)
            #expect(await own.until { $0.isComplete } && own.messages.count == 4)
            two.store.isAway = false
            let rest = try sessions[1].get(after: id)
            #expect(await rest.until { $0.isComplete } && rest.messages.count == 4)
        }
    }

    /// Neither another session nor another client of the store gets or makes events.
    @Test func foreignEvents() async throws {
        try await Self.withTwo { two in
            let sessions = try await Self.sessions(two, "2025-11-25")
            let id = try await Self.begin(sessions[0])
            try await Self.finish(two)
            let other = try await WireSession(port: two.ports[1], version: "2025-11-25")
            let key = try #require(Self.stored(two).keys.first)
            let good = try #require(try await two.store.value(for: key))
            func status(_ session: WireSession, _ id: String) async throws -> Int? {
                let stream = try session.get(after: id)
                #expect(await stream.until { $0.status != nil })
                return stream.status
            }
            #expect(try await status(other, id) == 400)
            let long = String(repeating: "a", count: 63) + "-1"
            for forged in ["x", "-1", "x-", "x-1", "x:y-1", long, "\(id)0"] {
                #expect(try await status(sessions[1], forged) == 400, "\(forged)")
            }
            for value in [[], [0x31], Array(good.dropLast()), good.map { $0 ^ 1 }] {
                two.store.put(value, for: key)
                #expect(try await status(sessions[1], id) == 400, "\(value.count)")
            }
            // One stream in the place of another.
            let second = try await Self.begin(sessions[0])
            await Self.settle(two)
            let place = try #require(Self.stored(two).keys.first { $0 != key })
            two.store.put(good, for: place)
            #expect(try await status(sessions[1], second) == 400)
        }
    }

    // LEG-24
    @Test func theEndOfASession() async throws {
        try await Self.withTwo { two in
            let sessions = try await Self.sessions(two, "2025-11-25")
            let id = try await Self.begin(sessions[0])
            try await Self.finish(two)
            #expect(Self.stored(two).count == 1)
            #expect(try await sessions[0].delete() == 204)
            await Self.settle(two)
            #expect(Self.stored(two).isEmpty)
            let gone = try sessions[1].get(after: id)
            #expect(await gone.until { $0.status != nil } && gone.status == 404)
        }
    }
}
