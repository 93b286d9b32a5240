import Dispatch
import MCPCore

/// A configured tool in use: builds the argv of a call, runs the program and turns its output into a result.
struct CommandTool: Sendable {
    /// The number of bytes that a run may write to standard error; only the tail is shown.
    static let maxErrorBytes = 1 << 20
    /// The time between SIGTERM and SIGKILL.
    static let grace = Duration.seconds(2)

    let definition: ToolDefinition
    private let resolver: PathResolver
    /// The slots of the tool, followed by those of all tools.
    private let slots: [CallSlots]
    private let output: CompiledSchema?
    private let supervisor: ProcessSupervisor?

    /// The number of commands of all tools that run at the same time: each holds a thread and up to nine
    /// descriptors.
    static let maxRunning = 128

    /// Returns the number of commands that a quarter of the process's limit on open files is enough for.
    static func maxRunning(openFiles: Int) -> Int { max(1, min(Self.maxRunning, openFiles / 4 / 9)) }

    /// - Parameters:
    ///   - shared: the slots that limit all tools together.
    ///   - supervisor: the supervisor that ends what still runs when the process ends.
    init(
        _ definition: ToolDefinition, resolver: PathResolver, shared: CallSlots,
        supervisor: ProcessSupervisor? = nil
    ) throws(SchemaError) {
        self.supervisor = supervisor
        self.definition = definition
        self.resolver = resolver
        slots = (definition.concurrency.map { [CallSlots($0)] } ?? []) + [shared]
        output = try definition.outputSchema.map { (schema) throws(SchemaError) in try CompiledSchema(schema)
        }
    }

    /// The longest time that the server waits. The tool's own timeout reports the reason, so it must come
    /// first.
    var serverTimeout: Duration { definition.timeout + Self.grace + .seconds(5) }

    func call(_ call: ToolCall) async throws -> CallToolResult {
        let clock = ContinuousClock()
        let start = clock.now
        let run: PreparedRun
        do throws(ArgumentFailure) {
            run = try prepare(call.arguments.value.objectValue ?? [:])
        } catch {
            return .error(error.text)
        }
        var held: [CallSlots] = []
        defer { for slots in held { slots.release() } }
        // A command must have some of its time left when it begins.
        let patience = definition.timeout * Self.waitingShare
        for slots in slots {
            let rest = patience - start.duration(to: clock.now)
            guard rest > .zero, await slots.acquire(timeout: rest) else {
                try Task.checkCancellation()
                return busy(after: start.duration(to: clock.now), patience)
            }
            held.append(slots)
        }
        let waited = start.duration(to: clock.now)
        if waited >= patience { return busy(after: waited, patience) }
        return try await execute(run, timeout: definition.timeout - waited)
    }

    /// The largest share of its time that a call may wait for its command to begin.
    private static let waitingShare = 0.9

    private func busy(after waited: Duration, _ patience: Duration) -> CallToolResult {
        let reason =
            waited < patience
            ? "too many calls are already waiting" : "no slot became free within \(Units.describe(patience))"
        return .error("\(definition.name) is busy and was not run: \(reason); try again later")
    }

    /// The command that one call runs.
    struct PreparedRun: Sendable, Hashable {
        var argv: [String]
        var directory: String
        var input: [UInt8]
        var environment: [String: String]
    }

    /// Returns the command of a call, with every argument inserted and checked; nothing is run.
    func prepare(_ arguments: JSONObject) throws(ArgumentFailure) -> PreparedRun {
        let values = ArgumentValues(arguments, parameters: definition.input.parameters) {
            [resolver] (path, root) throws(ArgumentFailure) in try resolver.resolve(path, root: root)
        }
        var environment = definition.environment
        environment["MCP_TOOL"] = definition.name
        return PreparedRun(
            argv: try definition.command.argv(values),
            directory: try definition.workingDirectory.text(values),
            input: Array(try definition.standardInput?.text(values).utf8 ?? "".utf8), environment: environment
        )
    }

    private func execute(_ run: PreparedRun, timeout: Duration) async throws -> CallToolResult {
        var launch = ProcessLaunch(
            run.argv[0], Array(run.argv.dropFirst()), environment: run.environment, directory: run.directory)
        launch.group = .session
        let limits = ProcessRunner.Limits(
            timeout: timeout, maxOutputBytes: definition.maxOutput, maxErrorBytes: Self.maxErrorBytes,
            terminationGrace: Self.grace)
        let cancellation: ProcessRunner.Cancellation
        let result: ProcessRunner.Result
        do {
            cancellation = try ProcessRunner.Cancellation()
            result = try await withTaskCancellationHandler {
                try await Offload.runLong { [launch, supervisor] in
                    try ProcessRunner.run(
                        launch, input: run.input, limits: limits, cancellation: cancellation,
                        supervisor: supervisor)
                }
            } onCancel: {
                cancellation.cancel()
            }
        } catch let error as SpawnError {
            return .error(Self.text(error, program: run.argv[0]))
        } catch let error as IOError {
            return .error(Self.text(.failed(error), program: run.argv[0]))
        }
        if result.end == .cancelled { throw CancellationError() }
        // Not "killed by signal 9": it was the server that ended it while stopping.
        if supervisor?.isEnding == true {
            throw MCPError(
                code: MCPError.interruptedCode,
                message: "The server was stopped; \(definition.name) had begun and may have had an effect")
        }
        return CommandResult(definition: definition, output: output).result(of: result)
    }

    /// Returns the reason why a program did not start; the directories that were searched are left to
    /// `check`.
    private static func text(_ error: SpawnError, program: String) -> String {
        switch error {
        case .notFound: "the program \(program) was not found"
        case .notExecutable(_, let reason): "the program \(program) cannot be executed: \(reason.reason)"
        case .badDirectory(_, let reason): "the working directory cannot be used: \(reason.reason)"
        case .invalid(let text): text
        case .failed(let error): "the program \(program) could not be started: \(error.reason)"
        }
    }
}

extension TemplateText {
    /// Returns the text with the arguments inserted.
    func text(_ values: ArgumentValues) throws(ArgumentFailure) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .argument(let name): text += try values.text(name)
            }
        }
        return text
    }
}
