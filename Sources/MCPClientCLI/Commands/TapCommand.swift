import MCPCore
import Synchronization

/// `tap`: stands between a client and a server, passes everything on, and records it.
struct TapCommand {
    let context: CommandContext
    private var invocation: Invocation { context.invocation }
    private var options: Options { invocation.options }

    func run() async throws(Failure) -> ExitCode {
        guard let target = invocation.target else { throw invocation.command.missing(["TARGET"]) }
        let notes = TapNotes { [console = context.console] in console.note($0) }
        let output = try TapOutput(options.outputFile, context.console.stderr, notes)
        // An old one may be open to others.
        if let file = options.outputFile, !options.quiet { context.environment.warnOfExposure(file) }
        let outcome: Result<ExitCode, Failure>
        do throws(Failure) {
            outcome = .success(try await record(target, output, notes))
        } catch { outcome = .failure(error) }
        // A tap over HTTP ends only when it is stopped.
        if let message = output.failure {
            throw Failure(
                code: .unreachable, kind: .output, message: "the recording is incomplete: \(message)")
        }
        return try outcome.get()
    }

    private func record(
        _ target: Target, _ output: TapOutput, _ notes: TapNotes
    ) async throws(Failure) -> ExitCode {
        let settings = try Self.settings(options, context.environment)
        let authorizer = try await login(target, settings)
        let log = ExchangeLog(mask: MessageMask(Self.secrets(settings), login: authorizer)) {
            output.write($0)
        }
        defer { log.finish() }
        let filter = options.checks.allowed.isEmpty ? nil : ToolFilter(options.checks.allowed)
        switch target {
        case .program(let words):
            if options.checks.listen != nil {
                throw .usage(
                    "--listen is for HTTP targets", hint: "a program is recorded on stdin and stdout")
            }
            return try await relay(words, log, filter)
        case .http, .unix:
            let isSocket = if case .unix = target { true } else { false }
            let handler = try TapHandler(
                target, settings, log, filter, authorizer: authorizer, notes: notes,
                login: isSocket ? "pass it with --bearer-file FILE" : invocation.loginLine())
            try await LocalServer.run(
                options.checks.listen ?? "127.0.0.1:0", handler, context, endpoint: handler.path)
            return .ok
        case .recording: throw .usage("a recording needs no tap", hint: "mcp-client mock FILE serves it")
        }
    }

    /// Returns the stored login of the server; nil if there is none that can be used.
    private func login(_ target: Target, _ settings: Options) async throws(Failure) -> OAuthAuthorizer? {
        let logins = Logins(environment: context.environment, options: settings)
        guard let authorizer = try await logins.authorizer(for: target) else { return nil }
        do throws(AuthorizationError) {
            guard let login = try await authorizer.status(), login.isUsable || login.isRenewable else {
                return nil
            }
        } catch {
            throw FailureMapping.authorization(error, status: nil, options, login: invocation)
        }
        return authorizer
    }

    /// The flags, in which the token of `--bearer-env` or `--bearer-file` is a header.
    static func settings(
        _ options: Options, _ environment: CommandEnvironment
    ) throws(Failure) -> Options {
        var settings = options
        if let token = try environment.bearer(options) {
            settings.headers.append(.init(name: "Authorization", value: "Bearer \(token)"))
        }
        return settings
    }

    /// The texts on our own command line and in our configuration that may be secret.
    static func secrets(_ options: Options) -> [String] {
        // Names such as KEY or PAT do not tell a secret from anything else.
        options.headers.map(\.value) + options.environment.map(\.value)
            + options.headers.compactMap { header in
                // The token, without the scheme before it.
                let isCredential = header.name.lowercased().hasSuffix("authorization")
                return isCredential ? header.value.split(separator: " ").last.map { String($0) } : nil
            }
    }

    // MARK: Programs

    private func relay(
        _ words: [String], _ log: ExchangeLog, _ filter: ToolFilter?
    ) async throws(Failure) -> ExitCode {
        var environment = context.environment.allVariables()
        for entry in options.environment { environment[entry.name] = entry.value }
        var launch = ProcessLaunch(
            words.first ?? "", Array(words.dropFirst()), environment: environment,
            directory: options.directory)
        launch.errors = .inherit
        let child: ChildProcess
        do { child = try ChildProcess(launch) } catch {
            throw Failure(code: .unreachable, kind: .cannotStart, message: inlineText("\(error)"))
        }
        let input = child.takeInput()?.release() ?? -1
        let output = child.takeOutput()?.release() ?? -1
        let toClient = Mutex<Void>(())
        @Sendable func answer(_ line: [UInt8]) -> Bool {
            toClient.withLock { _ in SystemFile.writeAll(1, line + [UInt8(ascii: "\n")]) } == nil
        }
        let requests = Task {
            await LineRelay.read(0) { line in
                switch filter?.check(line) ?? .pass(line) {
                case .pass(let line):
                    log.note(line, from: .client)
                    return SystemFile.writeAll(input, line + [UInt8(ascii: "\n")]) == nil
                case .refuse(let refusal):
                    log.noteRefused(line, with: refusal)
                    guard let refusal else { return true }
                    return answer(refusal)
                }
            }
            SystemFile.closeDescriptor(input)
        }
        let isComplete = await LineRelay.read(output) { line in
            log.note(line, from: .server)
            return answer(filter?.filtered(line) ?? line)
        }
        requests.cancel()
        await requests.value
        SystemFile.closeDescriptor(output)
        let exit = await child.terminate()
        if let failure = context.stop.failure { throw failure }
        if isComplete, case .exited(let status) = exit, status != 0 {
            throw Failure(
                code: .unreachable, kind: .connectionClosed,
                message: "\(inlineText(words.first ?? "")) exited with status \(status)")
        }
        return .ok
    }
}

/// Where a recording goes: the end of a private file, or stderr.
final class TapOutput: Sendable {
    private let state: Mutex<AppendingFile?>
    private let stderr: any Sink
    private let notes: TapNotes
    private let failed = Mutex<String?>(nil)

    init(_ path: String?, _ stderr: any Sink, _ notes: TapNotes = TapNotes()) throws(Failure) {
        self.stderr = stderr
        self.notes = notes
        guard let path else {
            state = Mutex(nil)
            return
        }
        if let size = try? Files.info(path, followsLinks: true).size, size > 0 { try Self.check(path) }
        do throws(IOError) { state = Mutex(try AppendingFile(path)) } catch {
            throw .usage("cannot write \(inlineText(path)): \(error.reason)")
        }
    }

    /// Refuses a file that is there and does not begin as a recording does.
    private static func check(_ path: String) throws(Failure) {
        guard !path.hasPrefix("/dev/"), let start = SystemFile.start(of: path) else { return }
        if start.starts(with: #"{"time":"#.utf8) { return }
        let line = ByteSlice(Array(start.prefix { $0 != UInt8(ascii: "\n") }))
        if let json = try? RawJSON(validating: line), RecordedLine.problem(json) == nil { return }
        throw .usage(
            "\(inlineText(path)) is there, and is not a recording", details: ["nothing was written to it"],
            hint: "name another file, or a recording to add to")
    }

    /// The reason why not every line was written, the first one.
    var failure: String? {
        failed.withLock { $0 } ?? state.withLock { $0 == nil ? stderr.failure : nil }
    }

    func write(_ line: [UInt8]) {
        let message = state.withLock { file -> String? in
            guard let file else {
                stderr.write(line)
                return nil
            }
            do throws(IOError) { try file.append(line) } catch { return error.reason }
            return nil
        }
        guard let message else { return }
        failed.withLock { if $0 == nil { $0 = message } }
        notes.once("the recording is incomplete: \(message)")
    }
}

/// What a tap tells its user while it runs, each text once.
final class TapNotes: Sendable {
    private let said = Mutex<Set<String>>([])
    private let show: @Sendable (String) -> Void

    init(_ show: @escaping @Sendable (String) -> Void = { _ in }) { self.show = show }

    /// Shows a text, which contains nothing that differs between requests, or the first one about a subject.
    func once(_ text: String, about subject: String? = nil) {
        if said.withLock({ $0.insert(subject ?? text).inserted }) { show(text) }
    }
}

/// Which tools may be called through a tap.
///
/// With a filter, requests are passed on as they were understood here: a name that occurs twice cannot mean
/// one tool here and another one there.
final class ToolFilter: Sendable {
    enum Verdict { case pass([UInt8]), refuse([UInt8]?) }

    private let patterns: [Glob]
    private let texts: [String]

    init(_ patterns: [String]) {
        texts = patterns
        self.patterns = patterns.map { Glob($0) }
    }

    func allows(_ name: String) -> Bool { patterns.contains { $0.matches(name) } }

    /// Returns the message to pass on, or the response that refuses it; nil if there is none.
    func check(_ line: [UInt8]) -> Verdict {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return .refuse(nil) }
        guard let message = (try? JSONValue(parsing: line))?.objectValue else {
            return .refuse(
                Self.refusal(.null, MCPError.invalidRequestCode, "tap --only passes single messages only"))
        }
        guard Self.isExact(message, ["jsonrpc", "id", "method", "params"]),
            Self.isExact(message["params"]?.objectValue ?? [:], ["name", "arguments"])
        else {
            return .refuse(
                Self.refusal(
                    message["id"] ?? .null, MCPError.invalidRequestCode,
                    "tap --only passes members only under their exact names"))
        }
        if message["method"]?.stringValue == "tools/call" {
            let name = message["params"]?["name"]?.stringValue ?? ""
            if !allows(name) {
                guard let id = message["id"] else { return .refuse(nil) }
                return .refuse(
                    Self.refusal(
                        id, MCPError.invalidParamsCode,
                        "the tool \(name) is not allowed here (--only \(texts.joined(separator: ", ")))"))
            }
        }
        return .pass(Array(JSONValue.object(message).serialized().utf8))
    }

    /// Whether no member has one of these names in another case: some readers of JSON ignore the case.
    private static func isExact(_ object: JSONObject, _ names: Set<String>) -> Bool {
        !object.contains { names.contains($0.key.lowercased()) && !names.contains($0.key) }
    }

    /// Returns a message of the server without the tools that may not be called; nil if it has none of them.
    func filtered(_ line: [UInt8]) -> [UInt8]? {
        guard var message = (try? JSONValue(parsing: line))?.objectValue,
            var result = message["result"]?.objectValue, let tools = result["tools"]?.arrayValue
        else { return nil }
        let kept = tools.filter { tool in allows(tool["name"]?.stringValue ?? "") }
        guard kept.count < tools.count else { return nil }
        result["tools"] = .array(kept)
        message["result"] = .object(result)
        return Array(JSONValue.object(message).serialized().utf8)
    }

    private static func refusal(_ id: JSONValue, _ code: Int, _ text: String) -> [UInt8] {
        let error: JSONValue = ["code": JSONValue(code), "message": .string(text)]
        return Array((["jsonrpc": "2.0", "id": id, "error": error] as JSONValue).serialized().utf8)
    }
}
