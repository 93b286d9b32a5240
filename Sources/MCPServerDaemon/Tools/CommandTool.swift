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
    /// The slots of all tools.
    private let slots: CallSlots
    private let line: CallSlots.Line
    private let output: CompiledSchema?
    private let cache: ResultCache
    private let runtime: CommandRuntime
    private let counters: CommandCounters?

    /// The number of commands of all tools that run at the same time: each holds a thread and up to nine
    /// descriptors, without the paths that it opens.
    static let maxRunning = 128

    /// Returns the number of commands that a quarter of the process's limit on open files is enough for.
    static func maxRunning(openFiles: Int) -> Int { max(1, min(Self.maxRunning, openFiles / 4 / 9)) }

    /// - Parameters:
    ///   - shared: the slots that limit all tools together.
    ///   - cache: the results of all tools that may be used again.
    init(
        _ definition: ToolDefinition, resolver: PathResolver, shared: CallSlots,
        runtime: CommandRuntime = CommandRuntime(), cache: ResultCache = ResultCache(),
        counters: CommandCounters? = nil
    ) throws(SchemaError) {
        self.runtime = runtime
        self.cache = cache
        self.counters = counters
        self.definition = definition
        self.resolver = resolver
        slots = shared
        line = definition.concurrency.map { shared.addLine($0) } ?? .common
        output = try definition.outputSchema.map { (schema) throws(SchemaError) in try CompiledSchema(schema)
        }
    }

    /// The longest time that the server waits. The tool's own timeout reports the reason, so it must come
    /// first.
    var serverTimeout: Duration { definition.timeout + Self.grace + .seconds(5) }

    func call(_ call: ToolCall, _ context: RequestContext) async throws -> CallToolResult {
        if definition.confirmation != nil { context.holdAnswers() }
        let arguments = call.arguments.value.objectValue ?? [:]
        let run: PreparedRun
        do throws(ArgumentFailure) {
            run = try prepare(arguments, CallOrigin(context))
        } catch {
            return .error(error.text)
        }
        do {
            if let question = try question(arguments),
                let refusal = try await Confirmation.refusal(
                    of: definition.name, question, run.digest(definition), context)
            {
                return refusal
            }
        } catch let error as ArgumentFailure {
            return .error(error.text)
        }
        if definition.task != .never {
            // The result is kept at least as long as the command may have run.
            try await context.becomeTask(ttl: definition.timeout + Self.taskRetention)
        }
        guard let ttl = definition.cacheTTL else { return try await perform(run, context) }
        let key = ResultCache.Key(
            tool: definition.name, principal: context.principal?.key ?? "",
            arguments: Array(call.arguments.bytes))
        let called = SystemClock().now
        return try await cache.result(
            key, ttl: ttl,
            joined: { context.wantsProgress ? waitingReports(context, "the same call", since: called) : nil }
        ) { try await perform(run, context) }
    }

    /// Returns the question that the user must accept first, if there is one.
    func question(_ arguments: JSONObject) throws(ArgumentFailure) -> String? {
        guard let template = definition.confirmation else { return nil }
        // The directories of this host do not concern the user of a client.
        let values = ArgumentValues(arguments, parameters: definition.input.parameters) { path, _, _ in path }
        return try Confirmation.text(template, values)
    }

    /// The least time for which the result of a task is kept after the command's end.
    static let taskRetention = Duration.seconds(3_600)

    /// Waits for a slot and runs the command.
    private func perform(_ run: PreparedRun, _ context: RequestContext) async throws -> CallToolResult {
        let clock = ContinuousClock()
        let start = clock.now
        let called = SystemClock().now
        let reports = context.wantsProgress ? waitingReports(context, "other calls", since: called) : nil
        defer { reports?.cancel() }
        let caller = context.callerKey
        // A command must have some of its time left when it begins.
        let patience = definition.timeout * Self.waitingShare
        var hasWaited = false
        let isThere = await slots.acquire(for: caller, in: line, timeout: patience) {
            hasWaited = true
            if definition.task != .never {
                context.updateTask(statusMessage: "waiting for other calls to end")
            }
        }
        guard isThere else {
            try Task.checkCancellation()
            return busy(after: start.duration(to: clock.now), patience, context)
        }
        defer { slots.release(for: caller, in: line) }
        if hasWaited, definition.task != .never { context.updateTask(statusMessage: "running") }
        let waited = start.duration(to: clock.now)
        if waited >= patience { return busy(after: waited, patience, context) }
        reports?.cancel()
        if definition.confirmation != nil { context.spendAnswers() }
        return try await execute(run, timeout: definition.timeout - waited, context, since: called)
    }

    /// Reports that the call waits for others, as often as a silent command is reported.
    private func waitingReports(
        _ context: RequestContext, _ others: String, since start: MonotonicInstant
    ) -> Task<Void, any Error> {
        Task { [definition, runtime] in
            var count = 0.0
            while true {
                try await Task.pause(for: runtime.heartbeat)
                count += 1
                let seconds = (SystemClock().now - start).components.seconds
                // Below every value that the command reports.
                let value = definition.progress == nil ? Double(seconds) : count * 1e-9
                let waited = Units.describe(.seconds(seconds))
                context.report(ProgressReport(value, message: "waiting for \(others) to end for \(waited)"))
            }
        }
    }

    /// The largest share of its time that a call may wait for its command to begin.
    private static let waitingShare = 0.9

    private func busy(
        after waited: Duration, _ patience: Duration, _ context: RequestContext
    ) -> CallToolResult {
        counters?.countBusy()
        let reason =
            waited < patience
            ? "too many calls are already waiting" : "no slot became free within \(Units.describe(patience))"
        if definition.task != .never { context.updateTask(statusMessage: "busy: \(reason)") }
        return .error("\(definition.name) is busy and was not run: \(reason); try again later")
    }

    /// The command that one call runs.
    struct PreparedRun: Sendable, Hashable {
        var argv: [String]
        var directory: String
        var input: [UInt8]
        var environment: [String: String]
        /// What is opened immediately before the command begins: descriptor 3 and those that follow.
        var opened: [OpenedPath] = []

        /// Returns the digest of what the command of a tool is and may do, without what only describes the
        /// call, such as its trace.
        func digest(_ definition: ToolDefinition) -> SHA256.Digest {
            var hasher = SHA256()
            func add(_ texts: [String]) {
                hasher.update("\(texts.count)\n".utf8)
                for text in texts { hasher.update("\(text.utf8.count)\n\(text)".utf8) }
            }
            add(argv)
            add([directory])
            hasher.update("\(input.count)\n".utf8)
            hasher.update(input)
            add(definition.environment.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
            add(opened.flatMap { [$0.parameter, $0.root, $0.path] })
            let complete = SandboxSupport(landlock: .max, hasSyscallFilter: true)
            add([definition.sandbox?.described(complete) ?? ""] + SandboxDefinition.texts(definition.limits))
            return hasher.finalize()
        }
    }

    /// Returns the command of a call, with every argument inserted and checked; nothing is run.
    func prepare(_ arguments: JSONObject, _ origin: CallOrigin) throws(ArgumentFailure) -> PreparedRun {
        var opened: [OpenedPath] = []
        let values = ArgumentValues(arguments, parameters: definition.input.parameters) {
            [resolver] (path, parameter, root) throws(ArgumentFailure) in
            let real = try resolver.resolve(path, root: root)
            guard parameter.isOpened else { return real }
            return try Self.pass(OpenedPath(parameter: parameter.name, path: path, root: root), in: &opened)
        }
        var environment = definition.environment
        environment["MCP_TOOL"] = definition.name
        origin.add(to: &environment)
        var run = PreparedRun(
            argv: try definition.command.argv(values),
            directory: try definition.workingDirectory.text(values),
            input: Array(try definition.standardInput?.text(values).utf8 ?? "".utf8), environment: environment
        )
        run.opened = opened
        return run
    }

    /// Returns the path with which the command opens what it receives.
    private static func pass(
        _ file: OpenedPath, in opened: inout [OpenedPath]
    ) throws(ArgumentFailure) -> String {
        if let index = opened.firstIndex(of: file) { return PassedDescriptor.path(index) }
        guard opened.count < PassedDescriptor.maxCount else {
            throw ArgumentFailure(text: "a command receives at most \(PassedDescriptor.maxCount) open paths")
        }
        opened.append(file)
        return PassedDescriptor.path(opened.count - 1)
    }

    private func execute(
        _ run: PreparedRun, timeout: Duration, _ context: RequestContext, since called: MonotonicInstant
    ) async throws -> CallToolResult {
        let result: ProcessRunner.Result
        let readsAll = definition.overflow == .resource && runtime.outputs.reserve()
        counters?.countStart()
        defer {
            counters?.countEnd()
            if readsAll { runtime.outputs.release() }
        }
        do {
            let cancellation = try ProcessRunner.Cancellation()
            let launch = try launch(run)
            let receiver = progressReceiver(context)
            let limits = limits(timeout: timeout, readsAll: readsAll)
            result = try await withTaskCancellationHandler {
                try await Offload.runLong { [definition, runtime] in
                    let observer = receiver.map {
                        CommandProgress(definition.progress, $0, heartbeat: runtime.heartbeat, now: called)
                    }
                    return try ProcessRunner.run(
                        launch, input: run.input, limits: limits, cancellation: cancellation,
                        supervisor: runtime.supervisor, observer: observer)
                }
            } onCancel: {
                cancellation.cancel()
            }
        } catch let error as ArgumentFailure {
            return .error(error.text)
        } catch let error as SpawnError {
            return .error(Self.text(error, program: run.argv[0]))
        } catch let error as IOError {
            return .error(Self.text(.failed(error), program: run.argv[0]))
        }
        if result.end == .cancelled { throw CancellationError() }
        if result.end == .timedOut { counters?.countTimeout() }
        // Not "killed by signal 9": it was the server that ended it while stopping.
        if runtime.supervisor?.isEnding == true {
            throw MCPError(
                code: MCPError.interruptedCode,
                message: "The server was stopped; \(definition.name) had begun and may have had an effect")
        }
        return CommandResult(
            definition: definition, output: output, outputs: runtime.outputs,
            principal: context.principal?.key ?? ""
        ).result(of: result)
    }

    private func launch(_ run: PreparedRun) throws(ArgumentFailure) -> ProcessLaunch {
        var launch = ProcessLaunch(
            run.argv[0], Array(run.argv.dropFirst()), environment: run.environment, directory: run.directory)
        launch.group = .session
        launch.restriction = definition.restriction
        for file in run.opened { launch.descriptors.append(try resolver.open(file)) }
        return launch
    }

    private func limits(timeout: Duration, readsAll: Bool) -> ProcessRunner.Limits {
        var limits = ProcessRunner.Limits(
            timeout: timeout,
            maxOutputBytes: readsAll ? max(OutputStore.maxBytes, definition.maxOutput) : definition.maxOutput,
            maxErrorBytes: Self.maxErrorBytes, terminationGrace: Self.grace)
        if definition.overflow != .error { limits.excess = .isDropped }
        return limits
    }

    /// Returns the receiver of progress; `nil` if nobody wants any and the output needs no filter.
    private func progressReceiver(_ context: RequestContext) -> CommandProgress.Receiver? {
        let isTask = definition.task != .never
        guard context.wantsProgress || isTask || definition.progress?.format == .jsonlines else { return nil }
        return CommandProgress.Receiver(
            report: { context.report($0) },
            describe: { if isTask { context.updateTask(statusMessage: $0) } })
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
