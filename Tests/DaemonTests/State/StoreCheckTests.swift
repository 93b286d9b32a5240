import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPServerDaemon

/// What `mcp-server check --online` finds out about the state store.
@Suite(.timeLimit(.minutes(5))) struct StoreCheckTests {
    private func check(_ address: String, password: String? = nil) async throws -> StoreCheck.Finding {
        var settings = StateSettings()
        settings.store = StateSettings.Store(address: address, password: password.map { Redacted($0) })
        var outcome = try #require(await StoreCheck(settings: settings, name: "ops").run())
        // On a busy machine, a second may be too short for a connection or an answer.
        func isLate() -> Bool {
            ["no ", "it cannot be reached"].contains { outcome.problem?.hasPrefix($0) == true }
        }
        for _ in 0 ..< 20 where isLate() {
            outcome = try #require(await StoreCheck(settings: settings, name: "ops").run())
        }
        return outcome
    }

    @Test func aStoreThatCanBeUsed() async throws {
        let store = try RememberingRedis()
        defer { store.redis.stop() }
        let outcome = try await check(store.redis.address)
        #expect(outcome.problem == nil && store.redis.address == "redis://\(outcome.place)", "\(outcome)")
        let commands = Array(store.redis.commands.suffix(3))
        try #require(commands.count == 3)
        #expect(commands.map(\.first) == ["SET", "GET", "DEL"], "\(commands)")
        #expect(Set(commands.map { $0[1] }).count == 1 && commands[0][1].hasPrefix("mcp:ops:check:"))
        #expect(commands[0].suffix(3) == ["PX", "60000", "NX"])
    }

    @Test func withoutAStoreNothingIsTried() async {
        #expect(await StoreCheck(settings: StateSettings(), name: "ops").run() == nil)
    }

    /// That the store is away is a warning, and that it is back is none.
    @Test func theLevelsOfTheLog() async throws {
        let directory = try TemporaryDirectory()
        let peer = try FakeRedis { _ in "-LOADING later\r\n" }
        defer { peer.stop() }
        let path = "\(directory.path)/log"
        func lines() -> String { (try? ConfigFile.text(at: path, shownAs: "log")) ?? "" }
        var settings = StateSettings()
        settings.store = StateSettings.Store(address: peer.address)
        let log = Log(sink: try LogSink(path: path, format: .text))
        let store = try #require(try settings.openStore(name: "ops", log: log))
        #expect(await comesTrue { lines().contains(" warning state store text=") }, "\(lines())")
        peer.answer(FakeRedis.obliging)
        #expect(await comesTrue { store.status.isConnected })
        #expect(try await store.value(for: "a") == nil)
        #expect(await comesTrue { lines().contains(" info state store text=") }, "\(lines())")
        #expect(lines().contains("answers again"))
    }

    @Test func aStoreThatIsNotThere() async throws {
        let redis = try FakeRedis()
        let address = redis.address
        redis.stop()
        let outcome = try await check(address)
        #expect(outcome.problem?.hasSuffix("; a key was not written") == true, "\(outcome)")
        #expect(outcome.hint?.contains("see whether the store runs") == true)
    }

    @Test(
        arguments: [
            (
                "AUTH", "-WRONGPASS invalid", "it refuses the password (WRONGPASS); a key was not written",
                "state.password"
            ),
            (
                "PING", "-NOAUTH required", "it refuses commands (NOAUTH); a key was not written",
                "set state.password"
            ),
            ("SET", "-NOPERM no", "it refused the command (NOPERM); a key was not written", "mcp:ops:*"),
            (
                "SET", "-READONLY replica", "it refused the command (READONLY); a key was not written",
                "master"
            ),
            ("GET", "-NOPERM no", "it refused the command (NOPERM); the key was not read", "mcp:ops:*"),
            ("GET", "$1\r\nx", "it returns another value than the one that was written", nil),
            (
                "DEL", "-NOPERM no",
                "it refused the command (NOPERM); the key was not removed; it expires in 60 s", "mcp:ops:*"
            ),
        ] as [(String, String, String, String?)])
    func whatAStoreRefuses(_ word: String, _ reply: String, _ problem: String, _ hint: String?) async throws {
        let store = try RememberingRedis(answering: word, with: reply + "\r\n")
        defer { store.redis.stop() }
        let outcome = try await check(store.redis.address, password: word == "AUTH" ? "secret-word" : nil)
        #expect(outcome.problem == problem)
        #expect(outcome.hint.map { text in hint.map { text.contains($0) } ?? false } ?? (hint == nil))
        #expect(!"\(outcome)".contains("secret-word"))
    }
}

/// A Redis that keeps the latest value.
private final class RememberingRedis: Sendable {
    let redis: FakeRedis

    private final class Value: Sendable { let text = Mutex("") }

    init(answering word: String = "", with reply: String = "") throws {
        let value = Value()
        redis = try FakeRedis { command in
            if command.first == word { return reply }
            if command.first == "SET" { value.text.withLock { $0 = command[2] } }
            guard command.first == "GET" else { return FakeRedis.obliging(command) }
            let text = value.text.withLock { $0 }
            return "$\(text.utf8.count)\r\n\(text)\r\n"
        }
    }
}
