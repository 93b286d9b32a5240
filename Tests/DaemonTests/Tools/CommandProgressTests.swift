import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPServerDaemon

@Suite struct CommandProgressTests {
    private final class Reports: Sendable {
        private let all = Mutex<[ProgressReport]>([])
        private let texts = Mutex<[String]>([])
        var list: [ProgressReport] { all.withLock { $0 } }
        var descriptions: [String] { texts.withLock { $0 } }
        var receiver: CommandProgress.Receiver {
            CommandProgress.Receiver(
                report: { report in self.all.withLock { $0.append(report) } },
                describe: { text in self.texts.withLock { $0.append(text) } })
        }
    }

    private let clock = ManualClock()
    private let reports = Reports()

    private func progress(_ settings: ToolDefinition.Progress?) -> CommandProgress {
        CommandProgress(settings, reports.receiver, now: clock.now)
    }

    private func take(_ text: String, _ progress: CommandProgress) -> String {
        String(decoding: progress.take(Array(text.utf8), from: .output, at: clock.now), as: UTF8.self)
    }

    /// Lets the time pass as the run does.
    private func pass(_ duration: Duration, _ progress: CommandProgress) {
        let end = clock.now + duration
        while progress.wakeTime <= end {
            clock.advance(by: progress.wakeTime - clock.now)
            progress.wake(at: clock.now)
        }
        clock.advance(by: end - clock.now)
    }

    /// PROG-03: the values increase, or clients would not wait longer.
    @Test func aSilentCommandHasAHeartbeat() {
        let progress = progress(nil)
        pass(.seconds(50), progress)
        #expect(reports.list.map(\.progress) == [15, 30, 45])
        #expect(reports.list.last?.message == "running for 45 s")
        #expect(take("not progress\n", progress) == "not progress\n")
        #expect(reports.list.count == 3)
    }

    @Test func linesAreMessages() {
        let progress = progress(.init(format: .lines))
        #expect(take("one\ntw", progress) == "one\ntw")
        clock.advance(by: .seconds(1))
        _ = take("o\n", progress)
        clock.advance(by: .seconds(1))
        _ = take("\u{1B}[32m 50%\u{1B}[0m\r 60%\r\n\n", progress)
        pass(.seconds(1), progress)
        #expect(reports.list.map(\.message) == ["one", "two", "50%", "60%"])
        #expect(reports.list.map(\.progress) == [1, 2, 3, 4])
        #expect(reports.descriptions == ["one", "two", "50%", "60%"])
    }

    /// The last line is the one that is true.
    @Test func aFloodOfLinesIsSampled() {
        let progress = progress(.init(format: .lines))
        for number in 0 ..< 10_000 { _ = take("line \(number)\n", progress) }
        pass(.seconds(1), progress)
        #expect(reports.list.map(\.message) == ["line 0", "line 9999"])
        // And a heartbeat afterwards, with a greater value and the same message.
        pass(.seconds(30), progress)
        #expect(reports.list.last?.message == "line 9999")
        #expect(zip(reports.list, reports.list.dropFirst()).allSatisfy { $0.progress < $1.progress })
    }

    @Test func aLineHasALimitAndNoControlCharacters() {
        let progress = progress(.init(format: .lines))
        _ = take(String(repeating: "x", count: 100_000) + "\n", progress)
        #expect(reports.list.last?.message?.utf8.count == CommandProgress.maxLineBytes)
        clock.advance(by: .seconds(1))
        _ = take("a\u{7}b\u{202E}c\n", progress)
        #expect(reports.list.last?.message == "a\\u{7}b\\u{202e}c")
    }

    @Test func jsonLinesAreProgressAndNoOutput() {
        let progress = progress(.init(format: .jsonlines))
        #expect(take(#"{"progress":1,"total":4,"message":"read"}"# + "\nout", progress) == "")
        #expect(reports.list == [ProgressReport(1, total: 4, message: "read")])
        clock.advance(by: .seconds(1))
        // An object of the result's own, a value that does not increase, and no JSON.
        let other = #"{"progress":3,"rows":2}"# + "\n"
        #expect(take("put\n" + other + #"{"progress":1}"# + "\n{\n", progress) == "output\n" + other + "{\n")
        #expect(reports.list.count == 1)
        #expect(take(#" {"progress": 2.5} "# + "\n", progress) == "")
        #expect(reports.list.last == ProgressReport(2.5))
        pass(.seconds(16), progress)
        #expect(reports.list.last.map { $0.progress > 2.5 && $0.progress < 2.6 } == true)
        #expect(take("end", progress) == "")
        #expect(String(decoding: progress.end(of: .output), as: UTF8.self) == "end")
    }

    /// A carriage return ends a line, as in the progress bars of terminals.
    @Test func jsonLinesBehindACarriageReturn() {
        let progress = progress(.init(format: .jsonlines))
        #expect(take("10%\r" + #"{"progress":1}"# + "\r", progress) == "10%\r")
        #expect(reports.list == [ProgressReport(1)])
        clock.advance(by: .seconds(1))
        // Nothing is left of the line, also when its end comes in two pieces.
        #expect(take("\n" + #"{"progress":2}"# + "\r\nout\r\n\n", progress) == "out\r\n\n")
        #expect(reports.list.last == ProgressReport(2))
    }

    @Test func longLinesOfJSONAreOutput() {
        let progress = progress(.init(format: .jsonlines))
        let long = #"{"progress":1,"message":""# + String(repeating: "x", count: 10_000) + #""}"# + "\nrest\n"
        var kept = ""
        for piece in [long.prefix(100), long.dropFirst(100).prefix(6_000), long.dropFirst(6_100)] {
            kept += take(String(piece), progress)
        }
        #expect(kept == long)
        #expect(reports.list.isEmpty)
        #expect(progress.end(of: .output).isEmpty)
    }
}
