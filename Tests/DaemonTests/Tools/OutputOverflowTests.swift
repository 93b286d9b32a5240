import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

@Suite(.serialized, .timeLimit(.minutes(5))) struct OutputOverflowTests {
    private func server(_ tool: String) throws -> ConfiguredServer {
        try ConfiguredServer("{ \"tools\": { \"t\": \(tool) } }", in: "/")
    }

    /// The command is not stopped: its status is part of the result.
    @Test func theRestIsDropped() async throws {
        let server = try server(
            #"{ "exec": ["sh", "-c", "printf 1234567890é; exit 3"], "maxOutput": "11B", "#
                + #""overflow": "truncate" }"#)
        let result = try await server.call("t")
        #expect(
            result.content.map(\.text) == [
                "exit status 3", "1234567890",
                "the output is cut: it has 12 bytes, and this is the first 11 bytes",
            ])
    }

    @Test func theWholeIsAResource() async throws {
        let server = try server(
            #"{ "exec": ["seq", "200000"], "maxOutput": "64KiB", "overflow": "resource" }"#)
        let result = try await server.call("t")
        #expect(!result.isError)
        #expect(result.content.map(\.type) == [.text, .text, .text, .text, .resourceLink])
        #expect(result.content[0].text?.hasPrefix("1\n2\n") == true)
        #expect(result.content[2].text?.hasSuffix("199999\n200000\n") == true)
        let uri = try #require(result.content[4].link?.uri)
        #expect(uri.hasPrefix("tool-output:///") && uri.hasSuffix("/1"))
        var all = ""
        for page in 1 ... 6 {
            let reply = try await server.request(
                "resources/read", ["uri": .string(uri.dropLast() + "\(page)")])
            if page <= 5 {
                all += reply["result"]?["contents"]?[0]?["text"]?.stringValue ?? ""
            } else {
                #expect(reply["error"] != nil)
            }
        }
        #expect(all == (1 ... 200_000).map { "\($0)\n" }.joined())
        let other = try await server.request("resources/read", ["uri": "tool-output:///AAAA/1"])
        #expect(other["error"] != nil)
        let templates = try await server.request("resources/templates/list")
        #expect(
            templates["result"]?["resourceTemplates"]?[0]?["uriTemplate"]?.stringValue == OutputStore.template
        )
    }

    /// The link has the type with which the page is read.
    @Test(arguments: [("377", "application/octet-stream"), ("141", "text/plain")])
    func theTypeOfALink(_ byte: String, _ type: String) async throws {
        let command = #"head -c 1000 /dev/zero | tr '\\0' '\\"# + byte + "'"
        let server = try server(
            #"{ "exec": ["sh", "-c", "\#(command)"], "maxOutput": "64B", "overflow": "resource" }"#)
        let result = try await server.call("t")
        let link = try #require(result.content.last?.link)
        #expect(link.mimeType == type)
        let page = try await server.request("resources/read", ["uri": .string(link.uri)])
        let isText = page["result"]?["contents"]?[0]?["text"] != nil
        #expect(isText == (type == "text/plain"), "\(page)")
    }

    @Test func whatFitsIsText() async throws {
        let server = try server(#"{ "exec": ["printf", "abc"], "maxOutput": "3B", "overflow": "resource" }"#)
        #expect(try await server.call("t").content.map(\.text) == ["abc"])
    }
}

@Suite struct OutputStoreTests {
    private let clock = ManualClock()

    private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

    @Test func belongsToItsPrincipalForAWhile() {
        let store = OutputStore(clock: clock)
        let output = store.keep(bytes(10), tool: "t", principal: "a")
        #expect(store.output(output.id, of: "a") != nil)
        #expect(store.output(output.id, of: "b") == nil)
        clock.advance(by: OutputStore.lifetime)
        #expect(store.output(output.id, of: "a") == nil)
        _ = store.keep(bytes(1), tool: "t", principal: "b")
        #expect(store.byteCount == 1)
    }

    /// One principal cannot push out all outputs of others.
    @Test func theOldestOfTheSamePrincipalIsForgottenFirst() {
        let store = OutputStore(clock: clock)
        let other = store.keep(bytes(OutputStore.maxBytes), tool: "t", principal: "b")
        let mine = (0 ..< 5).map { _ in
            store.keep(bytes(OutputStore.maxBytes), tool: "t", principal: "a")
        }
        #expect(store.output(other.id, of: "b") != nil)
        #expect(mine.map { store.output($0.id, of: "a") != nil } == [false, false, false, true, true])
    }

    @Test func pagesAreWholeCharacters() {
        let text = "é" + String(repeating: "aé", count: OutputStore.pageBytes)
        let output = OutputStore(clock: clock).keep(Array(text.utf8), tool: "t", principal: "")
        let pages = (1 ... output.pages).compactMap { output.page($0) }
        #expect(pages.count == output.pages && output.page(0) == nil && output.page(output.pages + 1) == nil)
        #expect(pages.allSatisfy { String(validating: $0, as: UTF8.self) != nil })
        #expect(Array(pages.joined()) == Array(text.utf8))
    }
}

@Suite struct ResultCacheTests {
    private let clock = ManualClock()
    private let key = ResultCache.Key(tool: "t", principal: "a", arguments: [])

    @Test func keepsSuccessesForTheirTime() async throws {
        let cache = ResultCache(clock: clock)
        let runs = Counter()
        func call(_ key: ResultCache.Key) async throws -> String {
            try await cache.result(key, ttl: .seconds(5)) {
                runs.increment()
                return .text("\(runs.value)")
            }.text
        }
        #expect(try await call(key) == "1")
        clock.advance(by: .seconds(4))
        #expect(try await call(key) == "1")
        var other = key
        other.principal = "b"
        #expect(try await call(other) == "2")
        clock.advance(by: .seconds(1))
        #expect(try await call(key) == "3")
    }

    /// A caller who leaves does not take the run from the others; the last one does.
    @Test func theRunEndsWithItsLastCaller() async throws {
        let cache = ResultCache(clock: clock)
        let (begun, release, cancelled) = (Gate(), Gate(), Gate())
        @Sendable func call() async throws -> CallToolResult {
            try await cache.result(key, ttl: .seconds(5)) {
                begun.open()
                if await !release.wait() { cancelled.open() }
                try Task.checkCancellation()
                return .text("done")
            }
        }
        let first = Task { try await call() }
        await begun.wait()
        let second = Task { try await call() }
        #expect(await comesTrue { cache.callers(of: key) == 2 })
        first.cancel()
        #expect(await comesTrue { cache.callers(of: key) == 1 })
        second.cancel()
        #expect(await cancelled.wait())
        #expect(cache.callers(of: key) == 0)
        await #expect(throws: CancellationError.self) { try await second.value }
        await #expect(throws: CancellationError.self) { try await first.value }
    }
}
