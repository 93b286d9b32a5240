package import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A tool as it was defined when the user decided; if the tool changes, the user is asked again.
struct DecisionKey: Sendable, Hashable {
    let text: String

    init(source: String, tool: Tool) {
        var writer = JSONWriter()
        tool.write(to: &writer, for: .newest)
        let hash = Hex.encode(SHA256.hash(writer.finish()).bytes)
        text = "\(source)/\(tool.name) \(hash)"
    }
}

/// The user's decisions on tools: in memory for this run, or permanently in a file that only the user can
/// read.
public final class RememberedDecisions: Sendable {
    /// The maximum number of decisions that are kept: 10,000.
    private static let maxEntries = 10_000
    private static let maxBytes = 4 << 20

    private struct Decisions {
        var allowed: Set<String> = []
        var denied: Set<String> = []

        var count: Int { allowed.count + denied.count }

        mutating func set(_ key: String, allows: Bool) {
            if allows { allowed.insert(key) } else { denied.insert(key) }
            if allows { denied.remove(key) } else { allowed.remove(key) }
        }
    }

    private let path: String?
    private let clock: any TimeSource
    private let decisions: Mutex<Decisions>

    /// Creates a store that keeps decisions for this run only.
    public init() {
        path = nil
        clock = SystemClock()
        decisions = Mutex(Decisions())
    }

    /// Creates a store that keeps decisions in a file.
    ///
    /// The file is created with mode 0600 when there is something to store, and so is `PATH.lock` beside it,
    /// which a process locks while it changes the file: what several processes keep is all there. A file that
    /// cannot be read counts as empty: the user is asked again.
    public convenience init(file path: String) { self.init(file: path, at: SystemClock()) }

    /// - Parameter clock: the clock that measures the wait for another process.
    init(file path: String, at clock: any TimeSource) {
        self.path = path
        self.clock = clock
        decisions = Mutex(Self.read(path))
    }

    private static func read(_ path: String) -> Decisions {
        let text = (try? Files.read(path, maxBytes: maxBytes)).flatMap { try? JSONValue(parsing: $0) }
        func entries(_ name: String) -> Set<String> {
            Set((text?[name]?.arrayValue?.compactMap(\.stringValue) ?? []).prefix(maxEntries))
        }
        let denied = entries("denied")
        return Decisions(allowed: entries("allowed").subtracting(denied), denied: denied)
    }

    /// Returns whether the tool was allowed or denied; nil if there is no decision.
    func allows(_ key: DecisionKey) -> Bool? {
        decisions.withLock { decisions in
            if decisions.denied.contains(key.text) { return false }
            return decisions.allowed.contains(key.text) ? true : nil
        }
    }

    /// Returns whether the user allowed this tool of a source beforehand.
    package func allows(_ tool: Tool, of source: any ToolSource) -> Bool {
        allows(DecisionKey(source: source.identity, tool: tool)) == true
    }

    /// Why a decision is not in the file.
    enum Unkept: Error, Hashable, CustomStringConvertible {
        /// Another process holds the lock at the path.
        case isLocked(String)
        /// What stands at the path of the lock is none, as the rest of a sentence.
        case isNoLock(String, String)
        case isCancelled
        case failed(IOError)

        var description: String {
            switch self {
            case .isLocked(let lock):
                "another process holds the lock \(lock): wait for it, or end it, and decide again"
            case .isNoLock(let path, let what): "\(path) \(what): remove it"
            case .isCancelled: "cancelled while another process held the lock"
            case .failed(let error): "\(error)"
            }
        }
    }

    /// Remembers a decision, which applies from now on. One for always is written to the file, which may wait
    /// for other processes.
    ///
    /// - Throws: an error when the decision cannot be written to the file; it then applies to this run only.
    func keep(_ key: DecisionKey, allows: Bool, _ scope: RememberScope) async throws(Unkept) {
        guard scope != .once else { return }
        let isKept = decisions.withLock { decisions in
            guard decisions.count < Self.maxEntries else { return false }
            decisions.set(key.text, allows: allows)
            return true
        }
        guard isKept, scope == .always, let path else { return }
        let lock = try Self.openLock(of: path)
        let end = clock.now + Self.lockTimeout
        while try !Self.take(lock) {
            guard clock.now < end else { throw .isLocked(Self.lockPath(of: path)) }
            if Task.isCancelled { throw .isCancelled }
            // A call that waits would hold a thread of the tasks.
            await clock.wait(until: clock.now + Self.lockInterval)
        }
        let outcome = Result { () throws(Unkept) in try store(key, allows: allows, in: path) }
        // Closing the file releases its lock.
        _ = consume lock
        try outcome.get()
    }

    /// Writes a decision to the file, which is locked, unless it was taken back in the meantime.
    private func store(_ key: DecisionKey, allows: Bool, in path: String) throws(Unkept) {
        try decisions.withLock { decisions throws(Unkept) in
            guard (allows ? decisions.allowed : decisions.denied).contains(key.text) else { return }
            // Only what is kept permanently is in the file; another process may have added to it.
            var stored = Self.read(path)
            stored.set(key.text, allows: allows)
            try Self.write(stored, to: path)
        }
    }

    /// The longest time to wait for another process that changes the file.
    static let lockTimeout: Duration = .seconds(5)
    /// The time between two attempts to lock the file.
    private static let lockInterval: Duration = .milliseconds(10)

    /// Returns the path of the file that is locked while the file of decisions changes.
    static func lockPath(of path: String) -> String { path + ".lock" }

    /// Takes the lock; returns false if somebody else holds it.
    private static func take(_ lock: borrowing ProcessLock) throws(Unkept) -> Bool {
        do throws(IOError) { return try lock.take() } catch {
            // Not every file system has locks.
            if [ENOLCK, ENOSYS, EOPNOTSUPP].contains(error.errno) { return true }
            throw .failed(error)
        }
    }

    private static func openLock(of path: String) throws(Unkept) -> ProcessLock {
        let path = lockPath(of: path)
        do throws(ProcessLock.Failure) { return try ProcessLock(path) } catch {
            switch error {
            case .unusable(let what): throw .isNoLock(path, what)
            case .failed(let error): throw .failed(error)
            }
        }
    }

    private static func write(_ decisions: Decisions, to path: String) throws(Unkept) {
        func list(_ keys: Set<String>) -> JSONValue {
            .array(keys.sorted().prefix(maxEntries).map(JSONValue.string))
        }
        let json: JSONValue = [
            "version": 1, "allowed": list(decisions.allowed), "denied": list(decisions.denied),
        ]
        do throws(IOError) {
            try Files.replace(path, with: Array(json.serialized(pretty: true).utf8))
        } catch {
            throw .failed(error)
        }
    }

    /// Revokes all decisions.
    ///
    /// If another process holds the file, this waits for up to 5 s, on the thread of the caller. Without the
    /// file, what is revoked applies to this run.
    public func forgetAll() {
        decisions.withLock { $0 = Decisions() }
        guard let path, let lock = try? Self.openLock(of: path) else { return }
        let end = clock.now + Self.lockTimeout
        while let isTaken = try? Self.take(lock), !isTaken {
            guard clock.now < end else { return }
            usleep(10_000)
        }
        decisions.withLock { decisions in
            // What was decided in the meantime, and is in the file, goes with it.
            decisions = Decisions()
            try? Self.write(decisions, to: path)
        }
        _ = consume lock
    }
}
