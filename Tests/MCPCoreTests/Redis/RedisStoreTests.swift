import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The connection to a store, and what becomes of it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RedisStoreTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func connected(
        _ peer: FakeRedis, password: String? = nil, path: String = "", _ lines: Lines = Lines()
    ) async throws -> RedisStore {
        let store = try RedisStore(
            peer.address + path, password: password, prefix: "p:", log: { lines.add($0) })
        try #require(await comesTrue { store.status.isConnected })
        return store
    }

    private func failure(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? RedisStore.Failure)?.description ?? "\(type(of: error))"
        }
    }

    // MARK: Addresses

    @Test func addresses() throws {
        let tcp = try RedisAddress("redis://ops@db.example:7000/3")
        #expect(tcp.place == .tcp(host: "db.example", port: 7000))
        #expect(tcp.user == "ops" && tcp.database == 3 && tcp.description == "db.example:7000")
        #expect(!tcp.isLocal)
        #expect(try RedisAddress("redis://127.0.0.1").place == .tcp(host: "127.0.0.1", port: 6379))
        #expect(try RedisAddress("redis://[::1]:1/").description == "[::1]:1")
        let unix = try RedisAddress("unix:///run/redis.sock?db=2")
        #expect(unix.description == "/run/redis.sock" && unix.database == 2 && unix.isLocal)
        #expect(
            try ["redis://localhost", "redis://[::1]", "redis://127.9.9.9"].allSatisfy {
                try RedisStore.check($0).isLocal
            })
        // A name that only looks like an address.
        #expect(try !RedisStore.check("redis://127.0.0.1.example").isLocal)
    }

    @Test(arguments: [
        "", "redis:", "http://x", "redis://", "redis://:6379", "redis://x:0", "redis://x:65536",
        "redis://x:a",
        "redis://x/-1", "redis://x/65536", "redis://x/a", "redis://x/0/1", "redis://a b", "redis://x\n",
        "redis://x?db=1", "unix://relative", "unix:///a?x=1", "unix:///a?db=", "unix://",
        "unix:///" + String(repeating: "a", count: 200), "redis://" + String(repeating: "a", count: 1100),
    ]) func wrongAddresses(_ text: String) {
        #expect(throws: RedisStore.AddressError.self) { try RedisStore.check(text) }
    }

    @Test func whatIsRefusedIsSaid() {
        let secret = #expect(throws: RedisStore.AddressError.self) {
            try RedisStore.check("redis://user:S3CRET@x")
        }
        #expect(secret?.description.contains("password") == true)
        #expect(secret?.description.contains("S3CRET") == false)
    }

    // MARK: TLS

    #if !canImport(Darwin)
    @Test(.enabled(if: TLSFront.isWanted, "libssl.so.3 is not installed"))
    func encryptedConnections() async throws {
        let peer = try FakeRedis { command in
            command.first == "GET" ? "$3\r\nabc\r\n" : FakeRedis.obliging(command)
        }
        defer { peer.stop() }
        let front = try TLSFront(to: peer.port)
        defer { front.stop() }
        let address = "rediss://localhost:\(front.port)"
        let store = try RedisStore(
            address + "/2", password: "S3CRET", prefix: "p:", tls: Secured.tls, log: nil)
        try #require(await comesTrue { store.status.isConnected })
        #expect(peer.heard.first == ["AUTH", "S3CRET"])
        // More than one record, and many at once.
        try await store.set([UInt8](repeating: 0x78, count: 60_000), for: "large", lifetime: .seconds(1))
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            for number in 0 ..< 200 { group.addTask { try await store.value(for: "\(number)") } }
            for try await value in group { #expect(value == Array("abc".utf8)) }
        }
        #expect(peer.commands.contains { $0.first == "SET" && $0[2].utf8.count == 60_000 })

        // A certificate that nobody vouches for, and a peer without TLS: nothing is sent to either.
        let heard = peer.heard.count
        for (place, wanted) in [(address, "not trusted"), ("rediss://localhost:\(peer.port)", "TLS")] {
            let lines = Lines()
            let refused = try RedisStore(
                place, password: "S3CRET", tls: OpenSSLProvider.system, log: { lines.add($0) })
            try #require(await comesTrue { !lines.all.isEmpty })
            #expect(refused.status.isConnected == false)
            #expect(lines.all.first?.contains("cannot be used") == true)
            if place == address { #expect(lines.all.first?.contains(wanted) == true, "\(lines.all)") }
        }
        #expect(peer.heard.dropFirst(heard).allSatisfy { $0.first != "AUTH" })
    }
    #endif

    // MARK: Commands

    @Test func commands() async throws {
        let peer = try FakeRedis()
        defer { peer.stop() }
        let store = try await connected(peer, password: "secret", path: "/5")
        #expect(try await store.value(for: "a") == nil)
        try await store.set([0x31], for: "a", lifetime: .seconds(2))
        #expect(try await store.insert([0x31], for: "a", lifetime: .microseconds(1)))
        try await store.removeValue(for: "a")
        #expect(
            peer.heard == [
                ["AUTH", "secret"], ["SELECT", "5"], ["PING"], ["GET", "p:a"],
                ["SET", "p:a", "1", "PX", "2000"], ["SET", "p:a", "1", "PX", "1", "NX"], ["DEL", "p:a"],
            ])
        peer.answer { $0.first == "GET" ? "$2\r\nab\r\n" : "$-1\r\n" }
        #expect(try await store.value(for: "a") == Array("ab".utf8))
        #expect(try await !store.insert([0x31], for: "a", lifetime: .seconds(1)))
        #expect(store.status.commands == 6 && store.status.failures == 0)
    }

    /// Many commands at once share the connection, and each receives its own reply.
    @Test func pipelining() async throws {
        let peer = try FakeRedis(
            FakeRedis.ready { command in
                let key = command[1]
                return "$\(key.utf8.count)\r\n\(key)\r\n"
            })
        defer { peer.stop() }
        let store = try await connected(peer)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0 ..< 500 {
                group.addTask {
                    try await store.value(for: "\(number)") == Array("p:\(number)".utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(peer.connections == 1)
    }

    @Test func refusedCommands() async throws {
        let peer = try FakeRedis(FakeRedis.ready { _ in "-READONLY S3CRET\r\n" })
        defer { peer.stop() }
        let store = try await connected(peer)
        let text = await failure { try await store.set([1], for: "a", lifetime: .seconds(1)) }
        #expect(text == "it refused the command (READONLY)")
        #expect(store.status.isConnected && store.status.failures == 1)
        #expect(store.status.lastError == "SET: it refused the command (READONLY)")
        // Only a command like it shows that it is over.
        peer.answer { _ in "$1\r\nx\r\n" }
        _ = try await store.value(for: "a")
        #expect(store.status.lastError != nil)
        peer.answer { _ in "+OK\r\n" }
        try await store.set([1], for: "a", lifetime: .seconds(1))
        #expect(store.status.lastError == nil)
        // Replies of a kind that does not belong to the command.
        peer.answer { _ in ":1\r\n" }
        #expect(await failure { _ = try await store.value(for: "a") } == "an unexpected reply")
        #expect(await failure { try await store.set([1], for: "a", lifetime: .zero) } != nil)
    }

    // MARK: A store that is away

    @Test func aStoreThatDoesNotListen() async throws {
        let peer = try FakeRedis()
        peer.stop()
        let lines = Lines()
        let store = try RedisStore(peer.address, password: nil, log: { lines.add($0) })
        #expect(await failure { _ = try await store.value(for: "a") } != nil)
        #expect(await comesTrue { lines.all.count == 1 })
        #expect(lines.all[0].contains("127.0.0.1:\(peer.port) cannot be used"))
        #expect(store.status.lastError != nil)
        // Nobody waits for it.
        let begun = ContinuousClock.now
        for _ in 0 ..< 100 { #expect(await failure { _ = try await store.value(for: "a") } != nil) }
        #expect(ContinuousClock.now - begun < .seconds(5))
        #expect(lines.all.count == 1)
    }

    /// One that greets well and then sends what nobody asked for is tried ever less often, and reported once.
    @Test func aStoreThatOnlyGreets() async throws {
        let peer = try FakeRedis { _ in String(repeating: "+OK\r\n", count: 10) }
        defer { peer.stop() }
        let lines = Lines()
        let store = try RedisStore(peer.address, password: nil, log: { lines.add($0) })
        #expect(await comesTrue { peer.connections >= 4 })
        #expect(lines.all.count == 1 && lines.all[0].contains("cannot be used"), "\(lines.all)")
        #expect(await failure { _ = try await store.value(for: "a") } != nil)
    }

    /// The log has each reason once, however often it is the reason.
    @Test func aStoreWithSeveralReasons() async throws {
        let count = Mutex(0)
        let peer = try FakeRedis { _ in
            count.withLock { count in
                count += 1
                return count % 2 == 0 ? "-NOPERM no\r\n" : "-LOADING later\r\n"
            }
        }
        defer { peer.stop() }
        let lines = Lines()
        let store = try RedisStore(peer.address, password: nil, log: { lines.add($0) })
        #expect(await comesTrue { peer.connections >= 4 })
        #expect(lines.all.count == 2, "\(lines.all)")
        #expect(lines.all.contains { $0.contains("LOADING") } && lines.all.contains { $0.contains("NOPERM") })
        #expect(await failure { _ = try await store.value(for: "a") } != nil)
    }

    @Test func aStoreThatComesBack() async throws {
        let silent = Mutex(false)
        let peer = try FakeRedis { command in silent.withLock { $0 } ? nil : FakeRedis.obliging(command) }
        defer { peer.stop() }
        let lines = Lines()
        let store = try await connected(peer, lines)
        silent.withLock { $0 = true }
        let begun = ContinuousClock.now
        #expect(await failure { _ = try await store.value(for: "a") } == "no answer within 1.0 seconds")
        #expect(ContinuousClock.now - begun >= RedisStore.commandTimeout)
        #expect(!store.status.isConnected)
        silent.withLock { $0 = false }
        #expect(await comesTrue { store.status.isConnected })
        #expect(try await store.value(for: "a") == nil)
        #expect(await comesTrue { lines.all.count == 2 })
        #expect(lines.all.last?.contains("answers again") == true)
    }

    @Test(arguments: [
        "$-1\r\n$-1\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "*1000000000\r\n", "$70000\r\n",
        "$1\r\nabc", String(repeating: "x", count: 2000),
    ]) func hostileReplies(_ reply: String) async throws {
        let peer = try FakeRedis(FakeRedis.ready { _ in reply })
        defer { peer.stop() }
        let lines = Lines()
        let store = try await connected(peer, lines)
        _ = await failure { _ = try await store.value(for: "a") }
        #expect(await comesTrue { lines.all.first?.contains("cannot be read") == true }, "\(lines.all)")
        peer.answer(FakeRedis.obliging)
        #expect(await comesTrue { store.status.isConnected && peer.connections > 1 })
    }

    @Test(arguments: [("AUTH", "WRONGPASS"), ("SELECT", "ERR"), ("PING", "LOADING")])
    func aStoreThatLetsNobodyIn(_ command: String, _ code: String) async throws {
        let peer = try FakeRedis {
            $0.first == command ? "-\(code) about S3CRET\r\n" : FakeRedis.obliging($0)
        }
        defer { peer.stop() }
        let lines = Lines()
        let store = try RedisStore("\(peer.address)/1", password: "S3CRET", log: { lines.add($0) })
        #expect(await comesTrue { lines.all.count == 1 })
        #expect(lines.all[0].contains("(\(code))") && !lines.all[0].contains("S3CRET"), "\(lines.all)")
        #expect(!store.status.isConnected)
        peer.answer(FakeRedis.obliging)
        #expect(await comesTrue { store.status.isConnected })
    }

    /// A store that answers nothing is tried again after longer and longer pauses.
    @Test func pauses() async throws {
        let moments = Mutex<[ContinuousClock.Instant]>([])
        let peer = try FakeRedis { _ in
            moments.withLock { $0.append(.now) }
            return "-LOADING\r\n"
        }
        defer { peer.stop() }
        let store = try RedisStore(peer.address)
        #expect(await comesTrue { moments.withLock { $0.count } >= 5 })
        #expect(!store.status.isConnected)
        let times = moments.withLock { $0 }
        for (number, pause) in [100, 200, 400, 800].enumerated() {
            #expect(times[number + 1] - times[number] >= .milliseconds(pause))
        }
    }

    @Test func tooManyCommands() async throws {
        let peer = try FakeRedis(FakeRedis.ready { _ in nil })
        defer { peer.stop() }
        let store = try await connected(peer)
        let refusal = "\(RedisStore.maxPending) commands wait for their replies"
        var texts: [String: Int] = [:]
        // A machine that does not send all of them within the time of the first one tries again.
        for _ in 0 ..< 20 where texts[refusal] == nil {
            #expect(await comesTrue { store.status.isConnected })
            texts = await Self.failures(of: RedisStore.maxPending + 1, store)
        }
        #expect(texts[refusal] == 1, "\(texts)")
        #expect(texts["no answer within 1.0 seconds"] == RedisStore.maxPending, "\(texts)")
    }

    /// Sends commands at once, in threads of the shared pool, and returns how often each failure came.
    private static func failures(of count: Int, _ store: RedisStore) async -> [String: Int] {
        await Task.detached {
            await withTaskGroup(of: String?.self) { group in
                for _ in 0 ..< count {
                    group.addTask {
                        do {
                            _ = try await store.value(for: "a")
                            return nil
                        } catch { return "\(error)" }
                    }
                }
                return await group.reduce(into: [String: Int]()) { $0[$1 ?? "none", default: 0] += 1 }
            }
        }.value
    }
}
