import MCPCore

/// Attempts that are made again, because the first one did nothing or because repeating it does no harm.
///
/// A hint of the server (`readOnlyHint`, `idempotentHint`) suffices for that: whoever claims it wrongly only
/// makes its own tool run twice, which it could do anyway. For approvals it does not suffice.
struct Retry {
    /// The longest pause that a server may ask for; a longer one is an error.
    static let maxPause = Duration.seconds(60)

    private let count: Int
    private let console: Console

    init(_ count: Int, _ console: Console) {
        self.count = count
        self.console = console
    }

    /// Connects, and tries again while nobody listens or the server is too busy.
    func connecting<R: Sendable>(_ work: @Sendable () async throws -> R) async throws -> R {
        try await run(work) { error in
            error.kind == .cannotConnect || Self.isBusy(error)
        }
    }

    /// Sends a request, and sends it again if it did not arrive, if the server counts requests, or if
    /// repeating it does no harm.
    func sending<R: Sendable>(
        isRepeatable: Bool, _ work: @Sendable () async throws -> R
    ) async throws -> R {
        try await run(work) { error in
            error.isUnsent && [.cannotConnect, .connectionClosed].contains(error.kind)
                || error.httpStatus == 429
                || isRepeatable && (Self.isBusy(error) || error.kind == .connectionClosed)
        }
    }

    private static func isBusy(_ error: ClientError) -> Bool {
        [429, 502, 503, 504].contains(error.httpStatus ?? 0)
    }

    private func run<R: Sendable>(
        _ work: @Sendable () async throws -> R, _ mayRepeat: (ClientError) -> Bool
    ) async throws -> R {
        var attempt = 0
        while true {
            do { return try await work() } catch let error as ClientError {
                guard attempt < count, mayRepeat(error),
                    let pause = Self.pause(attempt, asked: RetryAfter(of: error))
                else {
                    throw error
                }
                attempt += 1
                console.note(
                    "\(inlineText(MaskedText.urls(in: error.message))); trying again in "
                        + "\(TimeSpan.text(pause)) (\(attempt) of \(count))"
                )
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Returns the time to wait: what the server asks for, or twice as long each time; nil for too long.
    static func pause(_ attempt: Int, asked: RetryAfter?) -> Duration? {
        if let asked { return asked.pause <= maxPause ? asked.pause : nil }
        let base = 250 << min(attempt, 5)
        return .milliseconds(base + Int.random(in: 0 ... base / 2))
    }
}
