import MCPCore
import Synchronization

/// The person at the terminal.
///
/// Questions are asked one at a time, each as a whole: what is typed answers the line that is asked for, and
/// nothing else. A prompt at which commands are typed gives way to them.
actor Person {
    /// A function that reads a line that was typed; nil at the end of the input, and when the task is
    /// cancelled.
    typealias LineReader = @Sendable () async -> String?

    private let readLine: LineReader
    private let readOptionalLine: LineReader
    private let waitForTerminal: @Sendable () async -> Bool
    private let discardInput: @Sendable () -> Void
    /// The question that is being asked.
    private let question = Mutex<TerminalTurn?>(nil)
    /// Whether nothing is asked any more.
    private let isGone = Atomic(false)
    /// The prompt that reads now.
    private var prompt: TerminalTurn?
    private var isBusy = false
    private var waiting: [(number: Int, turn: CheckedContinuation<Bool, Never>)] = []
    private var lastNumber = 0

    /// Creates a person whose input can be read.
    ///
    /// - Parameters:
    ///   - waitForTerminal: stops the program while another one has the terminal; returns false if the
    ///     program is about to end.
    ///   - discardInput: discards what was typed and not read: ahead of a question, or as half an answer.
    ///   - readOptionalLine: reads a line without stopping the program; nil: as `readLine` does.
    init(
        waitForTerminal: @escaping @Sendable () async -> Bool = { true },
        discardInput: @escaping @Sendable () -> Void = {}, readOptionalLine: LineReader? = nil,
        readLine: @escaping LineReader
    ) {
        self.waitForTerminal = waitForTerminal
        self.discardInput = discardInput
        self.readOptionalLine = readOptionalLine ?? readLine
        self.readLine = readLine
    }

    /// Asks a question once the previous ones are answered; the question reads lines through its argument.
    ///
    /// - Returns: nil when the answer is no longer awaited.
    func answer<T: Sendable>(
        _ question: @Sendable (_ readLine: @escaping LineReader) async -> T
    ) async -> T? {
        await answer(isOptional: false, question)
    }

    /// Returns the line that the person types, who may as well type nothing: the program does not stop in
    /// the background, and reads when it has the terminal. nil as `LineReader`.
    func optionalLine() async -> String? {
        await answer(isOptional: true) { await $0() } ?? nil
    }

    private func answer<T: Sendable>(
        isOptional: Bool, _ question: @Sendable (_ readLine: @escaping LineReader) async -> T
    ) async -> T? {
        prompt?.end()
        guard await takeTurn() else { return nil }
        defer { next() }
        if Task.isCancelled || isGone.load(ordering: .relaxed) { return nil }
        // Before the question is shown: it would stand among what somebody does with another program.
        if !isOptional {
            guard await waitForTerminal(), !Task.isCancelled, !isGone.load(ordering: .relaxed) else {
                return nil
            }
        }
        discardInput()
        let turn = TerminalTurn()
        self.question.withLock { $0 = turn }
        defer { self.question.withLock { $0 = nil } }
        let (readLine, discardInput) = (isOptional ? readOptionalLine : readLine, discardInput)
        return await question {
            let text = await turn.read(readLine)
            // What was half typed as an answer, and what was typed or pasted behind one, is not meant for
            // the next question, nor for anybody else.
            discardInput()
            return text
        }
    }

    /// Gives up the question that is shown, as the end of the input does; returns its turn, nil if there is
    /// none.
    @discardableResult
    nonisolated func giveUp() -> TerminalTurn? {
        let turn = question.withLock { $0 }
        turn?.end()
        return turn
    }

    /// Called when the process ends, which does not wait for the end of a question: what was half typed as
    /// its answer is not meant for the next reader of the terminal.
    nonisolated func leave() {
        question.withLock { if $0 != nil { discardInput() } }
    }

    // MARK: Prompts

    /// Reads at a prompt, between the questions: when one is to be asked, the turn ends, and `read` runs
    /// again once there are no more.
    ///
    /// - Returns: what `read` returns, unless it only gave way.
    nonisolated func atPrompt<T: Sendable>(_ read: (TerminalTurn) async -> T?) async -> T? {
        while !Task.isCancelled {
            let turn = TerminalTurn()
            let (hasTurn, result) = await withTaskCancellationHandler {
                let hasTurn = await begin(turn)
                let isEnded = !hasTurn || turn.isOver || Task.isCancelled
                return (hasTurn, isEnded ? nil : await read(turn))
            } onCancel: {
                isGone.store(true, ordering: .relaxed)
                giveUp()
            }
            if hasTurn { await endPrompt() }
            if result != nil || !turn.isOver { return result }
        }
        return nil
    }

    private func begin(_ turn: TerminalTurn) async -> Bool {
        guard await takeTurn() else { return false }
        prompt = turn
        if !waiting.isEmpty { turn.end() }
        return true
    }

    private func endPrompt() {
        prompt = nil
        next()
    }

    /// Waits for the turn of the task; returns false if it is cancelled before, which waits for nobody.
    private func takeTurn() async -> Bool {
        if !isBusy {
            isBusy = true
            return true
        }
        lastNumber += 1
        let number = lastNumber
        return await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                if Task.isCancelled { turn.resume(returning: false) } else { waiting.append((number, turn)) }
            }
        } onCancel: {
            Task { await leave(number) }
        }
    }

    private func leave(_ number: Int) {
        guard let place = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: place).turn.resume(returning: false)
    }

    /// Passes the turn to the next question directly: no other can come in between.
    private func next() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().turn.resume(returning: true) }
    }
}
