import MCPCore

/// The attempts to get one answer of a model server.
struct ModelRetries: Sendable {
    let model: String
    /// The address without anything that may be secret.
    private let address: String
    private let firstPause: Duration
    private let longestPause: Duration
    private var backoff: Backoff
    /// The attempts so far.
    private var attempts = 1

    init(model: String, url: String, maximum: Int, firstPause: Duration, longestPause: Duration) {
        self.model = model
        address = ModelServerError.shown(url)
        self.firstPause = firstPause
        self.longestPause = longestPause
        backoff = Backoff(maximum: .seconds(8), maxAttempts: max(0, maximum))
    }

    /// Returns the pause before the next attempt; nil when there is none, because the failure will not pass,
    /// there were too many, or the server asks for too long a pause.
    mutating func pause(after error: ClientError) -> Duration? {
        guard Self.mayPass(error), let own = backoff.next(firstPause) else { return nil }
        // Random, so that the clients of a server that has recovered do not all come at once.
        let pause = max(own * Double.random(in: 0.75 ... 1), Self.wanted(error) ?? .zero)
        guard pause <= longestPause else { return nil }
        attempts += 1
        return pause
    }

    private static func mayPass(_ error: ClientError) -> Bool {
        switch error.kind {
        case .cannotConnect, .connectionClosed: true
        case .httpStatus:
            error.httpStatus.map { [408, 425, 429].contains($0) || $0 >= 500 && $0 != 501 } ?? false
        default: false
        }
    }

    /// The pause that the server asks for, a year at most.
    private static func wanted(_ error: ClientError) -> Duration? {
        RetryAfter(of: error).map { min($0.pause, .seconds(86_400 * 365)) }
    }

    func notice(_ error: ClientError, _ pause: Duration) -> String {
        let failure = ModelServerError(
            model: model, address: address, cause: error, attempts: 1, hasBegun: false, wantedPause: nil)
        return "\(failure.message); trying again in \(Self.text(pause))"
    }

    func failure(_ error: ClientError, hasBegun: Bool) -> ModelServerError {
        ModelServerError(
            model: model, address: address, cause: error, attempts: attempts, hasBegun: hasBegun,
            wantedPause: Self.wanted(error))
    }

    static func text(_ pause: Duration) -> String {
        let tenths = pause.milliseconds / 100
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
