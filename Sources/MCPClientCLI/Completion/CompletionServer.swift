import MCPCore
import Synchronization

/// The server that a command line names, connected to only when a proposal needs it.
final class CompletionServer: Sendable {
    private let environment: CommandEnvironment
    private let parse: @Sendable ([String]) throws(Failure) -> Invocation
    private let words: [String]?
    private let session = Mutex<Session?>(nil)

    /// The largest number of entries of a list that are proposed.
    static let maxEntries = Candidate.maxCount

    init(
        environment: CommandEnvironment, parse: @escaping @Sendable ([String]) throws(Failure) -> Invocation,
        prefix: CommandPrefix
    ) {
        // Nobody is asked, and nothing is shown.
        var environment = environment
        environment.person = nil
        environment.stderr = BufferSink()
        environment.stdout = BufferSink()
        environment.openPage = nil
        self.environment = environment
        self.parse = parse
        // The flags of the connection alone matter; the rest of the line may not be complete.
        let flags = prefix.flags.filter { row in
            if case .transport = row.flag { return true }
            if case .auth = row.flag { return Flag.authorized.contains(row.flag) }
            return false
        }
        // A registry document names a program that nobody has allowed.
        let target = prefix.target.flatMap { Target.isFile($0) && !$0.hasSuffix(".jsonl") ? nil : $0 }
        words = target.map { ["info"] + flags.flatMap(\.words) + [$0] }
    }

    /// Uses a connection that is open.
    init(_ open: Session) {
        environment = open.environment
        parse = { _ throws(Failure) in throw .usage("connected") }
        words = nil
        session.withLock { $0 = open }
    }

    func close() async {
        guard let open = session.withLock({ $0 }) else { return }
        await open.client.close()
    }

    // MARK: Lists

    func tools() async -> [Candidate] {
        await list("tools/list", "tools").compactMap { tool in
            tool["name"]?.string.map { Candidate(value: $0, note: Self.note(tool)) }
        }
    }

    func prompts() async -> [Candidate] {
        await list("prompts/list", "prompts").compactMap { prompt in
            prompt["name"]?.string.map { Candidate(value: $0, note: Self.note(prompt)) }
        }
    }

    /// Returns the resources, and for a template whose fixed beginning was typed what the server proposes
    /// next.
    func resources(_ current: String) async -> [Candidate] {
        var found = await list("resources/list", "resources").compactMap { resource in
            resource["uri"]?.string.map { Candidate(value: $0, note: resource["name"]?.string ?? "") }
        }
        for template in await list("resources/templates/list", "resourceTemplates") {
            guard let text = template["uriTemplate"]?.string, let brace = text.firstIndex(of: "{"),
                let end = text[brace...].firstIndex(of: "}")
            else { continue }
            let fixed = String(text[..<brace])
            let variable = String(text[text.index(after: brace) ..< end])
            if fixed.hasPrefix(current), fixed != current, !fixed.isEmpty {
                found.append(Candidate(value: fixed, note: text, isPartial: true))
            } else if current.hasPrefix(fixed),
                variable.utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == 0x5F })
            {
                let isWhole = text.index(after: end) == text.endIndex
                let typed = String(current.dropFirst(fixed.count))
                found += await values(of: variable, in: text, current: typed).map { candidate in
                    Candidate(value: fixed + candidate.value, isPartial: !isWhole)
                }
            }
        }
        return found
    }

    func completionSubjects() async -> [Candidate] {
        let prompts = await prompts().map { Candidate(value: "prompt:" + $0.value, note: $0.note) }
        let templates = await list("resources/templates/list", "resourceTemplates").compactMap { template in
            template["uriTemplate"]?.string.map { Candidate(value: $0, note: Self.note(template)) }
        }
        return prompts + templates
    }

    func completionArguments(of subject: String) async -> [Candidate] {
        guard let name = subject.dropping(prefix: "prompt:") else {
            return subject.split(separator: "{").dropFirst().compactMap { part in
                part.firstIndex(of: "}").map { Candidate(value: String(part[..<$0])) }
            }
        }
        return await arguments(ofPrompt: name).map { Candidate(value: $0.name, note: $0.description ?? "") }
    }

    func arguments(ofPrompt name: String) async -> [PromptArgument] {
        guard
            let raw = await list("prompts/list", "prompts").first(where: {
                $0["name"]?.string?.utf8.elementsEqual(name.utf8) == true
            }),
            let prompt = try? Prompt(json: raw.value)
        else { return [] }
        return prompt.arguments
    }

    /// Returns the schema of a tool's arguments.
    func schema(ofTool name: String) async -> SchemaView? {
        // By bytes: two spellings of one letter are two names.
        let tool = await list("tools/list", "tools").first {
            $0["name"]?.string?.utf8.elementsEqual(name.utf8) == true
        }
        return tool?["inputSchema"].map { SchemaView($0.value) }
    }

    /// Returns what the server proposes for an argument of a prompt or of a resource template.
    func values(
        of argument: String, in subject: String, current: String, given: JSONObject = [:]
    ) async -> [Candidate] {
        guard let session = await connected() else { return [] }
        let reference: JSONValue =
            subject.dropping(prefix: "prompt:").map { CompletionReference.prompt($0).json }
            ?? CompletionReference.resource(subject).json
        var params: JSONObject = [
            "ref": reference, "argument": ["name": .string(argument), "value": .string(current)],
        ]
        if !given.isEmpty { params["context"] = ["arguments": .object(given)] }
        guard let result = try? await session.request("completion/complete", params),
            let completion = try? CompletionResult(json: result.value["completion"] ?? .null)
        else { return [] }
        return completion.values.prefix(Self.maxEntries).map { Candidate(value: $0) }
    }

    private static func note(_ entry: RawJSON) -> String {
        entry["description"]?.string ?? entry["title"]?.string ?? ""
    }

    private func list(_ method: String, _ member: String) async -> [RawJSON] {
        guard let session = await connected() else { return [] }
        var found: [RawJSON] = []
        try? await session.pages(method) { page throws(Failure) in
            found += try session.elements(page, member, method: method)
            return found.count < Self.maxEntries
        }
        return found
    }

    // MARK: Connection

    private func connected() async -> Session? {
        if let open = session.withLock({ $0 }) { return open }
        guard let words, let opened = try? await connect(words) else { return nil }
        session.withLock { $0 = opened }
        return opened
    }

    private func connect(_ words: [String]) async throws(Failure) -> Session {
        var parsed = try parse(words)
        parsed.options.noInput = true
        let console = Console(
            stdout: environment.stdout, stderr: environment.stderr, options: parsed.options,
            variable: environment.variable)
        let invocation = try await parsed.resolvingNames(environment, console)
        guard let target = invocation.target else { throw .usage("no target") }
        let logins = Logins(environment: environment, options: invocation.options)
        let stored = try await logins.authorizer(for: target).map(StoredLogin.init)
        return try await Connector(environment: environment, console: console, timings: Timings())
            .connect(target, invocation, authorizer: stored)
    }
}

/// The tokens of a login as long as they are valid. They are not renewed: a completion may end at any
/// moment, and with it a new refresh token would be lost.
private struct StoredLogin: RequestAuthorizer {
    let login: OAuthAuthorizer

    var identity: String? { login.identity }

    func authorization(
        for request: AuthorizedRequest
    ) async throws(AuthorizationError) -> RequestAuthorization {
        let soon = WallTime.now.secondsSinceEpoch + 300
        guard let status = try await login.status(), status.isUsable,
            status.expiresAt.map({ $0 > soon }) ?? true
        else { return RequestAuthorization(fields: [], generation: 0) }
        return try await login.authorization(for: request)
    }

    func respond(to refusal: AuthorizationRefusal) async throws(AuthorizationError) -> Bool { false }

    func masking(_ text: String) -> String { login.masking(text) }
}
