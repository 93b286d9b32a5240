import MCPCore
import Synchronization

/// A line on a terminal that shows what a slow connection is waiting for; it is erased afterwards.
final class WaitingLine: Sendable {
    private struct State {
        var isFinished = false
        /// What is waited for.
        var name: String
        /// The last thing that the program wrote to stderr.
        var heard = ""
    }

    private let status: StatusLine
    private let patience: Duration
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// Creates the line; nil when it would not be seen, or would mix with messages.
    ///
    /// - Parameter patience: the time before the line appears.
    init?(for name: String, console: Console, options: Options, patience: Duration) {
        guard let status = console.status, options.verbosity == 0 else { return nil }
        self.status = status
        self.patience = patience
        state = Mutex(State(name: TerminalText.inline(name, limit: 40)))
    }

    /// Runs `work` and shows the line as soon as it takes long.
    static func showing<R: Sendable>(
        _ line: WaitingLine?, _ work: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        guard let line else { return try await work() }
        let ticker = Task {
            try await Task.sleep(for: line.patience)
            while true {
                line.show()
                try await Task.sleep(for: .seconds(1))
            }
        }
        defer {
            ticker.cancel()
            line.finish()
        }
        return try await withTaskCancellationHandler(operation: work, onCancel: { line.finish() })
    }

    /// Records what the program wrote to stderr, such as what it is downloading.
    func hear(_ text: String) { state.withLock { $0.heard = text } }

    /// Changes what is waited for.
    func wait(for name: String) { state.withLock { $0.name = TerminalText.inline(name, limit: 40) } }

    private func show() {
        let elapsed = ContinuousClock.now - start
        state.withLock { state in
            if state.isFinished { return }
            let columns = min(Terminal.columns(of: 2) ?? 80, 200) - 1
            status.show(Self.line(state.name, elapsed, state.heard, columns: columns))
        }
    }

    private func finish() {
        state.withLock { state in
            state.isFinished = true
            status.erase()
        }
    }

    /// `waiting for uvx … (5 s)  Downloading numpy`
    static func line(_ name: String, _ elapsed: Duration, _ heard: String, columns: Int) -> String {
        let line = "waiting for \(name) … (\(elapsed.components.seconds) s)"
        let room = columns - line.count - 2
        guard columns > 3 else { return "" }
        guard room > 3 else { return TerminalText.inline(line, limit: columns - 1) }
        return heard.isEmpty ? line : line + "  " + TerminalText.inline(heard, limit: room - 1)
    }
}
