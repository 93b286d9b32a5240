import Dispatch
import MCPCore
import Synchronization

/// A model that is a program: one JSON request per line on its stdin, one event per line on its stdout.
///
/// A request is `{"system", "messages", "tools"}`. Events are `{"type":"text","delta"}`,
/// `{"type":"tool_call","id","name","arguments"}` with the arguments as text or as an object, before it any
/// number of `{"type":"tool_call_delta","id","name","arguments"}` with the next piece of that text,
/// `{"type":"usage","inputTokens","outputTokens"}`, `{"type":"error","message"}`, and
/// `{"type":"stop","reason"}`, which ends the answer.
///
/// The program may stay for the next request, or end after its answer: then the next request starts it anew.
/// It is also started anew when the next request finds that it said something after `stop`, which is never
/// taken for the next answer, when it answers before it has read the request, and when the reader of an
/// answer leaves. An answer may have 16 MiB in one line and 100 MiB in all. Programs that outlive their
/// standard input are ended by `close()`.
public final class CommandModel: LanguageModel {
    private struct State {
        var running: CommandModelProcess?
        /// Those that were told to end and may still be there.
        var ending: [CommandModelProcess] = []
    }

    /// What waits for the reader of an answer.
    static let maxWaitingBytes = 1 << 20

    /// How long the program may say nothing, and read nothing, in an answer: 2 min. Then the answer fails,
    /// and the program is ended.
    public let silence: Duration
    private let launch: ProcessLaunch
    private let state = Mutex(State())
    /// One answer at a time; reading blocks, so it has a thread of its own.
    private let queue = DispatchQueue(label: "mcp.model")

    /// A program and its arguments; no shell is involved. It starts with the first request.
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

    /// Ends the program and waits until it is gone, with everything that it has started in its process group.
    ///
    /// Its input is closed; half a second later it gets SIGTERM, and after another second SIGKILL. An answer
    /// at work fails. Without this call a program may outlive this process, when it heeds neither. A request
    /// that comes later starts the program anew.
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
        // The program is read no further until its reader has made room.
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
                // It ended between two answers.
                guard isUsed, !hasBegun, !answer.isGivenUp else {
                    throw HarnessError.model(process.endedEarly)
                }
                forget()
                (process, isUsed) = try self.process()
            }
        }
    }

    /// The program that waits for a request, or a new one.
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

/// Ends the program when its answer is given up, and only then.
private final class CommandModelAnswer: Sendable {
    private enum State {
        case waiting, givenUp, over
        case running(CommandModelProcess)
    }

    private let state = Mutex(State.waiting)

    /// False when nobody wants the answer any more.
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
