import MCPCore

/// The person at the terminal. One question is put at a time, whole: what is typed answers the question that
/// is shown, and no other.
actor Person {
    /// Reads a line that was typed; nil at the end of the input, and when the task is cancelled.
    typealias LineReader = @Sendable () async -> String?

    private let readLine: LineReader
    private let discardInput: @Sendable () -> Void
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter discardInput: forgets what was typed before the question was there.
    init(
        discardInput: @escaping @Sendable () -> Void = {}, readLine: @escaping LineReader
    ) {
        self.discardInput = discardInput
        self.readLine = readLine
    }

    /// Puts a question when those before it are answered; it reads lines by its argument.
    /// - Returns: nil when nobody waits for the answer any more.
    func answer<T: Sendable>(
        _ question: @Sendable (_ readLine: @escaping LineReader) async -> T
    ) async -> T? {
        if isBusy { await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
        defer { next() }
        if Task.isCancelled { return nil }
        discardInput()
        return await question(readLine)
    }

    /// The turn is handed over: nobody comes in between.
    private func next() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
