import Dispatch
import MCPCore
import Synchronization

/// Reads the configuration again when its file or its prompts change, and on SIGHUP.
///
/// A new configuration is checked as a whole before any part of it is used. If it contains a mistake, the
/// running one stays in use, and the log reports what is wrong: a typo never takes the server down.
final class Reloader: Sendable {
    private struct State {
        var configuration: Configuration
        var files: FilesWatch?
        var prompts: DirectoryWatch?
    }

    private let file: String
    private let loader: ConfigurationLoader
    private let served: ServedServers
    private let log: Log
    private let supervisor: ProcessSupervisor?
    private let access: AccessControl?
    /// The configuration at the start; its values for the keys that are read only then are still in effect.
    private let started: Configuration
    private let state: Mutex<State>
    private let ownFile = Mutex<DirectoryWatch?>(nil)
    /// The reason for the requested reload that has not begun yet.
    private let requested = Mutex<String?>(nil)
    /// The queue that runs one reload at a time.
    private let queue = DispatchQueue(label: "mcp.reload")

    init(
        _ file: String, _ configuration: Configuration, loader: ConfigurationLoader,
        served: ServedServers, log: Log, supervisor: ProcessSupervisor?, access: AccessControl? = nil
    ) {
        self.access = access
        self.supervisor = supervisor
        started = configuration
        self.file = Paths.absolute(file, relativeTo: Paths.currentDirectory)
        self.loader = loader
        self.served = served
        self.log = log
        state = Mutex(State(configuration: configuration))
    }

    /// Starts watching.
    func start() {
        let configuration = state.withLock { $0.configuration }
        watch(configuration)
        let name = Paths.components(file).last ?? file
        // The directory is watched, because editors replace the old file with a new one. A file that was
        // refused because of its permissions is read again when they are corrected.
        let interest = DirectoryWatch.Interest(
            files: { $0 == name }, directories: { _ in false }, permissions: true)
        do throws(IOError) {
            let watch = try DirectoryWatch(Paths.parent(of: file), interest) { [weak self] changes in
                if !changes.written.isEmpty || changes.areLost { self?.reload("the file has changed") }
            }
            ownFile.withLock { $0 = watch }
        } catch {
            log.info("the configuration is not watched; SIGHUP reads it again", ["error": error])
        }
    }

    /// Schedules another reading of the configuration, soon.
    ///
    /// Requests that arrive before it begins are combined into one.
    func reload(_ reason: String) {
        let isFirst = requested.withLock { requested in
            defer { requested = requested ?? reason }
            return requested == nil
        }
        guard isFirst else { return }
        queue.async {
            if let reason = self.requested.withLock({ $0.take() }) { self.reloadNow(reason) }
        }
    }

    private func reloadNow(_ reason: String) {
        // A revoked token is refused, whatever else is wrong.
        access?.reloadTokens()
        let outcome = loader.load(file: file)
        for diagnostic in outcome.diagnostics.sorted {
            switch diagnostic.severity {
            case .error: log.error(diagnostic.rendered)
            case .warning: log.warning(diagnostic.rendered)
            }
        }
        guard !outcome.diagnostics.hasErrors else {
            return log.error("not reloaded: the running configuration stays", ["reason": reason])
        }
        let built: ServerBuilder.Built
        do throws(ServerBuilder.BuildError) {
            built = try ServerBuilder(
                configuration: outcome.configuration, log: log, supervisor: supervisor
            ).build()
        } catch {
            return log.error(
                "not reloaded: the running configuration stays", ["reason": reason, "error": error.text])
        }
        let old = state.withLock { state -> Configuration in
            defer { state.configuration = outcome.configuration }
            return state.configuration
        }
        served.adopt(built.server)
        // The directories differ, although the kind of entry is the same.
        if old.files != outcome.configuration.files {
            for server in served.all { server.notifyResourcesChanged() }
        }
        watch(outcome.configuration)
        let difference = ConfigurationDifference(old, outcome.configuration, started: started)
        log.info("reloaded", ["reason": reason, "changes": difference.text])
        if !difference.needingRestart.isEmpty {
            log.warning(
                "not in effect until a restart: these keys are read only at the start",
                ["keys": difference.needingRestart.joined(separator: " ")])
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
                        self?.log.warning("not every prompt can be watched", ["error": failure])
                    }
                    // A reload sets up the watch again: reacting to a mere failure would loop forever.
                    if changes.tellsOfFiles { self?.reload("the prompts have changed") }
                }
            } catch {
                log.warning("the prompts are not watched; SIGHUP reads them again", ["error": error])
                return nil
            }
        }
        let previous = state.withLock { state -> (FilesWatch?, DirectoryWatch?) in
            defer { (state.files, state.prompts) = (files, prompts) }
            return (state.files, state.prompts)
        }
        previous.0?.cancel()
        previous.1?.cancel()
    }
}
