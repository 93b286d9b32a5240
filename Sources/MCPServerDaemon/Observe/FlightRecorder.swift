import Dispatch
import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A ring of the last exchanges, written to a file when something fails or somebody asks for it.
///
/// One line of JSON for each exchange: `time`, `method`, `name`, `outcome`, `ms`, `request` and `response`,
/// the messages as they were sent, without what a `Redactor` leaves out.
final class FlightRecorder: Sendable {
    /// The bytes of one message that are kept; a larger one is null in the file.
    static let maxMessageBytes = 64 << 10
    /// The bytes of all exchanges that are kept; the oldest ones make room.
    static let maxBytes = 16 << 20
    /// The files that are kept; the oldest ones make room.
    static let maxFiles = 16
    /// The shortest time between two files because of errors.
    static let pause = Duration.seconds(60)

    private struct State {
        var lines: [[UInt8]] = []
        var first = 0
        var bytes = 0
        var count: Int { lines.count - first }
        var lastDump: ContinuousClock.Instant?
        var dumps = 0
    }

    private let settings: RecorderSettings
    private let redactor: Redactor
    private let log: Log
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "mcp.recorder", qos: .utility)

    init(_ settings: RecorderSettings, hiding secrets: HiddenSecrets = HiddenSecrets(), log: Log) {
        self.settings = settings
        redactor = Redactor(settings.redaction, hiding: secrets)
        self.log = log
    }

    var exchanges: Int { state.withLock { $0.count } }

    func add(_ request: IncomingRequest, _ end: RequestEnd, _ outcome: CallOutcome) {
        var line = LineText(reserving: 1_024)
        line.literal("{\"time\":\"")
        line.append(WallTime.now.iso8601)
        line.literal("\",\"method\":")
        line.string(request.method)
        if let name = redactor.secrets.name(of: request) {
            line.literal(",\"name\":")
            line.string(name)
        }
        line.literal(",\"outcome\":\"")
        line.append(outcome.rawValue.utf8)
        line.literal("\",\"ms\":")
        line.milliseconds(nanoseconds: end.nanoseconds)
        line.literal(",\"request\":")
        add((try? RawJSON(validating: request.message)), to: &line)
        line.literal(",\"response\":")
        add(end.response, to: &line)
        line.literal("}\n")
        keep(line.bytes)
        if outcome.isFailure, settings.triggers.contains(.error) { dumpAfterError() }
    }

    private func add(_ message: RawJSON?, to line: inout LineText) {
        // `result` and `content` are the protocol's own.
        guard let message,
            redactor.append(message, to: &line, limit: Self.maxMessageBytes, namesFrom: 2)
        else { return line.literal("null") }
    }

    private func keep(_ line: [UInt8]) {
        state.withLock { state in
            state.lines.append(line)
            state.bytes += line.count
            while state.count > settings.keep || state.bytes > Self.maxBytes {
                state.bytes -= state.lines[state.first].count
                state.lines[state.first] = []
                state.first += 1
            }
            guard state.first > settings.keep else { return }
            state.lines.removeFirst(state.first)
            state.first = 0
        }
    }

    // MARK: Files

    private func dumpAfterError() {
        let now = ContinuousClock().now
        let isDue = state.withLock { state in
            if let last = state.lastDump, last.duration(to: now) < Self.pause { return false }
            state.lastDump = now
            return true
        }
        if isDue { dump("error") }
    }

    /// Writes a file with the exchanges that are kept, soon.
    func dump(_ reason: String) {
        queue.async { [self] in
            let (lines, number) = state.withLock { state in
                state.dumps += 1
                return (Array(state.lines[state.first...]), state.dumps)
            }
            guard !lines.isEmpty else { return log.info("recorder empty", ["reason": reason]) }
            let time = WallTime.now.description.filter { $0 != ":" && $0 != "-" && $0 != "." }
            let path = "\(settings.directory)/flight-\(time)-\(getpid())-\(number).jsonl"
            do throws(IOError) {
                try Files.replace(path, with: Array(lines.joined()))
                log.info(
                    "exchanges recorded", ["file": path, "exchanges": lines.count, "reason": reason])
                removeOldest()
            } catch {
                log.error("recorder failing", ["file": path, "error": error])
            }
        }
    }

    /// Waits until files that were asked for are written.
    func finish() { queue.sync {} }

    private func removeOldest() {
        // A directory that cannot be listed keeps its files.
        guard let names = (try? Files.names(in: settings.directory))?.names else { return }
        let own = names.filter { $0.hasPrefix("flight-") && $0.hasSuffix(".jsonl") }.sorted()
        for name in own.dropLast(Self.maxFiles) { unsafe unlink("\(settings.directory)/\(name)") }
    }
}
