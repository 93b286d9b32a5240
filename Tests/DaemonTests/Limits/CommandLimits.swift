import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// The limits of output, progress and kept results of commands, and one step beyond them.
enum CommandLimits {
    @Sendable static func line() async throws {
        CommandProgressTests().aLineHasALimitAndNoControlCharacters()
        CommandProgressTests().longLinesOfJSONAreOutput()
    }

    @Sendable static func interval() async throws {
        #expect(CommandProgress.leastInterval == .milliseconds(100))
        CommandProgressTests().aFloodOfLinesIsSampled()
    }

    @Sendable static func output() async throws {
        for excess in [0, 1] {
            let count = OutputStore.maxBytes + excess
            let server = try ConfiguredServer(
                #"{ "tools": { "t": { "exec": ["head", "-c", "\#(count)", "/dev/zero"], "#
                    + #""overflow": "resource" } } }"#, in: "/")
            let result = try await server.call("t")
            #expect(!result.isError)
            let note = result.content.compactMap(\.text).last ?? ""
            #expect(note.contains("only the first 16 MiB are kept") == (excess == 1), "\(note)")
        }
    }

    @Sendable static func outputs() async throws {
        OutputStoreTests().belongsToItsPrincipalForAWhile()
        OutputStoreTests().theOldestOfTheSamePrincipalIsForgottenFirst()
        let store = OutputStore(clock: ManualClock())
        let kept = (0 ... OutputStore.maxCount).map { _ in store.keep([1], tool: "t", principal: "a") }
        #expect(store.output(kept[0].id, of: "a") == nil)
        #expect(store.output(kept[1].id, of: "a") != nil)
        #expect(store.byteCount == OutputStore.maxCount)
        let large = [UInt8](repeating: 0x61, count: OutputStore.maxBytes)
        for principal in ["a", "b", "c"] {
            for _ in 0 ..< 2 { _ = store.keep(large, tool: "t", principal: principal) }
        }
        #expect(store.byteCount == OutputStore.maxTotalBytes)
    }

    @Sendable static func reading() async throws {
        let store = OutputStore()
        for _ in 0 ..< OutputStore.maxReading { #expect(store.reserve()) }
        #expect(!store.reserve())
        store.release()
        #expect(store.reserve())
        // Without memory, a run keeps what its result can hold.
        let directory = try TemporaryDirectory()
        let server = try ConfiguredServer(
            #"{ "tools": { "t": { "exec": ["sh", "-c", "echo x >> begun; until [ -e go ]; do sleep 0.02; done; seq 100000"], "#
                + #""overflow": "resource", "maxOutput": "1KiB" } } }"#, in: directory.path)
        let runs = (0 ..< OutputStore.maxReading).map { _ in Task { try await server.call("t").content } }
        func begun() -> Int { ((try? Files.read("\(directory.path)/begun", maxBytes: 100)) ?? []).count / 2 }
        #expect(await comesTrue { begun() == OutputStore.maxReading })
        let last = Task { try await server.call("t").content }
        #expect(await comesTrue { begun() == OutputStore.maxReading + 1 })
        // All that wait read the end of the empty file, once it is there.
        try directory.write("go", "")
        for run in runs { #expect(try await run.value.compactMap(\.text).last?.contains("kept") == false) }
        #expect(try await last.value.compactMap(\.text).last?.contains("first 1 KiB are kept") == true)
    }

    @Sendable static func results() async throws {
        let cache = ResultCache(clock: ManualClock())
        let runs = Counter()
        func call(_ number: Int, _ bytes: Int = 1) async throws {
            let key = ResultCache.Key(tool: "t", principal: "", arguments: Array("\(number)".utf8))
            _ = try await cache.result(key, ttl: .seconds(60)) {
                runs.increment()
                return .text(String(repeating: "x", count: bytes))
            }
        }
        for number in 0 ... ResultCache.maxCount { try await call(number) }
        try await call(1)
        #expect(runs.value == ResultCache.maxCount + 1)
        try await call(0)
        #expect(runs.value == ResultCache.maxCount + 2)
        // Too large on its own; and all together.
        for _ in 0 ..< 2 { try await call(-1, ResultCache.maxBytes) }
        #expect(runs.value == ResultCache.maxCount + 4)
        let size = ResultCache.maxBytes - 1_024
        let fits = ResultCache.maxTotalBytes / size
        for number in 1_000 ... 1_000 + fits { try await call(number, size) }
        let before = runs.value
        try await call(1_001, size)
        #expect(runs.value == before)
        try await call(1_000, size)
        #expect(runs.value == before + 1)
    }
}
