import MCPCore
import Synchronization

/// `find`: looks for tools by name in all configured servers.
struct FindCommand {
    let context: CommandContext
    private var console: Console { context.console }

    /// The number of servers that are asked at the same time.
    private static let width = 8

    private struct Answer: Sendable {
        let server: String
        typealias Line = (name: String, signature: String, summary: String)
        var lines: [Line] = []
        var failure: Failure?
        /// Whether the list was still valid from an earlier run, so that nothing was sent.
        var isCached = false
    }

    /// The answers that have arrived.
    private final class Found: Sendable {
        private struct State {
            var answers: [Int: Answer] = [:]
            var isShown = false
        }

        private let state = Mutex(State())
        private let names: [String]

        init(_ names: [String]) { self.names = names }

        func add(_ answer: Answer, at index: Int) { state.withLock { $0.answers[index] = answer } }

        /// The names of the servers that have not answered.
        var waiting: [String] {
            state.withLock { state in names.indices.filter { state.answers[$0] == nil }.map { names[$0] } }
        }

        /// Returns the answers in the order of the servers, the first time.
        func take() -> [Answer]? {
            state.withLock { state -> [Answer]? in
                if state.isShown { return nil }
                state.isShown = true
                return state.answers.sorted { $0.key < $1.key }.map(\.value)
            }
        }
    }

    /// Shows what was found when the command is stopped, and which servers had not answered.
    private func showPart(_ found: Found) {
        guard let answers = found.take(), answers.contains(where: { !$0.lines.isEmpty }) else { return }
        let waiting = found.waiting
        let stopped = waiting.map { name -> Answer in
            var answer = Answer(server: name)
            answer.failure = Failure(
                code: .timeout, kind: .timeout, message: "had not answered when the search was stopped")
            return answer
        }
        show(answers + stopped)
    }

    func run() async throws(Failure) -> ExitCode {
        let pattern = Glob(context.invocation.operands.first ?? "*")
        let catalog = ServerCatalog(context.environment)
        let names = catalog.names
        guard !names.isEmpty else {
            if let failure = catalog.brokenProject("no server is configured elsewhere") { throw failure }
            throw .usage("no server is configured", hint: "mcp-client config add NAME URL adds one")
        }
        let found = Found(names)
        // The process does not wait for a server that hangs: what was found is shown before that.
        let answers = await withTaskCancellationHandler {
            await self.answers(of: names, in: catalog, pattern, found)
        } onCancel: {
            showPart(found)
        }
        if let failure = context.stop.failure {
            showPart(found)
            throw failure
        }
        let failed = answers.filter { $0.failure != nil }
        // The failure of a single server is the failure of the command, and is reported once.
        if answers.count == 1, let failure = failed.first?.failure { throw failure }
        show(answers)
        if let failure = failed.first?.failure, failed.count == answers.count { throw failure }
        if answers.contains(where: { !$0.lines.isEmpty }) { return .ok }
        throw Failure(
            code: .protocolError, kind: .notFound,
            message: "no tool matches \(quoted(context.invocation.operands.first ?? "*"))",
            hint: "* stands for any text: mcp-client find '*WORD*'")
    }

    /// Returns the answers of servers, in their order. One line shows which of them are slow.
    private func answers(
        of names: [String], in catalog: ServerCatalog, _ pattern: Glob, _ found: Found
    ) async -> [Answer] {
        let waiting = context.environment.patience.flatMap {
            WaitingLine(
                for: names.joined(separator: ", "), console: console, options: context.invocation.options,
                patience: $0)
        }
        let answers = try? await WaitingLine.showing(waiting) {
            await withTaskGroup(of: (Int, Answer).self) { group in
                var answers: [Int: Answer] = [:]
                var next = 0
                func start() {
                    guard next < names.count else { return }
                    let (index, name) = (next, names[next])
                    next += 1
                    group.addTask { (index, await search(name, in: catalog, pattern)) }
                }
                for _ in 0 ..< Self.width { start() }
                for await (index, answer) in group {
                    answers[index] = answer
                    // One that fails because the command is stopped has not answered.
                    if !Task.isCancelled { found.add(answer, at: index) }
                    let rest = names.indices.filter { answers[$0] == nil }
                    waiting?.wait(for: rest.map { names[$0] }.joined(separator: ", "))
                    start()
                }
                return answers.sorted { $0.key < $1.key }.map(\.value)
            }
        }
        return answers ?? []
    }

    private func search(_ name: String, in catalog: ServerCatalog, _ pattern: Glob) async -> Answer {
        var answer = Answer(server: name)
        var own = context.invocation
        // Nobody is asked which of many servers may be used.
        own.options.noInput = true
        var environment = context.environment
        environment.patience = nil
        let quiet = CommandContext(
            environment: environment, console: console, invocation: own, stop: context.stop)
        var lines = answer.lines
        // A server whose pages have no end may list the same tools again and again.
        var names: Set<String> = []
        var isCached = false
        do throws(Failure) {
            // The name may be that of a project, which must not stand for an address or a file.
            _ = try await quiet.withConfiguredServer(name, in: catalog) { session throws(Failure) in
                try await session.pages("tools/list") { page throws(Failure) in
                    for element in try session.elements(page, "tools", method: "tools/list") {
                        guard let tool = session.entry(Tool.self, "tool", element) else { continue }
                        guard pattern.matches(tool.name), names.insert(tool.name).inserted else { continue }
                        let first = (tool.description ?? "").split(whereSeparator: \.isNewline).first ?? ""
                        lines.append((tool.name, Signature.tool(tool), inlineText(String(first))))
                    }
                    return true
                }
                isCached = session.client.requestCount == 0
                return .ok
            }
        } catch { answer.failure = error }
        (answer.lines, answer.isCached) = (lines, isCached)
        return answer
    }

    private func show(_ lines: [(server: String, tool: Answer.Line)]) {
        let width = min(lines.map(\.server.count).max() ?? 0, 32)
        for (server, tool) in lines {
            let gap = String(repeating: " ", count: max(0, width - server.count) + 2)
            console.wrapped(server + gap + tool.signature, hanging: width + 6, bold: server.count)
            if !tool.summary.isEmpty {
                let summary = TerminalText.inline(tool.summary, limit: 200)
                console.wrapped(String(repeating: " ", count: width + 6) + summary)
            }
        }
    }

    private func show(_ answers: [Answer]) {
        if console.isJSON {
            let list = answers.flatMap { answer in
                answer.lines.map { line -> JSONValue in
                    ["server": .string(answer.server), "tool": .string(line.name)]
                }
            }
            let failures = answers.compactMap { answer in
                answer.failure.map { failure -> JSONValue in
                    ["server": .string(answer.server), "error": FailureText.value(failure)]
                }
            }
            console.json(RawJSON(["tools": .array(list), "failures": .array(failures)]))
        } else {
            show(answers.flatMap { answer in answer.lines.map { (inlineText(answer.server), $0) } })
        }
        for answer in answers {
            guard let failure = answer.failure else { continue }
            var lines = ["\(inlineText(answer.server)): \(failure.message)"]
            lines += failure.details.prefix(1)
            if let hint = failure.hint { lines.append("hint: " + hint) }
            console.note(lines.joined(separator: "\n  "))
        }
        let count = answers.reduce(0) { $0 + $1.lines.count }
        let servers = answers.count { $0.failure == nil }
        let cached = answers.count { $0.isCached }
        console.note(
            "\(count) tool\(count == 1 ? "" : "s") found; \(servers) of \(answers.count) servers searched"
                + (cached > 0 ? " (\(cached) in the cache; --no-cache asks again)" : ""))
    }
}
