import MCPCore
import Synchronization

@testable import MCPClientCLI

/// Collects what a command writes, as a pipe or as a terminal would get it.
final class MemorySink: Sink {
    let isTerminal: Bool
    let failure: String? = nil
    private let collected = Mutex<[UInt8]>([])
    /// How many lines its reader wants before it goes away.
    private let wantedLines: Int
    /// Hears what is written.
    private let hear: @Sendable (String) -> Void

    init(
        isTerminal: Bool = false, wantedLines: Int = .max,
        hear: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.isTerminal = isTerminal
        self.wantedLines = wantedLines
        self.hear = hear
    }

    var isClosed: Bool { bytes.count { $0 == UInt8(ascii: "\n") } >= wantedLines }

    func write(_ bytes: [UInt8]) {
        if !isClosed { collected.withLock { $0 += bytes } }
        hear(String(decoding: bytes, as: UTF8.self))
    }

    var bytes: [UInt8] { collected.withLock { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// What a command line tells the shell.
struct CommandCode: Hashable, Sendable {
    let rawValue: Int32

    fileprivate init(_ code: ExitCode) { rawValue = code.rawValue }

    static let ok = Self(.ok)
    static let toolError = Self(.toolError)
    static let usage = Self(.usage)
    static let unreachable = Self(.unreachable)
    static let authentication = Self(.authentication)
    static let protocolError = Self(.protocolError)
    static let timeout = Self(.timeout)
    static let inputRequired = Self(.inputRequired)
    static let checkFailed = Self(.checkFailed)
    static let interrupted = Self(.interrupted)
}

/// What one command line did.
struct CommandOutcome {
    let code: CommandCode
    let stdout: String
    let stderr: String
    let stdoutBytes: [UInt8]
    let files: [String: [UInt8]]
    /// How often a server was connected to.
    let connections: Int
}

/// Runs command lines in this process against a server in this process.
struct CommandHarness {
    var server: MCPServer
    var stdin: String?
    var files: [String: String] = [:]
    /// The line of stdin that cannot be used, as one that is too long.
    var refusedLine: String?
    var isTerminal = false
    /// How many lines of stdout are read; nil: all.
    var wantedLines: Int?
    var variables: [String: String] = [:]
    /// What the person at the terminal types, line by line; nil when nobody is there.
    var typed: [String]?
    /// Runs while a question to the person is open.
    var whileAsked: @Sendable () async -> Void = {}
    /// Hears what is written to stderr.
    var hearStderr: @Sendable (String) -> Void = { _ in }
    /// Whether targets are connected to; otherwise each one is the server in this process.
    var connectsToTargets = false
    /// The current directory, where a project may have a configuration.
    var directory = "/nowhere"
    /// Why the command is to end, for a test that cancels it.
    var stop = StopReason()
    /// Runs before a target is connected to.
    var beforeConnecting: @Sendable (Target) async throws -> Void = { _ in }
    /// Sees the flags, with the settings of a configured server, before a target is connected to.
    var seeOptions: @Sendable (Options) -> Void = { _ in }
    /// Opens pages; nil when there is no browser.
    var browser: (@Sendable (String) async throws -> Void)?

    func run(_ words: String...) async -> CommandOutcome { await run(words) }

    func run(_ words: [String]) async -> CommandOutcome {
        let stdout = MemorySink(isTerminal: isTerminal, wantedLines: wantedLines ?? .max)
        let stderr = MemorySink(isTerminal: isTerminal, hear: hearStderr)
        let saved = SavedFiles()
        let connections = SharedNumber()
        let (server, stdin, files, variables) = (server, stdin, files, variables)
        let refusedLine = refusedLine
        let (connectsToTargets, browser) = (connectsToTargets, browser)
        let (beforeConnecting, seeOptions) = (beforeConnecting, seeOptions)
        let person = typed.map(Typist.init)
        var environment = CommandEnvironment(
            stdout: stdout, stderr: stderr,
            input: ArgumentInput(
                file: { path throws(Failure) in
                    guard let text = files[path] else { throw .usage("cannot read \(path): No such file") }
                    return Array(text.utf8)
                },
                stdin: { () throws(Failure) in Array((stdin ?? "").utf8) }, isStdinPiped: stdin != nil),
            variable: { variables[$0] },
            outputFile: { path throws(Failure) in
                if path.hasPrefix("/nowhere") || path.hasSuffix("refused-1.png") {
                    throw .usage("cannot write \(path): No such directory")
                }
                // The files of a disk that is full.
                if path.hasPrefix("full") {
                    return { _ throws(Failure) in
                        throw Failure(
                            code: .unreachable, kind: .output, message: "cannot write \(path): full")
                    }
                }
                return { bytes throws(Failure) in saved.set(path, bytes) }
            }, secret: { variables[$0] },
            connect: { target, flags, options in
                connections.increment()
                seeOptions(flags)
                try await beforeConnecting(target)
                var options = options
                // Nor may it fail to connect because the machine is busy, unless the command sets a limit.
                if flags.connectTimeout == nil {
                    options.connectTimeout = .seconds(connectsToTargets ? 120 : 3_600)
                }
                if connectsToTargets {
                    return try await MCPClient.connect(target.clientTarget(flags), options: options)
                }
                return try await MCPClient.connect(.inProcess(server), options: options)
            })
        if let browser {
            environment.openPage = { page throws(Failure) in
                do { try await browser(page) } catch { throw .usage("\(error)") }
            }
        }
        environment.allVariables = { variables }
        environment.currentDirectory = directory
        // A busy machine must not show that it is slow in texts that are compared.
        environment.patience = .seconds(3_600)
        let whileAsked = whileAsked
        if let person {
            environment.person = Person {
                await whileAsked()
                return person.line()
            }
        }
        // A terminal is the standard input of both.
        let piped = stdin.map { Typist($0.split(separator: "\n").map(String.init)) }
        let lines = piped ?? person ?? Typist([])
        environment.nextLine = { lines.line().map { .text($0) } }
        if let refusedLine {
            environment.nextLine = {
                lines.line().map { line in
                    line == refusedLine ? .refused(.usage("a line is refused")) : .text(line)
                }
            }
        }
        var code = ExitCode.usage
        do {
            let request = try InvocationParser.parse(words)
            code = await CommandRunner(environment: environment).run(request, stop: stop)
        } catch {
            stderr.write(FailureText.lines(error, style: Style(isOn: false)))
        }
        return CommandOutcome(
            code: CommandCode(code), stdout: stdout.text, stderr: stderr.text, stdoutBytes: stdout.bytes,
            files: saved.all,
            connections: connections.value)
    }

    private final class SharedNumber: Sendable {
        private let number = Atomic(0)
        var value: Int { number.load(ordering: .relaxed) }
        func increment() { number.add(1, ordering: .relaxed) }
    }

    private final class Typist: Sendable {
        private let lines: Mutex<ArraySlice<String>>
        init(_ lines: [String]) { self.lines = Mutex(lines[...]) }
        func line() -> String? { lines.withLock { $0.popFirst() } }
    }

    private final class SavedFiles: Sendable {
        private let state = Mutex<[String: [UInt8]]>([:])
        func set(_ path: String, _ bytes: [UInt8]) { state.withLock { $0[path] = bytes } }
        var all: [String: [UInt8]] { state.withLock { $0 } }
    }
}

/// The last column of a footer is a time, which no two runs share.
func withoutTime(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
        guard line.hasSuffix(" ms") || line.hasSuffix(" s") else { return String(line) }
        let parts = line.split(separator: " ")
        return parts.dropLast(2).joined(separator: " ") + " TIME"
    }.joined(separator: "\n")
}

extension TapHandler {
    /// Serves the tap while `work` runs, which receives a command line that reaches servers, and the port.
    func served(_ work: (CommandHarness, UInt16) async throws -> Void) async throws {
        var settings = HTTPServerOptions()
        settings.loops = 1
        settings.drainTimeout = .milliseconds(200)
        let front = try HTTPServer(
            on: [.tcp(port: 0)], policy: AccessPolicy(hosts: .loopback), options: settings,
            resources: HTTPServerResources())
        try front.start(self)
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        do { try await work(harness, front.addresses.first?.port ?? 0) } catch {
            await front.stop()
            throw error
        }
        await front.stop()
    }
}
