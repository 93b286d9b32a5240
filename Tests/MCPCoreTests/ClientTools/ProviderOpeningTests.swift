import MCPCore
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Programs of all revisions behind a provider: those that do not survive the daemon's probe of 2026-07-28, and those
/// that do not know `initialize`.
@Suite(.timeLimit(.minutes(5))) struct ProviderOpeningTests {
    /// A program, what it does, and what it sees until its tools are offered.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What it does first.
        var start = ""
        var discover: String
        var initialize: String
        /// Whether it is killed when its tools are offered, and offers them again.
        var isKilled = false
        /// The starts, and the requests that open a connection.
        var seen: String

        init(
            _ name: String, start: String = "", _ discover: String, _ initialize: String,
            isKilled: Bool = false, _ seen: String
        ) {
            testDescription = name
            (self.start, self.discover, self.initialize) = (start, discover, initialize)
            (self.isKilled, self.seen) = (isKilled, seen)
        }

        static let modern = #"""
            answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}'
            """#
        static let legacy = #"""
            answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"o","version":"1"}}'
            """#
        /// As a server without `initialize` answers, and one that names its revisions.
        static let unknown = "refuse -32601 '{}'"
        static let named = #"refuse -32602 '{"supported":["2026-07-28"]}'"#
        static let dies = "exit 1"

        /// Ends after the first message, the first times that it is started.
        static func ends(_ times: Int) -> String {
            #"[ "$(grep -c start "$0")" -gt \#(times) ] || { read -r line; exit 1; }"#
        }

        static let all = [
            Row("an old one that ends at the probe", dies, legacy, "start discover start initialize"),
            Row("an old one that is silent then", "sleep 60", legacy, "start discover start initialize"),
            Row("an old one that refuses the probe", unknown, legacy, "start discover initialize"),
            Row("one of 2026-07-28", modern, named, "start discover"),
            Row("one of both", modern, legacy, "start discover"),
            Row("a slow start", start: "sleep 3", modern, unknown, "start discover"),
            Row("a slow start of an old one", start: "sleep 3", unknown, legacy, "start discover initialize"),
            // Behind a pipe, what a program has not read yet is gone.
            Row(
                "a slow one that seems to read at once", "sleep 3; \(modern)", "sleep 3; \(named)",
                "start discover start initialize start discover"),
            Row(
                "one of 2026-07-28 that ends once", start: ends(1), modern, named,
                "start start initialize start discover"),
            Row(
                "one without initialize that ends once", start: ends(1), modern, unknown,
                "start start initialize start discover"),
            Row(
                "one that ends once, and at initialize", start: ends(1), modern, dies,
                "start start initialize start discover"),
            Row("one of both that ends once", start: ends(1), modern, legacy, "start start initialize"),
            Row("an old one that ends once", start: ends(1), dies, legacy, "start start initialize"),
            Row(
                "an old one that ends twice", start: ends(2), dies, legacy,
                "start start start discover start initialize"),
            Row(
                "one of 2026-07-28 that is killed later", modern, named, isKilled: true,
                "start discover start discover"),
            Row(
                "an old one that is killed later", dies, legacy, isKilled: true,
                "start discover start initialize start initialize"),
        ]

        var script: String {
            #"""
            echo start >>"$0"
            echo $$ >"$0.pid"
            \#(start)
            id() { echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
            answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$(id)" "$1"; }
            refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no","data":%s}}\n' "$(id)" "$1" "$2"; }
            while read -r line; do
                case $line in
                *'"server/discover"'*|*'"server\/discover"'*) echo discover >>"$0"; \#(discover) ;;
                *'"initialize"'*) echo initialize >>"$0"; \#(initialize) ;;
                *'"tools/list"'*|*'"tools\/list"'*) answer '{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}' ;;
                *'"id"'*) refuse -32601 '{}' ;;
                esac
            done
            """#
        }
    }

    private static func provider(
        _ script: String, _ folder: TemporaryDirectory,
        onEvent: @escaping @Sendable (ClientToolProvider.Event) -> Void
    ) -> ClientToolProvider {
        ClientToolProvider(
            .program(ProcessLaunch("sh", ["-c", script, folder.path + "/seen"])), channel: "a",
            clientID: "p", address: .unix(path: folder.path + "/s"), token: { nil },
            firstPause: .milliseconds(10), programGrace: .milliseconds(50), probePatience: .seconds(1),
            onEvent: onEvent)
    }

    private static func words(_ file: String) throws -> [String] {
        String(decoding: try Files.read(file, maxBytes: 10_000), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test(arguments: Row.all) func theToolsOfEachProgramAreOffered(_ row: Row) async throws {
        let folder = TemporaryDirectory()
        let (_, running) = try ProviderProgramTests.daemon(folder)
        let (reports, tell) = AsyncStream.makeStream(of: ClientToolReport.self)
        let provider = Self.provider(row.script, folder) { event in
            if case .registered(let report) = event { tell.yield(report) }
        }
        let run = Task { try await provider.run() }
        var offered = reports.makeAsyncIterator()
        #expect(await offered.next()?.tools == ["t"])
        if row.isKilled {
            let number = try Self.words(folder.path + "/seen.pid").first
            let pid = try #require(number.flatMap { Int32($0) })
            #expect(kill(pid, SIGKILL) == 0)
            #expect(await offered.next()?.tools == ["t"])
        }
        run.cancel()
        try await run.value
        #expect(try Self.words(folder.path + "/seen").joined(separator: " ") == row.seen)
        await running.stop()
    }

    /// One that never becomes a server is tried in both ways, and each failure says what it did.
    @Test(arguments: [
        ("exit 7", "", ["start discover start initialize"], "the offered program sh exited with status 7"),
        (
            "refuse -32601 '{}'", "refuse -32000 '{}'",
            ["start discover initialize", "start initialize"],
            "the offered program sh refused initialize: no (-32000)"
        ),
    ])
    func aProgramThatIsNoServer(
        _ discover: String, _ initialize: String, _ rounds: [String], _ message: String
    ) async throws {
        let folder = TemporaryDirectory()
        let (_, running) = try ProviderProgramTests.daemon(folder)
        let (failures, tell) = AsyncStream.makeStream(of: ClientError.self)
        let script = Row("", discover, initialize.isEmpty ? discover : initialize, "").script
        let provider = Self.provider(script, folder) { event in
            if case .disconnected(let error, _) = event { tell.yield(error) }
        }
        let run = Task { try await provider.run() }
        var failed = failures.makeAsyncIterator()
        // After each kind of attempt comes the other one.
        for _ in 0 ..< 4 { #expect(await failed.next()?.message == message) }
        run.cancel()
        try await run.value
        let seen = try Self.words(folder.path + "/seen").joined(separator: " ")
        let expected = (0 ..< 4).map { rounds[$0 % rounds.count] }.joined(separator: " ")
        #expect(seen.hasPrefix(expected), "\(seen)")
        await running.stop()
    }

    /// What is remembered of an attempt.
    @Test func thePolicy() {
        var policy = ProbePolicy()
        // A daemon that is restarted in the middle says nothing about the program.
        #expect(!policy.note(.unanswered) && !policy.hides && policy.endsSilence)
        // A program that is silent without the probe, too, is given time, and later is tried without it again.
        #expect(policy.note(.disturbed) && policy.hides)
        #expect(!policy.note(.unanswered) && !policy.hides && !policy.endsSilence)
        #expect(!policy.note(.unanswered) && policy.hides)
        // It works without the probe, and is tried with it only when it does not any more.
        #expect(!policy.note(.open) && policy.hides && policy.endsSilence)
        #expect(!policy.note(.disturbed) && !policy.hides)
        #expect(!policy.note(.open) && !policy.hides && !policy.endsSilence)
        // A server of 2026-07-28 is not started again for its answer to the probe.
        #expect(!policy.note(.modern) && !policy.hides)
        #expect(policy.note(.disturbed) && policy.hides)
        #expect(policy.note(.modern) && !policy.hides && !policy.endsSilence)
    }
}
