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

/// The process around a command: signals, the deadline, the exit code.
enum ClientProgram {
    static func main(_ arguments: [String]) -> Int32 {
        // A reader of our output or a child that goes away must cause an error code, not the end of this
        // process.
        signal(SIGPIPE, SIG_IGN)
        // So must a file that would become larger than a limit of the system (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        let request: CommandLineRequest
        do {
            try checkText(arguments)
            request = try InvocationParser.parse(arguments)
        } catch {
            return usageFailure(error, arguments)
        }
        if case .complete = request { leaveAtTheLimit() }
        return perform(request, CommandRunner(environment: .process()))
    }

    /// Refuses an argument that is not UTF-8 text, whose bytes would be replaced by other characters.
    private static func checkText(_ arguments: [String]) throws(Failure) {
        guard arguments.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else { return }
        for (index, bytes) in argumentBytes().enumerated()
        where String(validating: bytes, as: UTF8.self) == nil {
            throw .usage(
                "argument \(index + 1) is not UTF-8 text",
                details: [inlineText(String(decoding: bytes, as: UTF8.self)), "nothing was started or sent"])
        }
    }

    /// The arguments without the program's name, as they were passed.
    private static func argumentBytes() -> [[UInt8]] {
        #if os(Linux)
        // As ProgramArguments does.
        guard let bytes = try? Files.read("/proc/self/cmdline", maxBytes: 8 << 20) else { return [] }
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).dropFirst().map {
            Array($0)
        }
        #else
        return (1 ..< max(1, Int(CommandLine.argc))).map { index in
            // SAFETY: the system passes argc texts that end with NUL.
            guard let text = unsafe CommandLine.unsafeArgv[index] else { return [] }
            return unsafe UnsafeRawBufferPointer(start: text, count: strlen(text)).map { $0 }
        }
        #endif
    }

    /// Ends the process when a shell has waited for proposals long enough.
    private static func leaveAtTheLimit() {
        let limit = Int(TimeSpan.milliseconds(Completer.limit))
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + .milliseconds(limit)) {
            ChildPrograms.killAll()
            _exit(0)
        }
    }

    private static func usageFailure(_ failure: Failure, _ arguments: [String]) -> Int32 {
        let words = arguments.prefix { $0 != "--" }
        var options = Options()
        options.json = words.contains("--json")
        // The line could not be parsed, so the flag is looked for.
        if let flag = words.firstIndex(where: { $0.hasPrefix("--color") }) {
            let value = words[flag].split(separator: "=").dropFirst().first.map(String.init)
            options.color =
                Options.ColorChoice(rawValue: value ?? words[flag...].dropFirst().first ?? "") ?? .auto
        }
        report(failure, options)
        return failure.code.rawValue
    }

    private static func report(_ failure: Failure, _ options: Options) {
        let stderr = DescriptorSink(2)
        Console(stdout: stderr, stderr: stderr, options: options, variable: SystemFile.variable).failure(
            failure)
    }

    private static func perform(_ request: CommandLineRequest, _ runner: CommandRunner) -> Int32 {
        let stop = StopReason()
        var options = Options()
        if case .run(let invocation) = request { options = invocation.options }
        let reportOptions = options
        let work = Mutex<Task<Void, Never>?>(nil)
        let person = runner.environment.person
        let canceller = Canceller(
            stop: stop, report: { report($0, reportOptions) }, leaveTerminal: { person?.leave() },
            cancel: { work.withLock { $0 }?.cancel() })
        // Before the command starts anything: a signal must not end this process without its children. The
        // command ends when the terminal closes, unless it was started by nohup(1).
        let hangup = SignalWatch.hasDefaultAction(SIGHUP) ? [SIGHUP] : []
        // The runtime's own handler of SIGQUIT would leave the terminal as it is.
        let signals = canceller.watch([SIGINT, SIGTERM, SIGQUIT] + hangup)
        // Not in the thread that receives all signals: a terminal may take its time.
        let resumption = try? SignalWatch([SIGCONT]) { _ in
            TerminalMode.goOn()
            DispatchQueue.global().async { runner.resume() }
        }
        let done = DispatchSemaphore(value: 0)
        let code = Atomic<Int32>(0)
        let task = Task.detached {
            let result = await runner.run(request, stop: stop)
            code.store(result.rawValue, ordering: .releasing)
            done.signal()
        }
        work.withLock { $0 = task }
        // A signal that came earlier found nothing to cancel.
        if stop.failure != nil { task.cancel() }
        if let deadline = options.deadline { canceller.arm(deadline) }
        done.wait()
        person?.leave()
        withExtendedLifetime((signals, resumption)) {}
        return code.load(ordering: .acquiring)
    }
}
