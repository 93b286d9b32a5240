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

/// The program, from its arguments to its exit code.
struct Daemon {
    let environment: [String: String]
    let started: ContinuousClock.Instant
    private let lifelong = Lifelong()

    /// The command that runs the program as the helper that ends commands; not for people.
    static let superviseCommand = "supervise"

    init(environment: [String: String], started: ContinuousClock.Instant) {
        self.environment = environment
        self.started = started
    }

    func run(_ arguments: [String]) async -> Int32 {
        let command: Command
        do throws(CommandLineError) {
            command = try CommandLineParser.parse(arguments)
        } catch {
            Terminal.error(error.lines)
            return ExitCode.usage.rawValue
        }
        switch command {
        case .help: Terminal.out([HelpText.text])
        case .version: Terminal.out(["mcp-server \(DaemonVersion.current)"])
        case .schema: Terminal.out([ConfigurationSchema.text])
        case .check(let file, let overrides, let isOnline):
            let check = CheckCommand(file: file, overrides: overrides, environment: environment)
            return await check.run(isOnline: isOnline).rawValue
        case .token(let request, let file, let overrides):
            return TokenCommand(environment: environment).run(request, file: file, overrides: overrides)
                .rawValue
        case .run(let options): return await run(options).rawValue
        }
        return ExitCode.success.rawValue
    }

    private func run(_ options: RunOptions) async -> ExitCode {
        let isStdio = options.isStdio || (options.namesNothing && Terminal.inputIsPipe)
        if !options.leavesCores { ProcessPrivacy.begin() }
        guard let log = makeLog(options.logLevel ?? .info) else {
            Terminal.error(["mcp-server: cannot write to standard error"])
            return .failure
        }
        guard let loaded = load(options, isStdio: isStdio, log) else { return .usage }
        var configuration = loaded
        do throws(CommandLineError) {
            configuration.clientTools = try options.clientTools.applied(
                to: configuration.clientTools, isStdio: isStdio)
            // The agent uses the pipe: any other address is for programs that provide tools.
            if options.isStdio, !options.listen.isEmpty, configuration.clientTools == nil {
                throw CommandLineError(
                    "--stdio and --listen cannot be combined without --client-tools",
                    hint: "give one of them")
            }
            try check(options.listen, configuration)
        } catch {
            Terminal.error(error.lines)
            return .usage
        }
        // Besides standard input and output, only addresses that were explicitly requested are listened on.
        let addresses = isStdio ? options.listen : addresses(options, configuration, log)
        let supervisor = ProcessSupervisor(
            program: SupervisorProgram.ownProgram, arguments: [Self.superviseCommand], log: log)
        let file = options.isDemo ? nil : options.file ?? DefaultFile.find(environment)
        let built: ServerBuilder.Built
        let clientTools: ClientToolService?
        let access: AccessControl?
        do {
            let builder = ServerBuilder(
                configuration: configuration, log: log, supervisor: supervisor, isReloaded: file != nil)
            access = try makeAccess(configuration, addresses, log)
            built = try options.isDemo ? builder.buildDemo() : builder.build()
            clientTools = try configuration.clientTools.map {
                try ClientToolService(
                    $0, built.server, builder, isStdio: isStdio, isListening: !addresses.isEmpty,
                    environment: environment, log)
            }
        } catch {
            Terminal.error(["mcp-server: \(error)"])
            return .usage
        }
        let served = clientTools?.served ?? ServedServers(built.server)
        let reloader = file.map {
            Reloader(
                $0, loaded, loader: loader(options), served: served, log: log, supervisor: supervisor,
                access: access)
        }
        let plan = Plan(
            served: served, contents: built.contents, clientTools: clientTools, isStdio: isStdio,
            addresses: addresses, supervisor: supervisor, access: access)
        return await serve(plan, configuration, reloader, log)
    }

    // MARK: Preparing

    private func check(
        _ addresses: [ConfiguredAddress], _ configuration: Configuration
    ) throws(CommandLineError) {
        for address in addresses {
            guard let problem = address.problem(with: configuration.auth) else { continue }
            throw CommandLineError("--listen \(problem)", hint: "docs/authorization.md, \"The daemon\"")
        }
    }

    /// Returns the authorization of callers over HTTP; `nil` if none is configured.
    private func makeAccess(
        _ configuration: Configuration, _ addresses: [ConfiguredAddress], _ log: Log
    ) throws(AccessControl.Failure) -> AccessControl? {
        guard !addresses.isEmpty, let settings = configuration.auth else { return nil }
        let access = try AccessControl(settings, addresses: addresses, environment: environment, log: log)
        access.start()
        return access
    }

    /// Makes the log: with journal prefixes under systemd, as text for a person, as JSON for everything else.
    private func makeLog(_ level: LogLevel) -> Log? {
        let format: LogFormat =
            environment["JOURNAL_STREAM"] != nil ? .journal : Terminal.errorIsTerminal ? .text : .json
        // On `nil`, the caller ends with a message.
        return (try? LogSink(format: format)).map { Log(level: level, sink: $0) }
    }

    private func loader(_ options: RunOptions) -> ConfigurationLoader {
        ConfigurationLoader(
            overrides: options.overrides, environment: environment,
            servedChannel: options.clientTools.channel)
    }

    /// Returns the configuration, or `nil` after printing its errors.
    private func load(_ options: RunOptions, isStdio: Bool, _ log: Log) -> Configuration? {
        let loader = loader(options)
        let outcome: ConfigurationLoader.Outcome
        if options.isDemo {
            outcome = loader.loadDefaults(serverName: "demo")
        } else if let file = options.file ?? DefaultFile.find(environment) {
            outcome = loader.load(file: file)
        } else if isStdio {
            // A host that starts the program without a configuration still receives a server, even if an
            // empty one.
            log.warning("no configuration: nothing is offered; specify a file with -c or try --demo")
            outcome = loader.loadDefaults(serverName: ServerSettings().name)
        } else {
            let places = DefaultFile.candidates(environment).joined(separator: " or ")
            Terminal.error(
                CommandLineError(
                    "there is no configuration in \(places)", hint: "mcp-server -c FILE, or mcp-server --demo"
                ).lines)
            return nil
        }
        if outcome.diagnostics.hasErrors {
            Terminal.error(outcome.diagnostics.report)
            return nil
        }
        Terminal.error(outcome.diagnostics.sorted.map(\.rendered))
        return outcome.configuration
    }

    private func addresses(
        _ options: RunOptions, _ configuration: Configuration, _ log: Log
    ) -> [ConfiguredAddress] {
        if !options.listen.isEmpty { return options.listen }
        if let addresses = configuration.listen { return addresses }
        var addresses: [ConfiguredAddress] = []
        let directory = environment["XDG_RUNTIME_DIR"] ?? ""
        if directory.hasPrefix("/"), Paths.directoryProblem(directory) == nil,
            let address = try? ConfiguredAddress("unix://\(directory)/mcp.sock")
        {
            addresses.append(address)
        } else {
            log.info("no unix socket: XDG_RUNTIME_DIR is not a directory")
        }
        return addresses + [.tcp(host: "127.0.0.1", port: ConfiguredAddress.defaultPort)]
    }

    // MARK: Serving

    /// The contents to serve, and the places to serve them at.
    private struct Plan {
        let served: ServedServers
        let contents: ServedContents
        let clientTools: ClientToolService?
        let isStdio: Bool
        let addresses: [ConfiguredAddress]
        let supervisor: ProcessSupervisor
        let access: AccessControl?

        func transports(_ limits: LimitSettings) -> [ServerTransport] {
            var options = HTTPServerOptions()
            if let count = limits.connections { options.maxConnections = count }
            if let body = limits.body { options.limits.maxBodyBytes = body }
            if let drain = limits.drain { options.drainTimeout = drain }
            let all = addresses + [clientTools?.access.socket].compactMap { $0 }
            let http = ServerTransport.http(
                all.map(\.listenAddress), servers: clientTools?.endpoints, handler: clientTools?.endpoints,
                policy: access?.policy, options: options, authorization: access?.authorization)
            return (isStdio ? [.stdio] : []) + (all.isEmpty ? [] : [http])
        }
    }

    /// Serves until standard input ends or a signal arrives, then drains.
    private func serve(
        _ plan: Plan, _ configuration: Configuration, _ reloader: Reloader?, _ log: Log
    ) async -> ExitCode {
        let stop = StopRequest()
        let isDaemon = !plan.isStdio
        // Signals are watched before anything is served, so that one during the start is not lost.
        let signals: SignalWatch
        do throws(IOError) {
            // Under nohup(1), the end of the terminal must not end the program.
            let readsAgain = isDaemon && reloader != nil
            let hangup = readsAgain || SignalWatch.hasDefaultAction(SIGHUP) ? [SIGHUP] : []
            signals = try SignalWatch([SIGTERM, SIGINT] + hangup) { [lifelong] number in
                // The end of the terminal ends a program on a pipe; a daemon reads its configuration again.
                if number == SIGHUP, isDaemon, let reloader { return reloader.reload("SIGHUP") }
                if stop.request() { return log.info("stopping", ["signal": number]) }
                lifelong.cutShort.store(number, ordering: .releasing)
                plan.supervisor.endNow()
                // Exit handlers are skipped: another thread may hold their locks.
                _exit(128 + number)
            }
        } catch {
            Terminal.error(["mcp-server: not started: cannot receive signals: \(error)"])
            return .failure
        }
        watchForCensus(log)
        // Before anything is served, so that a client is notified of changes from its subscription on.
        reloader?.start()
        let running: RunningServer
        do {
            running = try plan.served.main.start(plan.transports(configuration.limits))
        } catch let error as ListenError {
            Terminal.error(["mcp-server: \(error)"])
            return .cannotListen
        } catch {
            Terminal.error(["mcp-server: \(error)"])
            return .failure
        }
        stop.attach(running)
        // A bridge that outlives its host would be an orphan that no one finds.
        let parent = isDaemon ? nil : ParentWatch { running.requestStop() }
        Terminal.error(
            Banner(
                server: configuration.server, contents: plan.contents, isStdio: plan.isStdio,
                addresses: zip(plan.addresses, running.addresses).map { $0.resolved($1) },
                startup: started.duration(to: ContinuousClock().now)
            ).lines + (plan.clientTools?.access.lines ?? []))
        if isDaemon { StartupPages.release() }
        if let reloader { lifelong.keep(reloader) }
        lifelong.keep(signals)
        if let parent { lifelong.keep(parent) }
        await running.waitUntilEnded()
        // Calls that were in flight have had time to drain.
        await plan.served.stop()
        // The commands of cancelled calls have received SIGTERM, and have the usual time to obey it.
        await plan.supervisor.waitUntilIdle(timeout: CommandTool.grace)
        plan.supervisor.endNow()
        // The drain was waiting for the commands, which a second signal may have ended.
        let number = lifelong.cutShort.load(ordering: .acquiring)
        if number != 0 { _exit(128 + number) }
        return .success
    }

    /// Logs the live objects on SIGUSR1, in debug builds, to help find what is never released.
    private func watchForCensus(_ log: Log) {
        #if DEBUG
        // Without descriptors, there is no census.
        let watch = try? SignalWatch([SIGUSR1]) { _ in
            log.info("census", ["living": Census.text(Census.counts)])
        }
        if let watch { lifelong.keep(watch) }
        #endif
    }
}

/// The objects that live as long as the process: removing the watches would only delay its end.
private final class Lifelong: Sendable {
    private let kept = Mutex<[any Sendable]>([])
    /// The signal that ended the drain; 0 while there has been none.
    let cutShort = Atomic<Int32>(0)

    func keep(_ thing: any Sendable) { kept.withLock { $0.append(thing) } }
}

extension RunOptions {
    /// Whether neither a file nor an address is named; the kind of standard input then decides.
    fileprivate var namesNothing: Bool { file == nil && listen.isEmpty }
}
