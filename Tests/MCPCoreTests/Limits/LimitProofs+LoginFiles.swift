import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension LimitProofs {
    static let loginFiles: [LimitProof] = [
        LimitProof("file of a login", LimitText.bytes(FileTokenStore.maxEntryBytes), entry),
        LimitProof(
            "`servers.json`, remembered servers",
            "\(LimitText.bytes(FileTokenStore.maxServersBytes)), "
                + LimitText.grouped(FileTokenStore.maxServers), servers),
        LimitProof(
            "wait for a process that uses the same login", LimitText.seconds(FileTokenStore.lockTimeout), lock
        ),
        LimitProof(
            "head of a redirect: its address, its fields", LimitText.bytes(RedirectListener.maxHeadBytes),
            head),
        LimitProof(
            "connections of the listener for the redirect", "\(RedirectListener.maxConnections)",
            connections),
        LimitProof(
            "head of a request to it", LimitText.seconds(RedirectListener.headTimeout), headTime),
        LimitProof(
            "its end after the login, for the last page", LimitText.seconds(RedirectListener.pageTimeout), end
        ),
    ]

    private static let key = TokenKey(issuer: "https://id.example", resource: "")

    private static func store(_ directory: TemporaryDirectory, _ clock: any TimeSource = SystemClock())
        -> FileTokenStore
    {
        FileTokenStore(directory: directory.path, user: geteuid(), clock: clock)
    }

    @Sendable private static func entry() async throws {
        let directory = TemporaryDirectory()
        let store = store(directory)
        let file = "\(directory.path)/\(FileTokenStore.name(of: key)).json"
        func write(_ count: Int) async throws {
            let tokens = StoredTokens(accessToken: String(repeating: "x", count: count))
            try await store.update(key) { entry in
                entry = StoredAuthorization()
                entry?.tokens = tokens
            }
        }
        try await write(1)
        let rest = FileTokenStore.maxEntryBytes - (try Files.info(file).size)
        try await write(1 + rest)
        #expect(try Files.info(file).size == FileTokenStore.maxEntryBytes)
        await #expect(throws: AuthorizationError.self) { try await write(2 + rest) }
        #expect(try await store.read(key)?.tokens?.accessToken.utf8.count == 1 + rest)
        let bytes = try Files.read(file, maxBytes: 1 << 20)
        try Files.replace(file, with: bytes + [UInt8(ascii: "\n")])
        await #expect(throws: AuthorizationError.self) { try await store.read(key) }
    }

    @Sendable private static func servers() async throws {
        let directory = TemporaryDirectory()
        let store = store(directory)
        try await store.setKey(key, forServer: "https://a.example/0")
        let members = (0 ..< FileTokenStore.maxServers - 1).map { number in
            "\"https://a.example/\(number)\":{\"issuer\":\"https://id.example\",\"resource\":\"\",\"client\":\"\"}"
        }
        try directory.write("servers.json", #"{"version":1,"servers":{\#(members.joined(separator: ","))}}"#)
        try await store.setKey(key, forServer: "https://a.example/last")
        #expect(try await store.servers().count == FileTokenStore.maxServers)
        await #expect(throws: AuthorizationError.self) {
            try await store.setKey(key, forServer: "https://a.example/more")
        }
        #expect(try await store.servers().count == FileTokenStore.maxServers)

        let room = String(repeating: " ", count: FileTokenStore.maxServersBytes - 26)
        try directory.write("servers.json", #"{"version":1,"servers":{}}"# + room)
        #expect(try await store.servers().isEmpty)
        try directory.write("servers.json", #"{"version":1,"servers":{}}"# + room + " ")
        await #expect(throws: AuthorizationError.self) { try await store.servers() }
    }

    @Sendable private static func lock() async throws {
        let directory = TemporaryDirectory()
        let (isHeld, isOver) = (Gate(), Gate())
        let holder = Task {
            try await store(directory).update(key) { _ in
                isHeld.open()
                await isOver.wait()
            }
        }
        await isHeld.wait()
        let clock = ManualClock()
        let waiting = Task { try await store(directory, clock).update(key) { _ in } }
        #expect(await comesTrue { clock.scheduledCount == 1 })
        clock.advance(by: FileTokenStore.lockTimeout - .milliseconds(1))
        #expect(await comesTrue { clock.scheduledCount == 1 })
        clock.advance(by: .seconds(1))
        await #expect(throws: AuthorizationError.self) { try await waiting.value }
        isOver.open()
        try await holder.value
    }

    private static func withListener(_ body: (RedirectListener, UInt16) async throws -> Void) async throws {
        let listener = try RedirectListener(RedirectAddress(host: .ipv4, port: 0))
        do { try await body(listener, listener.address.port) } catch {
            await listener.end()
            throw error
        }
        await listener.end()
    }

    @Sendable private static func head() async throws {
        try await withListener { (listener, port) async throws in
            listener.handler.expect { _ in true }
            let start = "GET /callback?x="
            let room = RedirectListener.maxHeadBytes - start.utf8.count - " HTTP/1.1".utf8.count
            func status(_ count: Int) async throws -> Int {
                let target = "/callback?x=" + String(repeating: "y", count: count)
                return try await PlainHTTP.send("GET", target, port: port).status
            }
            #expect(try await status(room) == 303)
            #expect(try await status(room + 1) == 414)
            let long = String(repeating: "y", count: RedirectListener.maxHeadBytes)
            #expect(try await PlainHTTP.send("GET", "/", port: port, headers: [("X", long)]).status == 431)
        }
    }

    @Sendable private static func connections() async throws {
        try await withListener { _, port in
            var all: [PlainConnection] = []
            for _ in 0 ..< RedirectListener.maxConnections {
                let connection = try PlainConnection(port: port)
                try connection.send("GET", "/x", headers: [("Host", "127.0.0.1:\(port)")])
                #expect(try connection.response().status == 404)
                all.append(connection)
            }
            let more = try PlainConnection(port: port)
            #expect(try more.response().status == 503)
            withExtendedLifetime(all) {}
        }
    }

    @Sendable private static func headTime() async throws {
        let options = RedirectListener.options
        #expect(options.headTimeout == RedirectListener.headTimeout)
        #expect(options.headTimeout < HTTPServerOptions().headTimeout)
    }

    @Sendable private static func end() async throws {
        let clock = ManualClock()
        let listener = try RedirectListener(RedirectAddress(host: .ipv4, port: 0), clock: clock)
        let port = listener.address.port
        listener.handler.expect { _ in true }
        #expect(try await PlainHTTP.send("GET", "/callback", port: port).status == 303)
        let end = Task { await listener.close() }
        try #require(await comesTrue { clock.scheduledCount == 1 })
        clock.advance(by: RedirectListener.pageTimeout - .milliseconds(1))
        #expect(try await PlainHTTP.send("GET", "/favicon.ico", port: port).status == 404)
        clock.advance(by: .milliseconds(1))
        await end.value
        #expect(throws: PlainConnection.Failure.self) { _ = try PlainConnection(port: port) }
    }
}
