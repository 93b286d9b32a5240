import MCPCore
import Synchronization

/// A line on stderr that shows the progress of a call, on a terminal only; it is erased before the result.
final class ProgressLine: Sendable {
    private let status: StatusLine
    private let name: String
    private let start = ContinuousClock.now
    private let state = Mutex<State>(State())

    private struct State {
        var isFinished = false
        var last: ContinuousClock.Instant?
    }

    private static let cells = 18
    private static let interval = Duration.milliseconds(50)

    /// Creates a line; nil when it would not be seen.
    init?(name: String, console: Console) {
        guard let status = console.status else { return nil }
        self.name = Self.fitted(name, 24)
        self.status = status
    }

    func show(_ progress: ProgressReport) {
        let now = ContinuousClock.now
        state.withLock { state in
            if state.isFinished { return }
            if let last = state.last, now - last < Self.interval, progress.fraction ?? 0 < 1 { return }
            state.last = now
            let width = (Terminal.columns(of: 2) ?? 80) - 1
            status.show(Self.line(name, progress, elapsed: now - start, width: width))
        }
    }

    /// Erases the line; later reports show nothing.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            status.erase()
        }
    }

    /// `  ▸ git_log ███████████░░░░░░░ 61%  scanning pack 3/5   0.8 s`
    static func line(
        _ name: String, _ progress: ProgressReport, elapsed: Duration, width: Int = 79
    ) -> String {
        if width < 40 { return short(name, progress, width) }
        var line = "  ▸ \(name) "
        if let fraction = progress.fraction {
            let full = Int((fraction * Double(cells)).rounded(.down))
            line += String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
            line += " \(Int((fraction * 100).rounded(.down)))%"
        } else {
            line += TimeSpan.decimal(progress.progress)
        }
        let time = "   \(TimeSpan.decimal(TimeSpan.milliseconds(elapsed) / 1000)) s"
        let room = width - TextWrap.columns(of: line + time) - 2
        if room < -2 { return short(name, progress, width) }
        if let message = progress.message, room > 3 { line += "  " + fitted(message, room) }
        return line + time
    }

    /// Returns the beginning of a text that takes at most `width` columns, with its control characters
    /// escaped, which makes them wider.
    private static func fitted(_ text: String, _ width: Int) -> String {
        let shown = TerminalText.inline(text, limit: width)
        if TextWrap.columns(of: shown) <= width { return shown }
        return TextWrap.prefix(of: shown, width: width - 1) + "…"
    }

    /// What fits into a very narrow terminal.
    private static func short(_ name: String, _ progress: ProgressReport, _ width: Int) -> String {
        let amount =
            progress.fraction.map { "\(Int(($0 * 100).rounded(.down)))%" }
            ?? TimeSpan.decimal(progress.progress)
        return fitted("\(name) \(amount)", max(1, width))
    }
}
