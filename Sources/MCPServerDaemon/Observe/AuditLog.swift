import Dispatch
import MCPCore
import Synchronization

/// A file of lines that is written by a thread of its own, so that a slow or full disk never delays a call.
///
/// Lines wait for at most `interval` in memory, and at most `maxPendingBytes` of them. What is in memory is
/// lost when the process is killed. Lines that cannot be written are counted, and the first failure is
/// logged.
final class AuditLog: Sendable {
    /// The bytes that may wait to be written; further lines are lost and counted.
    static let maxPendingBytes = 4 << 20
    /// The time that a line waits for others.
    static let interval = Duration.milliseconds(50)
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
        var isScheduled = false
        var status = Status()
    }

    private struct Output: ~Copyable {
        var file: AppendingFile
        /// The digest of the last line in the file.
        var head: String
        /// The lost lines that no line of the file tells of.
        var untold = 0
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

    // MARK: Adding

    /// Adds a line; `line` is a JSON object without its last brace and without a newline.
    func add(_ line: [UInt8]) {
        let isFirst = state.withLock { state -> Bool in
            guard state.pending.count + line.count < Self.maxPendingBytes else {
                state.status.lost += 1
                return false
            }
            state.pending += line
            state.pending += Self.end
            state.lines += 1
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { queue.asyncAfter(deadline: .now() + .milliseconds(50)) { self.flush() } }
    }

    private static let end: [UInt8] = [0x7D, 0x0A]

    // MARK: Writing

    /// Writes what is waiting, and waits until that is done.
    func finish() { queue.sync { flush() } }

    /// Opens the file again under its name, after a rotation.
    func reopen() {
        queue.async {
            self.flush()
            let failure = self.output.withLock { output -> IOError? in
                do throws(IOError) { try output.file.reopen() } catch { return error }
                return nil
            }
            if let failure { self.log.error("the audit log cannot be opened", ["error": failure]) }
        }
    }

    private func flush() {
        let (bytes, lines) = state.withLock { state -> ([UInt8], Int) in
            defer { (state.pending, state.lines, state.isScheduled) = ([], 0, false) }
            return (state.pending, state.lines)
        }
        guard lines > 0 else { return }
        let outcome = output.withLock { output -> Result<String, IOError> in
            Result { () throws(IOError) in
                // The new file, after a rotation by rename.
                _ = try output.file.reopenIfMoved()
                var text = output.untold > 0 ? Self.note(output.untold) : []
                text += bytes
                if isChained {
                    let (chained, head) = AuditChain.chain(text, after: output.head)
                    try output.file.append(chained)
                    output.head = head
                } else {
                    try output.file.append(text)
                }
                output.untold = 0
                return output.head
            }
        }
        record(outcome, lines: lines)
    }

    /// Returns a line about lines that were lost.
    private static func note(_ count: Int) -> [UInt8] {
        Array("{\"time\":\"\(WallTime.now)\",\"event\":\"lost\",\"lines\":\(count)}\n".utf8)
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
            if wasFailing { log.info("the audit log can be written again") }
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
                    "the audit log cannot be written: calls continue, their lines are lost",
                    ["error": error])
            }
        }
    }
}
