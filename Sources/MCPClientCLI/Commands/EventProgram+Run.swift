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

    /// Returns the first line that the program wrote to stderr.
    private static func reason(_ errors: [UInt8]) -> String {
        let line = errors.prefix { $0 != UInt8(ascii: "\n") }
        return line.isEmpty ? "" : ": " + inlineText(String(decoding: line, as: UTF8.self))
    }

    /// Runs the program and returns a short description of how it ended.
    func run(_ event: WatchEvent) async -> String {
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
