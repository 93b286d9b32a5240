import MCPCore
import MCPHarness
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Programs as models: how they end, hang, and say what nobody asked for.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CommandModelTests {
    private let fixture = HarnessFixture()
    private let directory = TemporaryDirectory()

    private static let stop = #"echo '{"type":"stop"}'"#

    private static func say(_ text: String) -> String { #"echo '{"type":"text","delta":"\#(text)"}'"# }

    /// Each start is written down, with the process's number.
    private func model(_ script: String, silence: Duration = .seconds(30)) -> CommandModel {
        CommandModel("/bin/sh", ["-c", "echo $$ >> '\(directory.path)/starts'; " + script], silence: silence)
    }

    private var starts: [Int32] {
        let bytes = (try? Files.read(directory.path + "/starts", maxBytes: 1_000)).map(Array.init) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Int32($0) }
    }

    private func isThere(_ pid: Int32) -> Bool { kill(pid, 0) == 0 }

    // MARK: The end

    @Test func closeWaitsForTheEnd() async throws {
        let model = model("trap '' TERM; read l; \(Self.say("hi")); \(Self.stop); exec sleep 1000")
        #expect(try await fixture.harness(model, []).send("go").text == "hi")
        let pid = try #require(starts.first)
        #expect(isThere(pid))
        await model.close()
        #expect(!isThere(pid))
        // It is no end for ever.
        #expect(try await fixture.harness(model, []).send("go").text == "hi")
        #expect(starts.count == 2)
        await model.close()
    }

    @Test func closeWaitsForWhatWasGivenUp() async throws {
        let model = model("trap '' TERM; read l; \(Self.say("hi")); exec sleep 1000")
        let handle = try fixture.harness(model, []).streamHandle("go")
        await #expect(throws: CancellationError.self) {
            for try await event in handle.events where event.word == "text" { handle.cancel() }
        }
        let pid = try #require(starts.first)
        await model.close()
        #expect(!isThere(pid))
    }

    /// A program that heeds the end of its input ends by itself, and gets no signal.
    @Test func closeEndsTheInputFirst() async throws {
        let model = model(
            """
            trap 'echo signal >> "\(directory.path)/ended"; exit' TERM
            while read l; do \(Self.say("hi")); \(Self.stop); done; echo input >> '\(directory.path)/ended'
            """)
        _ = try await fixture.harness(model, []).send("go")
        await model.close()
        #expect(try Array(Files.read(directory.path + "/ended", maxBytes: 100)) == Array("input\n".utf8))
        await model.close()
    }

    // MARK: Hanging

    @Test func silenceIsLimited() async throws {
        let model = model("read l; \(Self.say("hi")); exec sleep 1000", silence: .milliseconds(200))
        await #expect {
            try await fixture.harness(model, []).send("go")
        } throws: { "\($0)".contains("wrote nothing for 0.2 seconds") }
        await model.close()
    }

    /// Neither side waits for the other: the program writes more than a pipe holds before it reads more than
    /// one holds.
    @Test func writingBeforeReading() async throws {
        let model = model(
            "head -c 300000 /dev/zero | tr '\\0' '\\n'; head -n 1 > /dev/null; \(Self.say("hi")); \(Self.stop)",
            silence: .seconds(10))
        let text = String(repeating: "x", count: 1_000_000)
        #expect(try await fixture.harness(model, []).send(text).text == "hi")
        await model.close()
    }

    @Test func answersAreLimited() async throws {
        var limits = HarnessLimits()
        limits.maxResponseBytes = 100_000
        let model = model(
            #"read l; while :; do echo '{"type":"tool_call_delta","id":"a","arguments":"0123456789"}'; done"#)
        await #expect(throws: HarnessError.responseTooLarge(limit: 100_000)) {
            try await fixture.harness(model, [], limits: limits).send("go")
        }
        await model.close()
    }

    // MARK: Between answers

    @Test(arguments: ["read l; ", "exec 0<&-; "]) func oneAnswerAndOut(_ begin: String) async throws {
        let model = model("\(begin)\(Self.say("hi")); \(Self.stop)")
        let harness = try fixture.harness(model, [])
        for _ in 0 ..< 4 { #expect(try await harness.send("go").text == "hi") }
        #expect(starts.count == 4)
        await model.close()
    }

    /// It ends when it reads the next request, and only then.
    @Test func anEndAtTheNextRequest() async throws {
        let model = model("read l; \(Self.say("hi")); \(Self.stop); read l; exit")
        let harness = try fixture.harness(model, [])
        for _ in 0 ..< 3 { #expect(try await harness.send("go").text == "hi") }
        #expect(starts.count == 3)
        await model.close()
    }

    @Test(arguments: [
        ("exit 7", "exited with status 7 before it answered"),
        ("\(say("hi")); kill -KILL $$", "was killed by signal 9 in the middle of an answer"),
    ]) func anEndInAnAnswerFails(_ end: String, _ text: String) async throws {
        let model = model("read l; \(end)")
        await #expect {
            try await fixture.harness(model, []).send("go")
        } throws: { "\($0)".contains(text) }
        #expect(starts.count == 1)
        await model.close()
    }

    /// What comes after the end of an answer is not the next one.
    @Test(arguments: [#"{"type":"text","delta":"stale"}\n{"type":"stop"}\n"#, "x", "{}\n"])
    func leftovers(_ rest: String) async throws {
        let model = model(
            #"while read l; do printf '{"type":"text","delta":"hi"}\n{"type":"stop"}\n\n\#(rest)'; done"#)
        let harness = try fixture.harness(model, [])
        for _ in 0 ..< 2 { #expect(try await harness.send("go").text == "hi") }
        #expect(starts.count == 2)
        await model.close()
    }

    @Test func programsThatStayAreKept() async throws {
        let model = model(
            #"while read l; do printf '{"type":"text","delta":"hi"}\n{"type":"stop"}\n\n'; done"#)
        let harness = try fixture.harness(model, [])
        for _ in 0 ..< 3 { #expect(try await harness.send("go").text == "hi") }
        #expect(starts.count == 1)
        await model.close()
    }

    /// A request that was not read is not the beginning of the next one.
    @Test func requestsThatAreNotRead() async throws {
        let model = model("\(Self.say("hi")); \(Self.stop); exec sleep 1000")
        let text = String(repeating: "x", count: 1_000_000)
        #expect(try await fixture.harness(model, []).send(text).text == "hi")
        #expect(try await fixture.harness(model, []).send(text).text == "hi")
        #expect(starts.count == 2)
        await model.close()
    }
}
