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
        case .manual: Terminal.out([ServerManual.text])
        case .version: Terminal.out(["mcp-server \(DaemonVersion.current)"])
        case .schema: Terminal.out([ConfigurationSchema.text])
        case .check(let file, let overrides, let isOnline):
            let check = CheckCommand(file: file, overrides: overrides, environment: environment)
            return await check.run(isOnline: isOnline).rawValue
        case .token(let request, let file, let overrides):
            return TokenCommand(environment: environment).run(request, file: file, overrides: overrides)
                .rawValue
        case .explain(let request, let file, let overrides):
            return ToolCommand(file: file, overrides: overrides, environment: environment).explain(request)
                .rawValue
        case .call(let request, let file, let overrides):
            return await ToolCommand(file: file, overrides: overrides, environment: environment)
                .call(request, superviseCommand: Self.superviseCommand).rawValue
        case .control(let request, let file, let overrides, let address):
            let command = ControlCommand(
                file: file, overrides: overrides, environment: environment, address: address)
            return await command.run(request).rawValue
        case .verify(let files): return VerifyCommand(files: files).run().rawValue
        case .setup(let kind, let file, let overrides):
            let command = SetupCommand(file: file, overrides: overrides, environment: environment)
            return command.run(kind).rawValue
        case .run(let options): return await run(options).rawValue
        }
        return ExitCode.success.rawValue
    }

    private func run(_ options: RunOptions) async -> ExitCode {
        let isStdio = options.isStdio || (options.namesNothing && Terminal.inputIsPipe)
        if !options.leavesCores { ProcessPrivacy.begin() }
        guard let outcome = load(options, isStdio: isStdio) else { return .usage }
        let loaded = outcome.configuration
        var configuration = loaded
        let errors = configuration.admin.map { _ in ErrorRing() }
        let log: Log
        do throws(LogOpener.Failure) {
            log = try LogOpener(settings: configuration.observe.log, environment: environment).open(
                level: options.logLevel, errors)
        } catch {
            Terminal.error(["mcp-server: \(error.text)"])
            return .failure
        }
        outcome.diagnostics.report(to: log)
        if configuration.sandboxedCount > 0 {
            log.info(
                "sandboxes",
                ["system": SandboxSupport.current.description, "programs": configuration.sandboxedCount])
        }
        if !isStdio { warnOfRoot(configuration, log) }
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
        let plan: Plan
        do {
            plan = try makePlan(options, configuration, isStdio: isStdio, errors, log)
        } catch {
            Terminal.error(["mcp-server: \(error)"])
            return error is ListenError ? .cannotListen : .usage
        }
        let reloader = plan.file.map {
            Reloader(
                $0, loaded, outcome.stamp, loader: loader(options), served: plan.served, log: log,
                runtime: plan.runtime, access: plan.access, upstreams: plan.upstreams,
                observer: plan.seen.observer)
        }
        return await serve(plan, configuration, reloader, log)
    }

    // MARK: Preparing

    /// Warns if commands run as root, who may do everything.
    private func warnOfRoot(_ configuration: Configuration, _ log: Log) {
        let count = configuration.programs.count - configuration.sandboxedCount
        guard Accounts.ownUserID == 0, count > 0 else { return }
        let text =
            "\(Diagnostics.counted(count, "program")) of tools and servers run as root without a sandbox: "
            + "run the server as a user of its own (mcp-server init --systemd), or give them a sandbox"
        log.warning("server warning", ["text": text])
    }

    /// Builds everything that is to be served. Nothing is served yet.
    private func makePlan(
        _ options: RunOptions, _ configuration: Configuration, isStdio: Bool, _ errors: ErrorRing?,
        _ log: Log
    ) throws -> Plan {
        var passed = try PassedSockets(environment)
        let adminSocket = configuration.admin.flatMap { admin in
            admin.address(environment).flatMap { passed.take($0) } ?? passed.take(named: "admin")
        }
        // Not an address for clients as well, although it was passed.
        let providersSocket = configuration.clientTools
            .flatMap { ProvidersSocket.path($0, isStdio: isStdio, environment) }
            .flatMap { try? ConfiguredAddress(unixPath: $0) }.flatMap { passed.take($0) }
        // Besides standard input and output, only addresses that were explicitly requested are listened on.
        let addresses = isStdio ? options.listen : addresses(options, configuration, passed, log)
        let supervisor = ProcessSupervisor(
            program: SupervisorProgram.ownProgram, arguments: [Self.superviseCommand], ownsProcess: true,
            log: log)
        let runtime = CommandRuntime(supervisor: supervisor)
        let file =
            options.isDemo || options.exposed != nil ? nil : options.file ?? DefaultFile.find(environment)
        let seen = try Observation(configuration, errors: errors, environment: environment, log: log)
        let builder = ServerBuilder(
            configuration: configuration, log: log, runtime: runtime, isReloaded: file != nil,
            observer: seen.observer,
            store: try configuration.state?.openStore(name: configuration.server.name, log: log))
        let access = try makeAccess(configuration, addresses, log)
        let built = try options.isDemo ? builder.buildDemo() : builder.build()
        let clientTools = try configuration.clientTools.map {
            try ClientToolService(
                $0, built.server, builder, isStdio: isStdio, isListening: !addresses.isEmpty,
                isSocketPassed: providersSocket != nil, environment: environment, log)
        }
        let served = clientTools?.served ?? ServedServers(built.server)
        let upstreams = UpstreamService(log: log, supervisor: supervisor)
        upstreams.onChange { [weak served] event in served?.upstreamsChanged(event) }
        seen.observer?.secrets.hide(configuration.upstreams.flatMap(\.secrets))
        seen.observes(served)
        return Plan(
            server: built.server, served: served, contents: built.contents, clientTools: clientTools,
            isStdio: isStdio,
            addresses: addresses, supervisor: supervisor, runtime: runtime, access: access,
            policy: configuration.web.policy(with: configuration.auth?.host, at: addresses),
            proxies: configuration.web.proxies, upstreams: upstreams, seen: seen, store: builder.store,
            file: file,
            passed: passed, adminSocket: adminSocket, providersSocket: providersSocket)
    }

    private func check(
        _ addresses: [ConfiguredAddress], _ configuration: Configuration
    ) throws(CommandLineError) {
        for address in addresses {
            guard
                let problem = address.problem(with: configuration.auth)
                    ?? configuration.clientTools?.problem(at: address)
            else { continue }
            throw CommandLineError("--listen \(problem)", hint: "docs/authorization.md, \"The daemon\"")
        }
    }

    /// Returns the authorization of callers over HTTP; `nil` if none is configured.
    private func makeAccess(
        _ configuration: Configuration, _ addresses: [ConfiguredAddress], _ log: Log
    ) throws(AccessControl.Failure) -> AccessControl? {
        guard !addresses.isEmpty, let settings = configuration.auth else { return nil }
        let access = try AccessControl(
            settings, addresses: addresses, environment: environment,
            isAudited: configuration.observe.audit != nil, log: log)
        access.start()
        return access
    }

    private func loader(_ options: RunOptions) -> ConfigurationLoader {
        ConfigurationLoader(
            overrides: options.overrides, environment: environment,
            servedChannel: options.clientTools.channel)
    }

    /// Returns the configuration, or `nil` after printing its errors.
    private func load(_ options: RunOptions, isStdio: Bool) -> ConfigurationLoader.Outcome? {
        let loader = loader(options)
        let outcome: ConfigurationLoader.Outcome
        if let exposed = options.exposed {
            outcome = loader.load(exposed, environment)
        } else if options.isDemo {
            outcome = loader.loadDefaults(serverName: "demo")
        } else if let file = options.file ?? DefaultFile.find(environment) {
            outcome = loader.load(file: file)
        } else if isStdio {
            // A host that starts the program without a configuration still receives a server, even if an
            // empty one.
            outcome = loader.loadDefaults(serverName: ServerSettings().name)
            outcome.diagnostics.warning(
                "no configuration: nothing is offered; specify a file with -c or try --demo",
                at: SourcePosition(file: "(no file)"))
        } else {
            let places = DefaultFile.candidates(environment).joined(separator: " or ")
            Terminal.error(
                CommandLineError(
                    "no configuration file found in \(places)",
                    hint: "mcp-server -c FILE, or mcp-server --demo"
                ).lines)
            return nil
        }
        if outcome.diagnostics.hasErrors {
            Terminal.error(outcome.diagnostics.report)
            return nil
        }
        return outcome
    }

    private func addresses(
        _ options: RunOptions, _ configuration: Configuration, _ passed: PassedSockets, _ log: Log
    ) -> [ConfiguredAddress] {
        if let named = options.listen.isEmpty ? configuration.listen : options.listen {
            return named + passed.addresses(besides: named)
        }
        // Whoever passes sockets has decided where the server listens.
        if !passed.sockets.isEmpty { return passed.addresses(besides: []) }
        var addresses: [ConfiguredAddress] = []
        let directory = environment["XDG_RUNTIME_DIR"] ?? ""
        if directory.hasPrefix("/"), Paths.directoryProblem(directory) == nil,
            let address = try? ConfiguredAddress("unix://\(directory)/mcp.sock")
        {
            addresses.append(address)
        } else {
            let text = Paths.problem(ofVariable: "XDG_RUNTIME_DIR", environment)
            log.info("no socket", ["of": "clients", "text": text])
        }
        // Where the system does not tell the user of a connection, TCP would be open to all users.
        if !UserPolicy.isEnforceable, configuration.auth == nil, !addresses.isEmpty { return addresses }
        return addresses + [.tcp(host: "127.0.0.1", port: ConfiguredAddress.defaultPort)]
    }

    // MARK: Serving

    /// The contents to serve, and the places to serve them at.
    private struct Plan {
        /// The server with what is offered everywhere, of which `served` has copies where there are channels.
        let server: MCPServer
        let served: ServedServers
        let contents: ServedContents
        let clientTools: ClientToolService?
        let isStdio: Bool
        let addresses: [ConfiguredAddress]
        let supervisor: ProcessSupervisor
        let runtime: CommandRuntime
        let access: AccessControl?
        let policy: AccessPolicy?
        let proxies: ProxyPolicy
        let upstreams: UpstreamService
        let seen: Observation
        let store: RedisStore?
        let file: String?
        let passed: PassedSockets
        let adminSocket: ListenAddress?
        /// The socket of providers, if it was passed.
        let providersSocket: ListenAddress?

        /// Ends the connections of other programs: calls in flight have had time to drain.
        func stop() async {
            await served.stop()
            await upstreams.stop()
        }

        func transports(_ limits: LimitSettings) -> [ServerTransport] {
            var options = HTTPServerOptions()
            options.proxies = proxies
            // Without tokens, other users of this machine have no business here; see docs/daemon.md.
            options.users = UserPolicy.isEnforceable && access == nil ? .own : .any
            if let count = limits.connections { options.maxConnections = count }
            if let body = limits.body { options.limits.maxBodyBytes = body }
            if let drain = limits.drain { options.drainTimeout = drain }
            var passed = passed
            var all = addresses.map { passed.take($0) ?? $0.listenAddress }
            if let socket = clientTools?.access.socket {
                all.append(providersSocket ?? socket.listenAddress)
            }
            let http = ServerTransport.http(
                all, servers: clientTools?.endpoints,
                handler: clientTools?.endpoints,
                policy: policy, options: options, authorization: access?.authorization)
            return (isStdio ? [.stdio] : []) + (all.isEmpty ? [] : [http])
        }
    }

    /// Serves until standard input ends or a signal arrives, then drains.
    private func serve(
        _ plan: Plan, _ configuration: Configuration, _ reloader: Reloader?, _ log: Log
    ) async -> ExitCode {
        let stop = StopRequest()
        let isDaemon = !plan.isStdio
        do throws(IOError) {
            lifelong.keep(try watchSignals(plan, stop, reloader, log))
        } catch {
            Terminal.error(["mcp-server: not started: cannot receive signals: \(error)"])
            return .failure
        }
        watchForRequests(plan.seen, log)
        reloader?.onReload { [seen = plan.seen] in seen.reloads($0) }
        plan.upstreams.use(configuration.upstreams, through: plan.server)
        let running: RunningServer
        do {
            try plan.seen.start(
                configuration, file: plan.file, supervisor: plan.supervisor,
                upstreams: plan.upstreams, store: plan.store, access: plan.access, reloader: reloader,
                isStdio: plan.isStdio, environment: environment, passed: plan.adminSocket
            ) { [seen = plan.seen] in seen.drain(stop) }
            if let code = await connectRequired(plan.upstreams, stop) {
                reloader?.abandon()
                await end(plan)
                return code
            }
            // Before anything is served, so that a client is notified of changes from its subscription on.
            reloader?.start()
            running = try plan.served.main.start(plan.transports(configuration.limits))
        } catch {
            Terminal.error(["mcp-server: \(error)"])
            reloader?.abandon()
            // The address for operators may be served already.
            await end(plan)
            return error is ListenError ? .cannotListen : .failure
        }
        stop.attach(running)
        plan.seen.begins(running, plan.contents.description)
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
        if let parent { lifelong.keep(parent) }
        await running.waitUntilEnded()
        await end(plan)
        return .success
    }

    /// Waits for the servers behind this one that are required. Returns nil once all are connected; otherwise
    /// the exit code: one could not be connected, which is printed, or the server was told to stop.
    private func connectRequired(_ upstreams: UpstreamService, _ stop: StopRequest) async -> ExitCode? {
        let connecting = Task { try await upstreams.connectRequired() }
        let watch = Task {
            await stop.wait()
            connecting.cancel()
        }
        defer { watch.cancel() }
        do {
            try await connecting.value
            return nil
        } catch {
            if stop.isRequested { return .success }
            Terminal.error(["mcp-server: not started: \((error as? MCPError)?.message ?? "\(error)")"])
            return .failure
        }
    }

    /// Ends everything after the last request.
    private func end(_ plan: Plan) async {
        await plan.stop()
        // The commands of cancelled calls have received SIGTERM, and have the usual time to obey it.
        await plan.supervisor.waitUntilIdle(timeout: CommandTool.grace)
        plan.supervisor.endNow()
        await plan.seen.ends()
        // The drain was waiting for the commands, which a second signal may have ended.
        let number = lifelong.cutShort.load(ordering: .acquiring)
        if number != 0 { _exit(128 + number) }
    }

    /// Watches signals before anything is started, so that one during the start is not lost.
    private func watchSignals(
        _ plan: Plan, _ stop: StopRequest, _ reloader: Reloader?, _ log: Log
    ) throws(IOError) -> SignalWatch {
        let isDaemon = !plan.isStdio
        // Under nohup(1), the end of the terminal must not end the program.
        let readsAgain = isDaemon && reloader != nil
        let hangup = readsAgain || SignalWatch.hasDefaultAction(SIGHUP) ? [SIGHUP] : []
        return try SignalWatch([SIGTERM, SIGINT] + hangup) { [lifelong] number in
            // The end of the terminal ends a program on a pipe; a daemon reads its configuration again.
            if number == SIGHUP, isDaemon, let reloader {
                plan.seen.reopenFiles()
                return reloader.reload("SIGHUP")
            }
            let isFirst = stop.request {
                plan.seen.drains()
                log.info("stopping", ["reason": SignalName.name(number)])
            }
            if isFirst { return }
            lifelong.cutShort.store(number, ordering: .releasing)
            plan.supervisor.endNow()
            // Exit handlers are skipped: another thread may hold their locks.
            _exit(128 + number)
        }
    }

    /// Writes what the recorder keeps on SIGUSR1 and, in debug builds, logs the live objects, to help find
    /// what is never released.
    private func watchForRequests(_ seen: Observation, _ log: Log) {
        let recorder = seen.observer?.recorder
        #if !DEBUG
        if recorder == nil { return }
        #endif
        // Without descriptors, there is neither.
        let watch = try? SignalWatch([SIGUSR1]) { _ in
            recorder?.dump("SIGUSR1")
            #if DEBUG
            log.info("census", ["living": Census.text(Census.counts)])
            #endif
        }
        if let watch { lifelong.keep(watch) }
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
