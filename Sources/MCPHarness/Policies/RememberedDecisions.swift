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
    private let decisions: Mutex<Decisions>

    /// Creates a store that keeps decisions for this run only.
    public init() {
        path = nil
        decisions = Mutex(Decisions())
    }

    /// Creates a store that keeps decisions in a file.
    ///
    /// The file is created with mode 0600 when there is something to store, and so is `PATH.lock` beside it,
    /// which a process locks while it changes the file: what several processes keep is all there. A file that
    /// cannot be read counts as empty: the user is asked again.
    public init(file path: String) {
        self.path = path
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

    /// - Throws: an error when the decision cannot be written to the file; it then applies to this run only.
    func keep(_ key: DecisionKey, allows: Bool, _ scope: RememberScope) throws(IOError) {
        guard scope != .once else { return }
        // The file is changed under the lock too, so that a decision revoked in the meantime stays revoked.
        try decisions.withLock { decisions throws(IOError) in
            guard decisions.count < Self.maxEntries else { return }
            decisions.set(key.text, allows: allows)
            guard scope == .always, let path else { return }
            try Self.locked(path) { () throws(IOError) in
                // Only what is kept permanently is in the file; another process may have added to it.
                var stored = Self.read(path)
                stored.set(key.text, allows: allows)
                try Self.write(stored, to: path)
            }
        }
    }

    /// The longest time to wait for another process that changes the file.
    static let lockTimeout: Duration = .seconds(5)

    /// Returns the path of the file that is locked while the file of decisions changes.
    static func lockPath(of path: String) -> String { path + ".lock" }

    /// Runs `body` while no other process changes the file: what it keeps would be lost.
    private static func locked(_ path: String, _ body: () throws(IOError) -> Void) throws(IOError) {
        let lock = try openLock(of: path)
        do throws(IOError) {
            guard try lock.take(within: lockTimeout) else {
                throw IOError(errno: EAGAIN, function: "lock \(path)")
            }
        } catch {
            // Not every file system has locks.
            guard [ENOLCK, ENOSYS, EOPNOTSUPP].contains(error.errno) else { throw error }
        }
        let outcome = Result { () throws(IOError) in try body() }
        // Closing the file releases its lock.
        _ = consume lock
        try outcome.get()
    }

    private static func openLock(of path: String) throws(IOError) -> ProcessLock {
        let path = lockPath(of: path)
        do throws(ProcessLock.Failure) { return try ProcessLock(path) } catch {
            switch error {
            case .unusable(let what): throw IOError(errno: EPERM, function: "\(path) \(what)")
            case .failed(let error): throw error
            }
        }
    }

    private static func write(_ decisions: Decisions, to path: String) throws(IOError) {
        func list(_ keys: Set<String>) -> JSONValue {
            .array(keys.sorted().prefix(maxEntries).map(JSONValue.string))
        }
        let json: JSONValue = [
            "version": 1, "allowed": list(decisions.allowed), "denied": list(decisions.denied),
        ]
        try Files.replace(path, with: Array(json.serialized(pretty: true).utf8))
    }

    /// Revokes all decisions.
    public func forgetAll() {
        decisions.withLock { decisions in
            decisions = Decisions()
            // Without the file, what is revoked applies to this run.
            if let path {
                try? Self.locked(path) { () throws(IOError) in try Self.write(decisions, to: path) }
            }
        }
    }
}
