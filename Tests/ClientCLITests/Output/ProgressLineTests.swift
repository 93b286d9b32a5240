import MCPCore
import Testing

@testable import MCPClientCLI

struct ProgressLineTests {
    @Test func aBarWithPercentAndMessage() {
        let line = ProgressLine.line(
            "git_log", ProgressReport(61, total: 100, message: "scanning pack 3/5"),
            elapsed: .milliseconds(800))
        #expect(line == "  ▸ git_log ██████████░░░░░░░░ 61%  scanning pack 3/5   0.8 s")
    }

    @Test func withoutATotalTheNumberIsShown() {
        #expect(ProgressLine.line("t", ProgressReport(5), elapsed: .seconds(2)) == "  ▸ t 5   2 s")
    }

    @Test(arguments: [-1.0, 0, 5, 1e300, .infinity, .nan])
    func oddNumbersAreHarmless(progress: Double) {
        let line = ProgressLine.line(
            "t", ProgressReport(progress, total: 1, message: "\u{1B}[2J"), elapsed: .seconds(1))
        #expect(!line.contains("\u{1B}"))
        #expect(!ProgressLine.line("t", ProgressReport(progress), elapsed: .seconds(1)).isEmpty)
        for total in [-1, 0, .leastNonzeroMagnitude, 1e-300, 1e300, .infinity, -.infinity, .nan] {
            let line = ProgressLine.line("t", ProgressReport(progress, total: total), elapsed: .seconds(1))
            #expect(line.count <= 79)
        }
    }

    @Test func theLineNeverWraps() {
        let message = String(repeating: "long ", count: 100)
        let line = ProgressLine.line(
            "name", ProgressReport(1, total: 2, message: message), elapsed: .seconds(100))
        #expect(line.count <= 79)
    }

    /// Escaped control characters and wide ones take more columns than they are characters.
    @Test(arguments: [41, 60, 79]) func aLineOfWideCharactersNeverWraps(width: Int) {
        let long = String(repeating: "w", count: 300)
        for text in ["\u{1B}[31mstep 1\n\r" + long, String(repeating: "日本語", count: 30)] {
            let line = ProgressLine.line(
                "日本語", ProgressReport(1, total: 2, message: text), elapsed: .seconds(1), width: width)
            #expect(TextWrap.columns(of: line) <= width, "\(line)")
        }
    }

    /// A line that is erased mixes with a trace, and shows its codes where they mean nothing.
    @Test func whereThereIsNoLine() {
        func console(_ options: Options = Options(), terminal: String = "xterm") -> Console {
            Console(
                stdout: MemorySink(isTerminal: true), stderr: MemorySink(isTerminal: true), options: options,
                variable: { $0 == "TERM" ? terminal : nil })
        }
        var verbose = Options()
        verbose.verbosity = 1
        #expect(ProgressLine(name: "t", console: console()) != nil)
        #expect(ProgressLine(name: "t", console: console(verbose)) == nil)
        #expect(ProgressLine(name: "t", console: console(terminal: "dumb")) == nil)
        let options = Options()
        #expect(WaitingLine(for: "t", console: console(), options: options, patience: .zero) != nil)
        #expect(
            WaitingLine(for: "t", console: console(terminal: "dumb"), options: options, patience: .zero)
                == nil)
    }
}
