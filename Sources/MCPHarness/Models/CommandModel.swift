import Dispatch
import MCPCore
import Synchronization

/// A model that is a program: it reads one JSON request per line on its stdin and writes one event per line
/// on its stdout.
///
/// A request is `{"system", "messages", "tools"}`. The events are `{"type":"text","delta"}`,
/// `{"type":"tool_call","id","name","arguments"}` with the arguments as text or as an object, preceded by any
/// number of `{"type":"tool_call_delta","id","name","arguments"}` with the next piece of that text,
/// `{"type":"usage","inputTokens","outputTokens"}`, `{"type":"error","message"}`, and
/// `{"type":"stop","reason"}`, which ends the answer.
///
/// The program may wait for the next request, or exit after its answer, in which case the next request starts
/// it again. It is also restarted when the next request finds that it wrote something after `stop` (which is
/// never taken for the next answer), when it answers before it has read the request, and when the reader of
/// an answer stops reading. An answer may have 16 MiB in one line and 100 MiB in total. Programs that do not
/// exit when their standard input is closed are ended by `close()`.
public final class CommandModel: LanguageModel {
    private struct State {
        var running: CommandModelProcess?
        /// The processes that were told to end and may still be running.
        var ending: [CommandModelProcess] = []
    }

    /// The maximum size of events waiting for the reader of an answer.
    static let maxWaitingBytes = 1 << 20

    /// The maximum time for which the program may neither write nor read anything during an answer: 2 min.
    /// After that, the answer fails and the program is ended.
    public let silence: Duration
    private let launch: ProcessLaunch
    private let state = Mutex(State())
    /// Runs one answer at a time; reading blocks, so it needs its own thread.
    private let queue = DispatchQueue(label: "mcp.model")

    /// Creates a model from a program and its arguments; no shell is involved. The program starts with the
    /// first request.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        silence: Duration = .seconds(120)
    ) {
        var launch = ProcessLaunch(program, arguments, environment: environment)
        launch.errors = .inherit
        self.launch = launch
        self.silence = silence
    }

    deinit { state.withLock { $0.running?.end() } }

    /// Ends the program and waits until it has exited, along with everything that it has started in its
    /// process group.
    ///
    /// The program's input is closed; it receives SIGTERM half a second later, and SIGKILL after another
    /// second. An answer in progress fails. Without this call, a program that heeds neither the end of its
    /// input nor SIGTERM may outlive this process. A later request starts the program again.
    public func close() async {
        let processes = state.withLock { state in
            state.ending += state.running.take().map { [$0] } ?? []
            return state.ending
        }
        for process in processes { process.end() }
        for process in processes { await process.wait() }
    }

    /// Writes the request and reads events up to `stop`.
    public func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
        let answer = CommandModelAnswer()
        let events = BoundedQueue<ModelEvent>(limit: Self.maxWaitingBytes) { $0.waitingBytes }
        // The program's output is not read further until the reader has made room.
        let room = DispatchSemaphore(value: 0)
        queue.async { [self] in
            do {
                try run(CommandModelWire.line(request), answer) { if !events.put($0) { room.wait() } }
                events.finish()
            } catch {
                forget()
                events.finish(throwing: error)
            }
        }
        return events.throwingStream(
            whenDropped: {
                events.finish()
                answer.giveUp()
                room.signal()
            }, whenRoom: { room.signal() })
    }

    private func run(
        _ line: [UInt8], _ answer: CommandModelAnswer, _ take: (ModelEvent) -> Void
    ) throws {
        if answer.isGivenUp { return }
        var hasBegun = false
        var (process, isUsed) = try process()
        while answer.begin(process) {
            do {
                try process.answer(to: line, silence: silence) { event in
                    hasBegun = true
                    take(event)
                }
                answer.end()
                if process.hasUnreadRequest { forget() }
                return
            } catch is CommandModelProcess.Ended {
                // The program exited between two answers.
                guard isUsed, !hasBegun, !answer.isGivenUp else {
                    throw HarnessError.model(process.endedEarly(hasBegun: hasBegun))
                }
                forget()
                (process, isUsed) = try self.process()
            }
        }
    }

    /// Returns the program that is waiting for a request, or a new one.
    private func process() throws -> (CommandModelProcess, isUsed: Bool) {
        if let running = state.withLock({ $0.running }) {
            if running.isReady() { return (running, true) }
            forget()
        }
        let process = try CommandModelProcess(launch)
        state.withLock { $0.running = process }
        return (process, false)
    }

    private func forget() {
        let process = state.withLock { state in
            state.ending.removeAll { $0.hasEnded }
            state.ending += state.running.map { [$0] } ?? []
            return state.running.take()
        }
        process?.end()
    }
}

/// Ends the program if its answer is abandoned, and only then.
private final class CommandModelAnswer: Sendable {
    private enum State {
        case waiting, givenUp, over
        case running(CommandModelProcess)
    }

    private let state = Mutex(State.waiting)

    /// Returns false if the answer is no longer wanted.
    func begin(_ process: CommandModelProcess) -> Bool {
        state.withLock { state in
            if case .givenUp = state { return false }
            state = .running(process)
            return true
        }
    }

    var isGivenUp: Bool {
        state.withLock { state in
            if case .givenUp = state { true } else { false }
        }
    }

    func end() { state.withLock { $0 = .over } }

    func giveUp() {
        let process = state.withLock { state -> CommandModelProcess? in
            defer { state = .givenUp }
            if case .running(let process) = state { return process }
            return nil
        }
        process?.end()
    }
}
