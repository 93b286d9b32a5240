import Dispatch
import Synchronization

/// A model that is a program: one JSON request per line on its stdin, one event per line on its stdout.
///
/// A request is `{"system", "messages", "tools"}`. Events are `{"type":"text","delta"}`,
/// `{"type":"tool_call","id","name","arguments"}` with the arguments as text or as an object, before it any
/// number of `{"type":"tool_call_delta","id","name","arguments"}` with the next piece of that text,
/// `{"type":"usage","inputTokens","outputTokens"}`, `{"type":"error","message"}`, and
/// `{"type":"stop","reason"}`, which ends the answer. The program stays for the next request; whoever stops
/// reading an answer ends the program, and the next request starts it anew.
public final class CommandModel: LanguageModel {
    private let launch: ProcessLaunch
    private let running = Mutex<CommandModelProcess?>(nil)
    /// One answer at a time; reading blocks, so it has a thread of its own.
    private let queue = DispatchQueue(label: "mcp.model")

    /// A program and its arguments; no shell is involved. It starts with the first request.
    public init(_ program: String, _ arguments: [String] = [], environment: [String: String]? = nil) {
        var launch = ProcessLaunch(program, arguments, environment: environment)
        launch.errors = .inherit
        self.launch = launch
    }

    deinit { running.withLock { $0?.end() } }

    /// Writes the request and reads events up to `stop`.
    public func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
        AsyncThrowingStream { continuation in
            let answer = CommandModelAnswer()
            continuation.onTermination = { reason in
                guard case .cancelled = reason else { return }
                answer.giveUp()
            }
            queue.async { [self] in
                do {
                    let process = try process()
                    guard answer.begin(process) else { return continuation.finish() }
                    try process.write(CommandModelWire.line(request))
                    while let event = try process.next() {
                        continuation.yield(event)
                        if case .stop = event { break }
                    }
                    answer.end()
                    continuation.finish()
                } catch {
                    forget()
                    continuation.finish(throwing: error)
                }
            }
        }
    }

    private func process() throws -> CommandModelProcess {
        try running.withLock { running in
            if let running, !running.hasEnded { return running }
            let process = try CommandModelProcess(launch)
            running = process
            return process
        }
    }

    private func forget() {
        let process = running.withLock { running in
            defer { running = nil }
            return running
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

/// The program at work. Written to and read from on one queue; ended from anywhere.
private final class CommandModelProcess: Sendable {
    /// A longer line is no event: 16 MiB.
    private static let maxLineBytes = 16 << 20

    private struct Pipes: ~Copyable {
        let input: FileDescriptor
        let output: FileDescriptor
        var framer = LineFramer(maximumBytes: CommandModelProcess.maxLineBytes)
    }

    private let child: ChildProcess
    private let name: String
    private let pipes: Mutex<Pipes>

    init(_ launch: ProcessLaunch) throws {
        child = try ChildProcess(launch)
        name = launch.program
        guard let input = child.takeInput(), let output = child.takeOutput() else {
            throw HarnessError.model("\(launch.program) has no pipes")
        }
        pipes = Mutex(Pipes(input: input, output: output))
    }

    var hasEnded: Bool { child.status != nil }

    func end() { child.startTermination(inputGrace: .zero) }

    func write(_ line: [UInt8]) throws {
        try pipes.withLock { pipes in
            var rest = line[...]
            while !rest.isEmpty {
                let written = unsafe try rest.withUnsafeBytes { (bytes) throws(IOError) in
                    unsafe try Syscalls.write(pipes.input.rawValue, bytes)
                }
                rest = rest.dropFirst(written ?? 0)
            }
        }
    }

    /// The next event.
    /// - Throws: `HarnessError.model` when the program ends or says what is no event.
    func next() throws -> ModelEvent? {
        try pipes.withLock { pipes in
            while true {
                switch pipes.framer.next() {
                case .line(let line):
                    if line.isEmpty { continue }
                    return try CommandModelWire.event(line, name)
                case .tooLong:
                    throw HarnessError.model("\(name) wrote a line of more than \(Self.maxLineBytes) bytes")
                case .needMore:
                    let output = pipes.output.rawValue
                    let count = unsafe try pipes.framer.fill(reserving: 64 << 10) { (room) throws(IOError) in
                        unsafe try Syscalls.read(output, into: UnsafeMutableRawBufferPointer(room)) ?? 0
                    }
                    if count == 0 { throw HarnessError.model("\(name) ended in the middle of an answer") }
                }
            }
        }
    }
}

/// Requests and events as lines.
enum CommandModelWire {
    static func line(_ request: ModelRequest) -> [UInt8] {
        var object: JSONObject = [:]
        if let system = request.system { object["system"] = .string(system) }
        object["messages"] = .array(request.messages.map(json))
        object["tools"] = .array(
            request.tools.map { tool in
                [
                    "name": .string(tool.name), "description": .string(tool.description ?? ""),
                    "inputSchema": tool.inputSchema,
                ]
            })
        return Array(JSONValue.object(object).serialized().utf8) + [0x0A]
    }

    private static func json(_ message: ModelMessage) -> JSONValue {
        switch message {
        case .user(let text): ["role": "user", "text": .string(text)]
        case .assistant(let text, let calls):
            [
                "role": "assistant", "text": .string(text),
                "toolCalls": .array(
                    calls.map { call in
                        [
                            "id": .string(call.callID), "name": .string(call.name),
                            "arguments": .string(call.arguments),
                        ]
                    }),
            ]
        case .toolResults(let results):
            [
                "role": "tool",
                "results": .array(
                    results.map { result in
                        [
                            "id": .string(result.callID), "name": .string(result.name),
                            "text": .string(result.text), "isError": .bool(result.isError),
                        ]
                    }),
            ]
        }
    }

    static func event(_ line: ByteSlice, _ name: String) throws(HarnessError) -> ModelEvent {
        guard let json = try? JSONValue(parsing: line), let type = json["type"]?.stringValue else {
            throw .model("\(name) wrote a line that is no event")
        }
        switch type {
        case "text": return .textDelta(json["delta"]?.stringValue ?? "")
        case "tool_call":
            guard let tool = json["name"]?.stringValue else {
                throw .model("\(name) calls a tool without a name")
            }
            let arguments = json["arguments"]
            return .toolCall(
                ModelToolCall(
                    callID: json["id"]?.stringValue ?? "", itemID: json["itemID"]?.stringValue, name: tool,
                    arguments: arguments?.stringValue ?? arguments?.serialized() ?? ""))
        case "tool_call_delta":
            guard let id = json["id"]?.stringValue else {
                throw .model("\(name) writes a piece of a call without an id")
            }
            return .toolCallDelta(
                callID: id, name: json["name"]?.stringValue,
                partialArguments: json["arguments"]?.stringValue ?? "")
        case "usage":
            return .usage(
                ModelUsage(
                    inputTokens: json["inputTokens"]?.intValue ?? 0,
                    outputTokens: json["outputTokens"]?.intValue ?? 0))
        case "error": throw .model("\(name): \(json["message"]?.stringValue ?? "an error")")
        case "stop": return .stop(json["reason"]?.stringValue ?? "stop")
        default: throw .model("\(name) wrote an event of the unknown type \(type)")
        }
    }
}
