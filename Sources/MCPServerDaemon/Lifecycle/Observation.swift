import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What sees a running server, and what tells others about it: the observer, the address for operators, the
/// service manager.
final class Observation: Sendable {
    let state = ServerState()
    let observer: Observer?
    let manager: ServiceManager?
    private let settings: AdminSettings?
    private let log: Log
    private let admin = Mutex<HTTPServer?>(nil)

    /// The reason why something that the configuration asks for cannot be written.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// - Parameters:
    ///   - errors: the ring that the log fills, too.
    init(
        _ configuration: Configuration, errors: ErrorRing?, environment: [String: String], log: Log
    ) throws(Failure) {
        self.log = log
        // A limit on the size of files is an error like a full disk, and not the end of the server.
        signal(SIGXFSZ, SIG_IGN)
        manager = ServiceManager(environment)
        settings = configuration.admin
        let settings = configuration.observe
        let secrets = HiddenSecrets()
        var audit: (AuditLog, Redactor)?
        if let wanted = settings.audit {
            do throws(IOError) {
                let opened = try AuditLog(wanted, log: log)
                try opened.claim()
                audit = (opened, Redactor(wanted.redaction, hiding: secrets))
            } catch  where error.errno == EWOULDBLOCK {
                throw Failure(
                    description:
                        "another server writes \(wanted.file), and a chain has one writer: give each "
                        + "server an observe.audit.file of its own, such as audit-${env:INSTANCE}.jsonl")
            } catch {
                throw Failure(description: "observe.audit.file cannot be opened: \(error)")
            }
        }
        let isSeen =
            audit != nil || configuration.admin != nil || settings.recorder != nil
            || settings.log.calls != .none
        let names = ToolNames()
        observer =
            !isSeen
            ? nil
            : Observer(
                metrics: configuration.admin.map { _ in CallMetrics { names.contains($0) } }, audit: audit,
                recorder: settings.recorder.map { FlightRecorder($0, hiding: secrets, log: log) },
                errors: errors, calls: settings.log.calls, hiding: secrets, log: log)
        self.names = names
    }

    private let names: ToolNames

    /// Uses the tools of these servers as labels of metrics from now on.
    func observes(_ served: ServedServers) { names.set { name in served.main.hasTool(named: name) } }

    // MARK: The address for operators

    /// Begins to serve the address for operators, before the server itself.
    func start(
        _ configuration: Configuration, file: String?, supervisor: ProcessSupervisor,
        upstreams: UpstreamService, store: RedisStore?, access: AccessControl?, reloader: Reloader?,
        isStdio: Bool,
        environment: [String: String],
        passed: ListenAddress?,
        drain: @escaping @Sendable () -> Bool
    ) throws(ListenError) {
        guard let settings, let observer else { return }
        // Several servers on pipes may run at once: only an address that was named is theirs.
        if isStdio, settings.listen == nil, passed == nil { return }
        guard let address = passed ?? settings.address(environment)?.listenAddress else {
            let text = "\(AdminSettings.problem(environment)); set admin.listen"
            return log.warning("no socket", ["of": "operators", "text": text])
        }
        var reload: (@Sendable () async -> ReloadReport)?
        if let reloader {
            reload = { [weak self] in
                self?.reopenFiles()
                return await reloader.reloadAndWait("mcp-server reload")
            }
        }
        let subject = AdminService.Subject(
            server: (configuration.server.name, configuration.server.version), configuration: file,
            state: state, observer: observer, supervisor: supervisor,
            upstreams: { [weak upstreams] in upstreams?.statuses ?? [] }, store: store,
            tokens: { [weak access] in access?.tokenStatus }, log: log, reload: reload, drain: drain)
        var options = HTTPServerOptions()
        options.maxConnections = 64
        options.limits.maxBodyBytes = 1 << 10
        options.drainTimeout = .seconds(1)
        options.loops = 1
        let server = try HTTPServer(on: [address], options: options)
        let isUnix = server.addresses.first?.port == nil
        try server.start(AdminService(subject: subject, mayControl: isUnix))
        admin.withLock { $0 = server }
        log.info("operators", ["address": server.addresses.first?.description ?? ""])
    }

    // MARK: The life of the server

    func begins(_ running: RunningServer, _ status: String) {
        state.begins(running)
        manager?.ready(status)
        manager?.startWatchdog { [weak running] answer in running?.whenResponsive(answer) }
    }

    /// Stops the server for an operator. Returns false if it is already stopping.
    func drain(_ stop: StopRequest) -> Bool {
        stop.request {
            drains()
            log.info("stopping", ["reason": "mcp-server drain"])
        }
    }

    func drains() {
        state.drains()
        manager?.stopping()
    }

    func reloads(_ event: Reloader.Event) {
        switch event {
        case .began:
            state.beginsReload()
            manager?.reloading()
        case .ended(let report):
            state.reloaded(report)
            manager?.ready(
                report.isDone
                    ? "running" : "running; not reloaded: \(report.findings.first ?? report.reason)")
        }
    }

    /// Opens the log and the audit log again, after a rotation.
    func reopenFiles() {
        log.reopen()
        observer?.audit?.reopen()
    }

    func ends() async {
        let server = admin.withLock { $0.take() }
        await server?.stop()
        observer?.audit?.finish()
        observer?.recorder?.finish()
    }
}

/// Tells whether a tool exists, once there is a server.
private final class ToolNames: Sendable {
    private let test = Callback<@Sendable (String) -> Bool>()

    func set(_ test: @escaping @Sendable (String) -> Bool) { self.test.set(test) }

    func contains(_ name: String) -> Bool { test.current?(name) ?? false }
}
