import Dispatch
import MCPCore

extension EventProgram {
    private static let timeout = Duration.seconds(60)

    func arguments(_ event: WatchEvent) -> [String] {
        words.dropFirst().map { Self.filledIn($0, event) }
    }

    /// Replaces the placeholders in a single pass: inserted text is not scanned again.
    private static func filledIn(_ word: String, _ event: WatchEvent) -> String {
        var result = ""
        var rest = word[...]
        while let brace = rest.firstIndex(of: "{") {
            result += rest[..<brace]
            rest = rest[brace...]
            let part = [("{uri}", event.uri ?? ""), ("{event}", event.name)].first { rest.hasPrefix($0.0) }
            result += part?.1 ?? "{"
            rest = rest.dropFirst(part?.0.count ?? 1)
        }
        return result + rest
    }

    /// Prints what the program wrote, which may repeat texts of the server: made harmless on a terminal.
    private static func show(_ bytes: [UInt8], _ sink: any Sink) {
        if bytes.isEmpty { return }
        if !sink.isTerminal { return sink.write(bytes) }
        let text = TerminalText.block(String(decoding: bytes, as: UTF8.self))
        sink.write(text.hasSuffix("\n") ? text : text + "\n")
    }

    /// Returns the first line that the program wrote to stderr.
    private static func reason(_ errors: [UInt8]) -> String {
        let line = errors.prefix { $0 != UInt8(ascii: "\n") }
        return line.isEmpty ? "" : ": " + inlineText(String(decoding: line, as: UTF8.self))
    }

    /// Throws if there is no such program.
    func check(_ environment: CommandEnvironment) throws(Failure) {
        let name = words.first ?? ""
        if environment.variable("PATH") == nil { return }
        let isThere = name.contains("/") ? SystemFile.isExecutable(name) : environment.hasProgram(name)
        if !isThere {
            throw .usage(
                "--exec: the program \(quoted(name)) was not found",
                hint: "no shell is involved: the first word is a path, or a program in PATH")
        }
    }

    /// Runs the program, prints what it wrote, and returns a short description of how it ended.
    func run(_ event: WatchEvent, printingTo console: Console? = nil) async -> String {
        let launch = ProcessLaunch(words.first ?? "", arguments(event))
        let name = inlineText(words.first ?? "")
        let start = ContinuousClock.now
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { try ProcessRunner.run(launch, limits: .init(timeout: Self.timeout)) })
            }
        }
        let time = TimeSpan.text(ContinuousClock.now - start)
        switch result {
        case .failure(let error): return "\(name) did not start: \(inlineText("\(error)"))"
        case .success(let result):
            // With --json, lines of JSON alone are on stdout.
            if let console {
                Self.show(result.output, console.isJSON ? console.stderr : console.stdout)
                Self.show(result.errors, console.stderr)
            }
            guard result.end == .exited else { return "\(name) was stopped after \(time)" }
            return switch result.status {
            case .exited(0): "\(name) exited 0 in \(time)"
            case .exited(let code): "\(name) exited \(code) in \(time)" + Self.reason(result.errors)
            case .signaled(let signal): "\(name) was killed by signal \(signal) after \(time)"
            case .unknown: "\(name) ended after \(time)"
            }
        }
    }
}
