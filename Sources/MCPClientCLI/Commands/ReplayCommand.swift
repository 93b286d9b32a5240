import MCPCore

/// `replay`: sends the requests of a recording to a server again, and compares the responses.
struct ReplayCommand {
    let context: CommandContext
    private var console: Console { context.console }
    private var options: Options { context.invocation.options }

    /// Requests that every connection makes in its own way, or that last.
    private static let skipped: Set<String> = [
        "initialize", "server/discover", "ping", "subscriptions/listen", "logging/setLevel",
        "resources/subscribe", "resources/unsubscribe",
    ]
    /// Requests that change nothing.
    private static let harmlessMethods: Set<String> = [
        "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list",
        "prompts/get", "completion/complete", "tasks/list", "tasks/get",
    ]
    /// Members that differ between two correct responses.
    private static let volatile: Set<String> = ["_meta", "ttlMs", "cacheScope", "nextCursor", "requestState"]

    func run() async throws(Failure) -> ExitCode {
        let operands = context.invocation.operands
        let path = operands.first ?? ""
        let recording = try context.environment.recording(path)
        guard operands.count > 1 || context.invocation.program != nil else {
            throw .usage(
                "replay needs a server", hint: "mcp-client replay FILE TARGET, or -- PROGRAM at the end")
        }
        return try await context.withServer(operands.count > 1 ? operands[1] : nil) {
            session throws(Failure) in
            try await replay(recording, session)
        }
    }

    private func replay(_ recording: Recording, _ session: Session) async throws(Failure) -> ExitCode {
        let harmless = try await harmlessTools(session)
        var (same, different, left, incomplete, redacted) = (0, 0, 0, 0, 0)
        // A notification has no response that could be compared.
        for line in recording.lines where line.side == .client && line.message == nil {
            guard !Self.skipped.contains(line.method) else { continue }
            if let failure = context.stop.failure { throw failure }
            let name = [line.method, line.name].compactMap { $0 }.map { inlineText($0) }.joined(
                separator: " ")
            guard let request = line.request, let recorded = line.response else {
                incomplete += 1
                console.line(
                    "skip  \(name): the recording lacks the \(line.request == nil ? "request" : "response")")
                continue
            }
            let isHarmless =
                line.method == "tools/call"
                ? harmless[line.name ?? ""] != nil : Self.harmlessMethods.contains(line.method)
            if !options.checks.replaysAll, !isHarmless {
                left += 1
                console.line("skip  \(name): it may change something (--all-calls sends it)")
                continue
            }
            var params = request["params"]?.value.objectValue ?? [:]
            params["_meta"] = nil
            if MessageMask.hasMask(.object(params)) {
                redacted += 1
                console.line("skip  \(name): its arguments were redacted")
                continue
            }
            let response: RawJSON
            do throws(Failure) {
                response = RawJSON(["result": try await session.request(line.method, params).value])
            } catch {
                guard let code = error.rpcCode else { throw error }
                response = RawJSON(["error": ["code": JSONValue(code)]])
            }
            // A list without an entry that cannot be read is not the list.
            let changes = differences(recorded, response) + session.omissions.texts(of: line.method)
            if changes.isEmpty { same += 1 } else { different += 1 }
            let label = changes.isEmpty ? console.style.green("same") : console.style.red("diff")
            console.line("\(label)  \(name)")
            for change in changes.prefix(20) { console.line("      \(change)") }
            if changes.count > 20 { console.line("      … \(changes.count - 20) more") }
        }
        let unsent = left + incomplete + redacted
        let skipped = unsent == 0 ? "" : ", \(unsent) not sent"
        console.note("\(same) the same, \(different) different\(skipped) · \(session.identity)")
        guard same + different > 0 else {
            throw Failure(
                code: .checkFailed, kind: .notFound, message: "nothing was compared",
                hint: "the recording has no response to a request that may be sent again")
        }
        return different == 0 ? .ok : .checkFailed
    }

    /// The tools that the server declares to be harmless when they are called again.
    private func harmlessTools(_ session: Session) async throws(Failure) -> JSONObject {
        guard !options.checks.replaysAll, session.client.serverCapabilities.hasTools else { return [:] }
        let tools = try await ServerSnapshot.read(session, [.tools]).definitions[.tools] ?? [:]
        return JSONObject(
            tools.filter { tool in
                let hints = tool.value["annotations"]
                return hints?["readOnlyHint"]?.boolValue == true
                    || hints?["idempotentHint"]?.boolValue == true
            })
    }

    private func differences(_ recorded: RawJSON, _ response: RawJSON) -> [String] {
        if let error = recorded["error"] {
            let (old, new) = (error["code"]?.int, response["error"]?["code"]?.int)
            return old == new
                ? []
                : ["error \(old.map(String.init) ?? "?") became \(new.map { "error \($0)" } ?? "a result")"]
        }
        if let error = response["error"] { return ["a result became error \(error["code"]?.int ?? 0)"] }
        var differences = JSONDifferences(ignoring: Self.volatile.union(options.checks.ignored))
        let mask = MessageMask()
        differences.compare(
            Self.withoutType(recorded["result"]?.value ?? .null),
            Self.withoutType(mask.masked(response["result"]?.value ?? .null)), "")
        return differences.lines
    }

    /// Removes what 2026-07-28 adds to every complete result, and older revisions do not have.
    private static func withoutType(_ result: JSONValue) -> JSONValue {
        guard case .object(var members) = result, members["resultType"] == "complete" else { return result }
        members["resultType"] = nil
        return .object(members)
    }
}

/// The differences between two JSON values, each with its path.
struct JSONDifferences {
    /// The number that are kept.
    static let maxLines = 1000

    private let ignored: Set<String>
    private(set) var lines: [String] = []

    /// - Parameter ignored: members that are not compared, wherever they are.
    init(ignoring ignored: Set<String>) { self.ignored = ignored }

    mutating func compare(_ old: JSONValue, _ new: JSONValue, _ path: String) {
        guard old != new, lines.count < Self.maxLines else { return }
        if let a = old.objectValue, let b = new.objectValue {
            for key in Set(a.keys).union(b.keys).sorted() where !ignored.contains(key) {
                let place = "\(path).\(inlineText(key))"
                switch (a[key], b[key]) {
                case (let a?, let b?): compare(a, b, place)
                case (let a?, nil): add("\(place) is missing, was \(Self.shown(a))")
                case (nil, let b?): add("\(place) is new: \(Self.shown(b))")
                case (nil, nil): break
                }
            }
        } else if let a = old.arrayValue, let b = new.arrayValue {
            if a.count != b.count {
                add("\(path.isEmpty ? "." : path) has \(b.count) elements, had \(a.count)")
            }
            for (index, pair) in zip(a, b).enumerated() { compare(pair.0, pair.1, "\(path)[\(index)]") }
        } else if let a = old.stringValue, let b = new.stringValue {
            let (before, after) = SnapshotComparison.differing(a, b)
            add("\(path): \(quoted(before)) became \(quoted(after))")
        } else {
            add("\(path.isEmpty ? "." : path): \(Self.shown(old)) became \(Self.shown(new))")
        }
    }

    private mutating func add(_ line: String) { if lines.count < Self.maxLines { lines.append(line) } }

    private static func shown(_ value: JSONValue) -> String {
        TerminalText.inline(value.serialized(), limit: 80)
    }
}
