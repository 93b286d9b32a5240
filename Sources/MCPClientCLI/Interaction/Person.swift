import MCPCore
import Synchronization

/// The person at the terminal.
///
/// Questions are asked one at a time, each as a whole: what is typed answers the question that is shown, and
/// no other.
actor Person {
    /// A function that reads a line that was typed; nil at the end of the input, and when the task is
    /// cancelled.
    typealias LineReader = @Sendable () async -> String?

    private let readLine: LineReader
    private let discardInput: @Sendable () -> Void
    private let line = Line()
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Creates a person whose input can be read.
    ///
    /// - Parameter discardInput: discards what was typed before the question was shown.
    init(
        discardInput: @escaping @Sendable () -> Void = {}, readLine: @escaping LineReader
    ) {
        self.discardInput = discardInput
        self.readLine = readLine
    }

    /// Asks a question once the previous ones are answered; the question reads lines through its argument.
    ///
    /// - Returns: nil when the answer is no longer awaited.
    func answer<T: Sendable>(
        _ question: @Sendable (_ readLine: @escaping LineReader) async -> T
    ) async -> T? {
        if isBusy { await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
        defer { next() }
        if Task.isCancelled { return nil }
        discardInput()
        let (line, readLine) = (line, readLine)
        return await question {
            line.isOpen.store(true, ordering: .relaxed)
            let text = await readLine()
            // Return has moved the cursor; a question that was given up has not.
            if text != nil || !Task.isCancelled { line.isOpen.store(false, ordering: .relaxed) }
            return text
        }
    }

    /// The line in which an answer is typed.
    private final class Line: Sendable {
        let isOpen = Atomic(false)
    }

    /// Whether what follows would be printed behind a question that nobody has answered; once for each.
    nonisolated func leavesLine() -> Bool { line.isOpen.exchange(false, ordering: .relaxed) }

    /// Passes the turn to the next question directly: no other can come in between.
    private func next() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
