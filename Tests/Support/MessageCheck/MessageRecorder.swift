package import MCPCore
import Synchronization
import Testing

/// Sees every message of one conversation, in both directions, and checks those that our own code wrote
/// against the schema of their revision.
///
/// What a test wrote by hand is only read, for what its answers must be.
package final class MessageRecorder: Sendable {
    private struct State {
        var version: String
        /// The requests by their sender and id. An id may be used again, so there may be several.
        var asked: [Side: [String: Set<AskedRequest>]] = [:]
        var problems: [String] = []
    }

    private let ours: Set<Side>
    private let schemas: WireSchemas?
    private let test: String
    private let isReporting: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - version: the revision until a handshake says another one.
    ///   - ours: whose messages our code writes.
    ///   - isReporting: whether a violation fails the test; otherwise it waits in `takeProblems`.
    package init(
        _ ours: Set<Side>, version: String = "2026-07-28", schemas: WireSchemas? = .shared,
        isReporting: Bool = true
    ) {
        self.ours = ours
        self.isReporting = isReporting
        self.schemas = schemas
        test = Test.current.map { "\($0.id)" } ?? "?"
        state = Mutex(State(version: version))
    }

    deinit { if isReporting { reportAll() } }

    /// What was found and not yet reported.
    package func takeProblems() -> [String] {
        state.withLock { state in
            defer { state.problems = [] }
            return state.problems
        }
    }

    /// Fails the test with what was found; to be called where the test's own task runs.
    package func report() {
        if isReporting, Test.current != nil { reportAll() }
    }

    private func reportAll() {
        for problem in takeProblems() { Issue.record("\(problem) (in \(test))") }
    }

    /// A message on its way. `version` is what its sender says that it speaks.
    package func saw(_ bytes: ByteSlice, from side: Side, version: String? = nil) {
        guard schemas != nil else { return }
        guard let json = try? RawJSON(validating: bytes) else {
            if ours.contains(side) { add("the \(side.rawValue) wrote what is not JSON: \(String(bytes))") }
            return
        }
        for message in json.value.arrayValue ?? [json.value] { saw(message, from: side, version: version) }
        report()
    }

    package func saw(_ text: String, from side: Side, version: String? = nil) {
        saw(ByteSlice(text), from: side, version: version)
    }

    private func saw(_ message: JSONValue, from side: Side, version: String?) {
        let method = message["method"]?.stringValue
        let id = message["id"]?.serialized()
        let asked: Set<AskedRequest> = state.withLock { state in
            if let version { state.version = version }
            let spoken = Self.claim(of: message) ?? state.version
            guard let method else {
                let asked = id.flatMap { state.asked[side.other]?[$0] } ?? []
                if asked.contains(where: { $0.method == "initialize" }),
                    let agreed = message["result"]?["protocolVersion"]?.stringValue
                {
                    state.version = agreed
                    return [AskedRequest(method: "initialize", version: agreed)]
                }
                return asked
            }
            if let id {
                state.asked[side, default: [:]][id, default: []].insert(
                    .init(method: method, version: spoken))
            }
            return []
        }
        guard ours.contains(side) else { return }
        check(message, from: side, asked: asked)
    }

    private func check(_ message: JSONValue, from side: Side, asked: Set<AskedRequest>) {
        let current = state.withLock { $0.version }
        var versions = Set(asked.map(\.version))
        if versions.isEmpty { versions = [Self.claim(of: message) ?? current] }
        MessageCount.add()
        var first: [String]?
        for version in versions.sorted() {
            let same = asked.filter { $0.version == version }
            var found = schemas?[version]?.problems(message, from: side, asked: same) ?? []
            found += MetaCheck.problems(message)
            if found.isEmpty { return }
            let method = message["method"]?.stringValue ?? same.map(\.method).sorted().joined(separator: "|")
            first = first ?? found.map { "\(version) \(side.rawValue) \(method): \($0)" }
        }
        for problem in first ?? [] { add("\(problem) in \(message.serialized().prefix(600))") }
    }

    private func add(_ problem: String) { state.withLock { $0.problems.append(problem) } }

    /// The revision that a message names itself: each modern request (META-05), and `initialize`.
    private static func claim(of message: JSONValue) -> String? {
        let params = message["params"]
        if let claim = params?["_meta"]?["io.modelcontextprotocol/protocolVersion"] {
            return claim.stringValue.flatMap { Setting.versions.contains($0) ? $0 : nil } ?? "2026-07-28"
        }
        guard message["method"] == "initialize", let version = params?["protocolVersion"]?.stringValue else {
            return nil
        }
        return Setting.versions.contains(version) && version < "2026-07-28" ? version : "2025-11-25"
    }
}

extension Side {
    package var other: Side { self == .client ? .server : .client }
}
