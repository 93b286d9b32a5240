import Dispatch
import MCPCore
import Synchronization

/// A file of lines that is written by a thread of its own, so that a slow or full disk never delays a call.
///
/// Lines wait for at most `interval` in memory, and at most `maxPendingBytes` of them; a batch of
/// `batchBytes` is written at once. What is in memory is lost when the process is killed. Lines that cannot
/// be written are counted, and the first failure is logged.
final class AuditLog: Sendable {
    /// The bytes that may wait to be written; further lines are lost and counted.
    static let maxPendingBytes = 4 << 20
    /// The time that a line waits for others.
    static let interval = Duration.milliseconds(50)
    /// The bytes that do not wait for others.
    static let batchBytes = 256 << 10
    /// The longest wait of a look at the file.
    private static let patience = DispatchTimeInterval.milliseconds(500)
    /// The bytes at the end of the file in which the last line is looked for at the start.
    static let tailBytes = 64 << 10

    struct Status: Sendable, Hashable {
        var written = 0
        var lost = 0
        /// The reason why lines are being lost; nil while all is well.
        var failure: String?
        /// The digest of the last line, of a chained file.
        var head: String?
    }

    private struct State {
        var pending: [UInt8] = []
        var lines = 0
        /// The lines for which there was no room.
        var excess = 0
        /// Whether the writer will come, and whether it will come at once.
        var isScheduled = false
        var isUrgent = false
        /// The memory of the batch before.
        var spare: [UInt8] = []
        var status = Status()
    }

    private enum Haste { case none, soon, now }

    private struct Output: ~Copyable {
        var file: AppendingFile
        /// The digest of the last line in the file.
        var head: String
        /// The lost lines that no line of the file tells of.
        var untold = 0
        /// The memory of the chained lines.
        var chained: [UInt8] = []
    }

    private let isChained: Bool
    private let log: Log
    private let state = Mutex(State())
    private let output: Mutex<Output>
    private let queue = DispatchQueue(label: "mcp.audit", qos: .utility)

    init(_ settings: AuditSettings, log: Log) throws(IOError) {
        isChained = settings.isChained
        self.log = log
        let file = try AppendingFile(settings.file)
        let head = (settings.isChained ? try AuditChain.head(of: settings.file) : nil) ?? AuditChain.start
        output = Mutex(Output(file: file, head: head))
        if isChained { state.withLock { $0.status.head = head } }
    }

    var status: Status { state.withLock { $0.status } }

    /// Makes this process the only writer of a chain: lines of two would not fit each other.
    ///
    /// - Throws: EWOULDBLOCK when another server writes the file.
    func claim() throws(IOError) {
        guard isChained else { return }
        let outcome = output.withLock { output in Result { () throws(IOError) in try output.file.claim() } }
        try outcome.get()
    }

    // MARK: Adding

    /// Adds a line; `line` is a JSON object without its last brace and without a newline.
    func add(_ line: [UInt8]) {
        let haste = state.withLock { state -> Haste in
            guard state.pending.count + line.count < Self.maxPendingBytes else {
                state.status.lost += 1
                state.excess += 1
                return .none
            }
            state.pending += line
            state.pending += Self.end
            state.lines += 1
            if state.pending.count >= Self.batchBytes, !state.isUrgent {
                state.isUrgent = true
                return .now
            }
            defer { state.isScheduled = true }
            return state.isScheduled ? .none : .soon
        }
        switch haste {
        case .none: break
        case .soon: queue.asyncAfter(deadline: .now() + .milliseconds(50)) { self.flush() }
        case .now: queue.async { self.flush(isUrgent: true) }
        }
    }

    private static let end: [UInt8] = [0x7D, 0x0A]

    // MARK: Writing

    /// Writes what is waiting, and the number of the lines that were lost; waits until that is done.
    func finish() {
        queue.sync {
            flush()
            carryOn()
        }
    }

    /// Opens the file again under its name, after a rotation.
    func reopen() {
        queue.async {
            self.flush()
            self.open(isTold: true)
        }
    }

    /// Looks at the name of the file, as the next line would do; waits for that for a moment only, as a disk
    /// may be silent.
    func look() async {
        let done = OneShot<Void>()
        queue.async {
            self.open()
            done.finish(())
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { done.finish(()) }
        await done.value(ifCancelled: ())
    }

    /// Opens the file under its name. Without the new file, the lines that follow are lost.
    ///
    /// - Parameter isTold: whether to open it also if its name seems to lead to it.
    private func open(isTold: Bool = false) {
        let outcome = output.withLock { output in
            Result { () throws(IOError) -> String in
                if isTold { try output.file.reopen() } else { _ = try output.file.reopenIfMoved() }
                return output.head
            }
        }
        if case .failure = outcome { return record(outcome, lines: 0) }
        // Lines that were lost show what is wrong, and the next one whether that is over.
        if !carryOn(), output.withLock({ $0.untold == 0 }) { record(outcome, lines: 0) }
    }

    /// Writes what the file has to tell although no call has ended: lines that were lost, and in a new file
    /// of a chain the digest of the last line of the one before, which the next start would not know.
    ///
    /// Returns whether there was anything.
    @discardableResult
    private func carryOn() -> Bool {
        let outcome = output.withLock { output -> Result<String, IOError>? in
            let isNew = isChained && output.head != AuditChain.start && output.file.hasNoLine
            let mark = isNew ? Self.line("rotated") : []
            return output.untold > 0 || isNew ? write(mark, to: &output) : nil
        }
        if let outcome { record(outcome, lines: 0) }
        return outcome != nil
    }

    /// - Parameter isUrgent: whether a full batch wants it. The one that was scheduled will come as well.
    private func flush(isUrgent: Bool = false) {
        let (bytes, lines, excess) = state.withLock { state -> ([UInt8], Int, Int) in
            let taken = (state.pending, state.lines, state.excess)
            state.pending = state.spare
            (state.spare, state.lines, state.excess) = ([], 0, 0)
            if isUrgent { state.isUrgent = false } else { state.isScheduled = false }
            return taken
        }
        // What follows them tells of the lines that came later.
        defer { if excess > 0 { output.withLock { $0.untold += excess } } }
        guard lines > 0 else { return keep(bytes) }
        let outcome = output.withLock { output in write(bytes, to: &output) }
        record(outcome, lines: lines)
        keep(bytes)
    }

    private func write(_ bytes: [UInt8], to output: inout Output) -> Result<String, IOError> {
        Result { () throws(IOError) in
            // The new file, after a rotation by rename.
            _ = try output.file.reopenIfMoved()
            let text = output.untold > 0 ? Self.line("lost", ",\"lines\":\(output.untold)") + bytes : bytes
            if isChained {
                output.chained.removeAll(keepingCapacity: bytes.count > Self.batchBytes / 8)
                let head = AuditChain.chain(text, after: output.head, into: &output.chained)
                try output.file.append(output.chained)
                output.head = head
            } else {
                try output.file.append(text)
            }
            output.untold = 0
            return output.head
        }
    }

    /// Keeps the memory of a batch for the one after the next, on a server with much to do.
    private func keep(_ batch: consuming [UInt8]) {
        guard batch.count > Self.batchBytes / 8 else { return }
        batch.removeAll(keepingCapacity: true)
        state.withLock { $0.spare = batch }
    }

    /// Returns a line of the log about itself.
    private static func line(_ event: String, _ members: String = "") -> [UInt8] {
        Array("{\"time\":\"\(WallTime.now)\",\"event\":\"\(event)\"\(members)}\n".utf8)
    }

    private func record(_ outcome: Result<String, IOError>, lines: Int) {
        switch outcome {
        case .success(let head):
            let wasFailing = state.withLock { state in
                defer { state.status.failure = nil }
                state.status.written += lines
                if isChained { state.status.head = head }
                return state.status.failure != nil
            }
            if wasFailing { log.info("audit recovered") }
        case .failure(let error):
            let (saved, head) = output.withLock { output -> (Int, String) in
                // A part of the lines may be in the file. A new file continues the one before.
                if isChained, let head = (try? AuditChain.head(of: output.file.path)) ?? nil {
                    output.head = head
                }
                // The first line may be the note.
                let saved = max(0, output.file.savedLines - (output.untold > 0 ? 1 : 0))
                output.untold = (output.file.savedLines > 0 ? 0 : output.untold) + lines - saved
                return (saved, output.head)
            }
            let isNew = state.withLock { state in
                defer { state.status.failure = error.description }
                state.status.written += saved
                state.status.lost += lines - saved
                if isChained { state.status.head = head }
                return state.status.failure == nil
            }
            if isNew {
                log.error(
                    "audit failing", ["error": error, "text": "calls continue, their lines are lost"])
            }
        }
    }
}
