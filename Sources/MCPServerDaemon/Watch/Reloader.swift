import Dispatch
import MCPCore
import Synchronization

/// Reads the configuration again when its files or its prompts change, and on SIGHUP.
///
/// A new configuration is checked as a whole before any part of it is used. If it contains a mistake, the
/// running one stays in use, and the log reports what is wrong: a typo never takes the server down.
final class Reloader: Sendable {
    enum Event: Sendable {
        case began
        case ended(ReloadReport)
    }

    private struct State {
        var configuration: Configuration
        var files: FilesWatch?
        var prompts: DirectoryWatch?
        var includes: [DirectoryWatch] = []

        func cancel() {
            files?.cancel()
            prompts?.cancel()
            for watch in includes { watch.cancel() }
        }
    }

    /// The absolute path of the file, which is watched.
    private let file: String
    /// The path as it was given, which messages name.
    private let shownFile: String
    private let loader: ConfigurationLoader
    private let served: ServedServers
    private let log: Log
    private let runtime: CommandRuntime
    private let access: AccessControl?
    private let upstreams: UpstreamService
    private let observer: Observer?
    private struct Beginning {
        var isDone: Bool?
        var waiting: [@Sendable (Bool) -> Void] = []
    }

    /// What is told about reloads; set before `start`.
    private let listener = Callback<@Sendable (Event) -> Void>()
    /// The configuration at the start; its values for the keys that are read only then are still in effect.
    private let started: Configuration
    private let state: Mutex<State>
    private let ownFile = Mutex<DirectoryWatch?>(nil)
    /// The file as it was when it was last read.
    private let lastRead: Mutex<FileStamp>
    /// What a refused reload means, for its line of the log.
    private static let consequence = "the running configuration stays"
    /// The reason for the requested reload that has not begun yet, and whether any may begin.
    private let requested = Mutex<(reason: String?, mayBegin: Bool)>((nil, false))
    /// Whether the server has started, nil until that is known, and those whose reloads wait for it.
    private let beginning = Mutex(Beginning())
    /// How often the file could not be read in a row, and the pauses before it is read again.
    private let attempts = Mutex(0)
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(15)]
    /// The reason for such a reading.
    private static let retry = "the file could not be read"
    /// The queue that runs one reload at a time.
    private let queue = DispatchQueue(label: "mcp.reload")

    /// - Parameter stamp: the file as it was when `configuration` was read.
    init(
        _ file: String, _ configuration: Configuration, _ stamp: FileStamp, loader: ConfigurationLoader,
        served: ServedServers, log: Log, runtime: CommandRuntime, access: AccessControl? = nil,
        upstreams: UpstreamService, observer: Observer? = nil
    ) {
        self.upstreams = upstreams
        self.observer = observer
        self.access = access
        self.runtime = runtime
        started = configuration
        lastRead = Mutex(stamp)
        shownFile = file
        self.file = Paths.absolute(file, relativeTo: Paths.currentDirectory)
        self.loader = loader
        self.served = served
        self.log = log
        state = Mutex(State(configuration: configuration))
    }

    /// Calls `body` when a reload begins and when it has ended.
    func onReload(_ body: @escaping @Sendable (Event) -> Void) { listener.set(body) }

    /// Starts watching. A reload that was requested before begins now.
    func start() {
        let early = requested.withLock { requested -> String? in
            requested.mayBegin = true
            return requested.reason.take()
        }
        if let early { reload(early) }
        decide(true)
        let configuration = state.withLock { $0.configuration }
        watch(configuration)
        let name = Paths.components(file).last ?? file
        // The directory is watched, because editors replace the old file with a new one. A file that was
        // refused because of its permissions is read again when they are corrected.
        let interest = DirectoryWatch.Interest(
            files: { $0 == name }, directories: { _ in false }, permissions: true)
        do throws(IOError) {
            let watch = try DirectoryWatch(Paths.parent(of: file), interest) { [weak self] changes in
                if !changes.written.isEmpty || changes.areLost { self?.reloadIfChanged() }
            }
            ownFile.withLock { $0 = watch }
            // A change since it was read at the start.
            reloadIfChanged()
        } catch {
            log.warning(
                "not watched", ["of": "configuration", "error": error, "text": "SIGHUP reads it again"])
        }
    }

    /// Schedules another reading of the configuration, soon.
    ///
    /// Requests that arrive before it begins are combined into one. None begins before `start`.
    func reload(_ reason: String) {
        let isFirst = requested.withLock { requested in
            defer { requested.reason = requested.reason ?? reason }
            return requested.reason == nil && requested.mayBegin
        }
        guard isFirst else { return }
        queue.async {
            if let reason = self.requested.withLock({ $0.reason.take() }) { _ = self.reloadNow(reason) }
        }
    }

    /// Schedules another reading, unless what the file system reports has been read: SIGHUP may be faster.
    private func reloadIfChanged() {
        // After a reading that is in progress.
        queue.async { [self] in
            if lastRead.withLock({ $0 }) != FileStamp(file) { reload("the file has changed") }
        }
    }

    /// Gives up: the server has not started. Reloads that wait for that have an answer then.
    func abandon() { decide(false) }

    private func decide(_ isDone: Bool) {
        let waiting = beginning.withLock { start in
            defer { start = Beginning(isDone: isDone) }
            return start.waiting
        }
        for body in waiting { body(isDone) }
    }

    /// Reads the configuration again, not before `start`, and returns what came of it.
    func reloadAndWait(_ reason: String) async -> ReloadReport {
        await withCheckedContinuation { (continuation: CheckedContinuation<ReloadReport, Never>) in
            let body: @Sendable (Bool) -> Void = { [self] hasStarted in
                if hasStarted {
                    return queue.async { continuation.resume(returning: self.reloadNow(reason)) }
                }
                var report = ReloadReport(reason: reason, time: .now, isDone: false)
                report.findings = ["the server has not started"]
                continuation.resume(returning: report)
            }
            let hasStarted = beginning.withLock { start in
                if start.isDone == nil { start.waiting.append(body) }
                return start.isDone
            }
            if let hasStarted { body(hasStarted) }
        }
    }

    private func reloadNow(_ reason: String) -> ReloadReport {
        let listener = listener.current
        listener?(.began)
        let report = read(reason)
        listener?(.ended(report))
        return report
    }

    private func read(_ reason: String) -> ReloadReport {
        var report = ReloadReport(reason: reason, time: .now, isDone: false)
        // A revoked token is refused, whatever else is wrong.
        access?.reloadTokens()
        let outcome = loader.load(file: shownFile)
        lastRead.withLock { $0 = outcome.stamp }
        outcome.diagnostics.report(to: log)
        report.findings = outcome.diagnostics.shownLines
        guard !outcome.diagnostics.hasErrors else {
            log.error("not reloaded", ["reason": reason, "text": Self.consequence])
            if outcome.isUnreadable { tryAgain() }
            return report
        }
        attempts.withLock { $0 = 0 }
        if reason == Self.retry { report.reason = "the file can be read again" }
        let built: ServerBuilder.Built
        do throws(ServerBuilder.BuildError) {
            built = try ServerBuilder(
                configuration: outcome.configuration, log: log, runtime: runtime, observer: observer
            ).build()
        } catch {
            log.error(
                "not reloaded", ["reason": reason, "error": error.text, "text": Self.consequence])
            report.findings.append(error.text)
            return report
        }
        let old = state.withLock { state -> Configuration in
            defer { state.configuration = outcome.configuration }
            return state.configuration
        }
        observer?.secrets.hide(outcome.configuration.upstreams.flatMap(\.secrets))
        // Before anybody hears of what is new: a change that follows at once is noticed.
        watch(outcome.configuration)
        upstreams.use(outcome.configuration.upstreams, through: built.server)
        served.adopt(built.server)
        // The directories differ, although the kind of entry is the same.
        if old.files != outcome.configuration.files {
            for server in served.all { server.notifyResourcesChanged() }
        }
        let difference = ConfigurationDifference(old, outcome.configuration, started: started)
        log.info("reloaded", ["reason": report.reason, "changes": difference.text])
        if !difference.needingRestart.isEmpty {
            let keys = difference.needingRestart.joined(separator: " ")
            log.warning("restart needed", ["keys": keys, "text": "they are read only at the start"])
        }
        report.isDone = true
        report.changes = difference.text
        report.needingRestart = difference.needingRestart
        return report
    }

    /// Reads a file that cannot be read again, a few times: nothing else may happen to it.
    private func tryAgain() {
        let attempt = attempts.withLock { attempts in
            defer { attempts += 1 }
            return attempts
        }
        guard attempt < Self.pauses.count else { return attempts.withLock { $0 = 0 } }
        queue.asyncAfter(deadline: .now() + Self.pauses[attempt].dispatchInterval) { [weak self] in
            self?.reload(Self.retry)
        }
    }

    /// Watches what the configuration in use names, and stops watching everything else.
    private func watch(_ configuration: Configuration) {
        let files = FilesWatch(configuration.files, of: served, log: log)
        let prompts = configuration.watchedPrompts.flatMap { directory -> DirectoryWatch? in
            let interest = DirectoryWatch.Interest(
                files: { PromptReader.isPrompt($0) }, directories: { _ in false })
            do throws(IOError) {
                return try DirectoryWatch(directory, interest) { [weak self] changes in
                    if let failure = changes.failure {
                        self?.log.warning("not watched", ["of": "prompts", "error": failure])
                    }
                    // A reload sets up the watch again: reacting to a mere failure would loop forever.
                    if changes.tellsOfFiles { self?.reload("the prompts have changed") }
                }
            } catch {
                log.warning(
                    "not watched",
                    ["of": "prompts", "error": error, "text": "SIGHUP reads them again"])
                return nil
            }
        }
        let includes = watches(of: configuration.includes)
        let previous = state.withLock { state -> State in
            defer { (state.files, state.prompts, state.includes) = (files, prompts, includes) }
            return state
        }
        previous.cancel()
    }

    /// Returns watches of the directories of included files, one for each directory.
    private func watches(of patterns: [String]) -> [DirectoryWatch] {
        Dictionary(grouping: patterns) { Paths.parent(of: $0) }.compactMap { directory, patterns in
            let names = patterns.compactMap { Paths.components($0).last.map { Glob($0) } }
            let interest = DirectoryWatch.Interest(
                files: { name in !name.hasPrefix(".") && names.contains { $0.matches(name) } },
                directories: { _ in false }, permissions: true)
            do throws(IOError) {
                return try DirectoryWatch(directory, interest) { [weak self] changes in
                    if changes.tellsOfFiles { self?.reload("an included file has changed") }
                }
            } catch {
                log.warning(
                    "not watched",
                    [
                        "of": "included files", "directory": directory, "error": error,
                        "text": "SIGHUP reads them again",
                    ])
                return nil
            }
        }
    }
}
