import MCPCore

/// Reports the progress of a call while its command runs: from the lines that the command writes, and while
/// it is silent, so that clients that limit the time between two messages keep waiting.
final class CommandProgress: ProcessObserver {
    /// The receivers of the reports.
    struct Receiver: Sendable {
        /// Reports to the client that waits for the response.
        var report: @Sendable (ProgressReport) -> Void
        /// Describes the current work of a task.
        var describe: @Sendable (String) -> Void
    }

    /// The time without a report after which one is made.
    static let heartbeat = Duration.seconds(15)
    /// The shortest time between two reports; of the lines between them, the last one is reported.
    static let leastInterval = Duration.milliseconds(100)
    /// The longest line that is reported, in bytes; the rest is cut off. A longer line of JSON is output.
    static let maxLineBytes = 4_096

    private let settings: ToolDefinition.Progress?
    private let receiver: Receiver
    private let heartbeat: Duration
    private let started: MonotonicInstant
    private var lastReport: MonotonicInstant
    /// The beginning of a line whose end has not been read.
    private var line: [UInt8] = []
    /// Whether the rest of the line is not part of `line`: it was too long.
    private var isLineCut = false
    /// Whether the last line was a report that ended with a carriage return.
    private var isReturnReported = false
    /// The newest report that was not sent, because the last one was too recent.
    private var waiting: ProgressReport?
    /// The last value; the next one must be greater.
    private var value = 0.0
    /// The last report of the command.
    private var last: ProgressReport?
    /// The number of lines that were read.
    private var lines = 0.0

    init(
        _ settings: ToolDefinition.Progress?, _ receiver: Receiver, heartbeat: Duration = heartbeat,
        now: MonotonicInstant
    ) {
        self.settings = settings
        self.receiver = receiver
        self.heartbeat = heartbeat
        started = now
        lastReport = now
    }

    // MARK: Time

    var wakeTime: MonotonicInstant { lastReport + (waiting == nil ? heartbeat : Self.leastInterval) }

    func wake(at now: MonotonicInstant) {
        if let waiting { return send(waiting, at: now) }
        let seconds = (now - started).components.seconds
        var report = last ?? ProgressReport(0)
        if settings == nil {
            report.progress = Double(seconds)
        } else {
            // Below the next value of the command, which is not known yet.
            report.progress = value + max(1, value.magnitude) * 1e-6
        }
        if report.message == nil { report.message = "running for \(Units.describe(.seconds(seconds)))" }
        deliver(report, at: now)
    }

    private func send(_ report: ProgressReport, at now: MonotonicInstant) {
        waiting = nil
        last = report
        deliver(report, at: now)
    }

    private func deliver(_ report: ProgressReport, at now: MonotonicInstant) {
        lastReport = now
        value = max(value, report.progress)
        receiver.report(report)
        if let message = report.message { receiver.describe(message) }
    }

    private func offer(_ report: ProgressReport, at now: MonotonicInstant) {
        waiting = report
        if now >= lastReport + Self.leastInterval || last == nil { send(report, at: now) }
    }

    // MARK: Output

    func take(
        _ bytes: [UInt8], from stream: ProcessRunner.OutputStream, at now: MonotonicInstant
    ) -> [UInt8] {
        guard let settings, stream == settings.stream else { return bytes }
        guard settings.format == .jsonlines else {
            readLines(bytes, at: now)
            return bytes
        }
        return filter(bytes, at: now)
    }

    func end(of stream: ProcessRunner.OutputStream) -> [UInt8] {
        guard let settings, settings.format == .jsonlines, settings.stream == stream else { return [] }
        let rest = isLineCut ? [] : line
        line = []
        return report(in: rest) == nil ? rest : []
    }

    /// Reports the last whole line of what was read; a carriage return ends a line, too, as in the progress
    /// bars of terminals.
    private func readLines(_ bytes: [UInt8], at now: MonotonicInstant) {
        var rest = bytes[...]
        while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
            line += rest[..<end].prefix(max(0, Self.maxLineBytes - line.count))
            let text = Self.shown(line)
            line.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
            if text.isEmpty { continue }
            lines += 1
            offer(ProgressReport(max(lines, value.nextUp), message: text), at: now)
        }
        line += rest.prefix(max(0, Self.maxLineBytes - line.count))
    }

    /// Reports the lines that are progress, and returns all others; a carriage return ends a line, too.
    private func filter(_ bytes: [UInt8], at now: MonotonicInstant) -> [UInt8] {
        var kept: [UInt8] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
            let piece = rest[...end]
            rest = rest[(end + 1)...]
            // The second half of the end of a line that was reported.
            let isRest = isReturnReported && line.isEmpty && piece.elementsEqual([0x0A])
            isReturnReported = false
            if isRest { continue }
            if isLineCut {
                kept += piece
                isLineCut = false
            } else if line.count + piece.count <= Self.maxLineBytes, let report = report(in: line + piece) {
                isReturnReported = bytes[end] == 0x0D
                if report.progress > value { offer(report, at: now) }
            } else {
                kept += line + piece
            }
            line.removeAll(keepingCapacity: true)
        }
        if isLineCut || line.count + rest.count > Self.maxLineBytes {
            kept += line + rest
            line.removeAll(keepingCapacity: true)
            isLineCut = isLineCut || !rest.isEmpty
        } else {
            line += rest
        }
        return kept
    }

    /// Returns the report in a line like `{"progress": 3, "total": 10, "message": "…"}`: an object with these
    /// members and no others.
    private func report(in line: [UInt8]) -> ProgressReport? {
        guard line.first(where: { !ASCII.isLineBlank($0) }) == UInt8(ascii: "{"),
            let object = (try? JSONValue(parsing: line))?.objectValue,
            let progress = object["progress"]?.doubleValue, progress.isFinite,
            object.allSatisfy({ ["progress", "total", "message"].contains($0.key) })
        else { return nil }
        let message = object["message"]?.stringValue.map { Self.shown(Array($0.utf8)) }
        return ProgressReport(progress, total: object["total"]?.doubleValue, message: message)
    }

    /// Returns a line as text for people: without the colours and the control characters of terminals.
    private static func shown(_ line: [UInt8]) -> String {
        var text: [UInt8] = []
        var index = 0
        while index < line.count {
            // ESC [ parameters final byte (ECMA-48, CSI).
            if line[index] == 0x1B, index + 1 < line.count, line[index + 1] == UInt8(ascii: "[") {
                index += 2
                while index < line.count, !(0x40 ... 0x7E).contains(line[index]) { index += 1 }
            } else {
                text.append(line[index] == 0x09 ? 0x20 : line[index])
            }
            index += 1
        }
        return TerminalText.inline(String(decoding: text, as: UTF8.self), limit: maxLineBytes).trimmed
    }
}
