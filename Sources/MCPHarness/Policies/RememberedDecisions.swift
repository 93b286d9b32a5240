import MCPCore
import Synchronization

/// A tool as it was defined when the user decided; if the tool changes, the user is asked again.
struct DecisionKey: Sendable, Hashable {
    let text: String

    init(source: ToolSourceID, tool: Tool) {
        var writer = JSONWriter()
        tool.write(to: &writer, for: .newest)
        let hash = Hex.encode(SHA256.hash(writer.finish()).bytes)
        text = "\(source.name)/\(tool.name) \(hash)"
    }
}

/// The tools that the user allowed: in memory for this run, or permanently in a file that only the user can
/// read.
public final class RememberedDecisions: Sendable {
    /// The maximum number of decisions that are kept: 10,000.
    private static let maxEntries = 10_000
    private static let maxBytes = 4 << 20

    private let path: String?
    private let allowed: Mutex<Set<String>>

    /// Creates a store that keeps decisions for this run only.
    public init() {
        path = nil
        allowed = Mutex([])
    }

    /// Creates a store that keeps decisions in a file.
    ///
    /// The file is created with mode 0600 when there is something to store. A file that cannot be read counts
    /// as empty: the user is asked again.
    public init(file path: String) {
        self.path = path
        let text = (try? Files.read(path, maxBytes: Self.maxBytes)).flatMap { try? JSONValue(parsing: $0) }
        let entries = text?["allowed"]?.arrayValue?.compactMap(\.stringValue) ?? []
        allowed = Mutex(Set(entries.prefix(Self.maxEntries)))
    }

    func holds(_ key: DecisionKey) -> Bool { allowed.withLock { $0.contains(key.text) } }

    /// - Throws: an error when the decision cannot be written to the file; it then applies to this run only.
    func keep(_ key: DecisionKey, _ scope: RememberScope) throws(IOError) {
        guard scope != .once else { return }
        // The file is changed under the lock too, so that a decision revoked in the meantime stays revoked.
        try allowed.withLock { allowed throws(IOError) in
            guard allowed.count < Self.maxEntries else { return }
            allowed.insert(key.text)
            if scope == .always { try add(key) }
        }
    }

    /// Adds a decision to the file; decisions for this run only are not written.
    private func add(_ key: DecisionKey) throws(IOError) {
        guard let path else { return }
        let old = (try? Files.read(path, maxBytes: Self.maxBytes)).flatMap { try? JSONValue(parsing: $0) }
        var entries = old?["allowed"]?.arrayValue?.compactMap(\.stringValue) ?? []
        if !entries.contains(key.text) { entries.append(key.text) }
        let json: JSONValue = [
            "version": 1, "allowed": .array(entries.suffix(Self.maxEntries).map(JSONValue.string)),
        ]
        try Files.replace(path, with: Array(json.serialized(pretty: true).utf8))
    }

    /// Revokes all decisions.
    public func forgetAll() {
        allowed.withLock { allowed in
            allowed = []
            if let path { try? Files.replace(path, with: Array(#"{"version":1,"allowed":[]}"#.utf8)) }
        }
    }
}
