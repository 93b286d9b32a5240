import Dispatch
import Synchronization

/// The JWK set of an authorization server, fetched when it is needed and kept.
///
/// One fetch runs at a time, and all who need its result wait for it. What clients send can cause one fetch
/// in `refetchInterval`, beside the first one and those of keys whose lifetime is over.
final class JWKSource: Sendable {
    /// The time for one fetch.
    static let fetchTimeout = Duration.seconds(15)
    /// The time between two fetches because of keys that are not in the set.
    static let refetchInterval = Duration.seconds(60)
    /// The time after a failure until keys whose lifetime is over are fetched again.
    static let retryInterval = Duration.seconds(10)
    /// How long keys are used beyond their lifetime while fetches fail.
    static let staleTime = Duration.seconds(86_400)

    /// A fetched set and its number; later ones have higher numbers.
    struct Snapshot: Sendable {
        let set: JWKSet
        let number: Int
    }

    /// The result of a fetch; nil if it failed.
    private typealias Flight = OneShot<Snapshot?>

    private struct State {
        var current: Snapshot?
        var fetchedAt = MonotonicInstant(nanoseconds: 0)
        var lifetime = Duration.zero
        var flight: Flight?
        /// The last fetch because of a key that was not in the set.
        var refetchedAt: MonotonicInstant?
        /// The last failure; nil after a success.
        var failedAt: MonotonicInstant?
    }

    private enum Step {
        case use(Snapshot)
        case wait(Flight, isNew: Bool)
        case refuse
        case nothingNewer
    }

    private let state = Mutex(State())
    private let lifetime: Duration
    private let signatures: any SignatureProvider
    private let clock: any TimeSource
    private let fetch: @Sendable () async throws -> JWTVerifier.FetchedKeys
    private let onFailure: (@Sendable (any Error) -> Void)?

    init(
        lifetime: Duration, signatures: any SignatureProvider, clock: any TimeSource,
        onFailure: (@Sendable (any Error) -> Void)?,
        fetch: @escaping @Sendable () async throws -> JWTVerifier.FetchedKeys
    ) {
        self.lifetime = lifetime
        self.signatures = signatures
        self.clock = clock
        self.onFailure = onFailure
        self.fetch = fetch
    }

    /// Returns the keys, fetched now if there are none or their lifetime is over.
    ///
    /// - Throws: `.unavailable` if that fails and there are no old keys that may still be used.
    func current() async throws(TokenRefusal) -> Snapshot {
        let step = state.withLock { state -> Step in
            let now = clock.now
            if let current = state.current, now < state.fetchedAt + state.lifetime { return .use(current) }
            if let flight = state.flight { return .wait(flight, isNew: false) }
            if let failedAt = state.failedAt, now < failedAt + Self.retryInterval { return .refuse }
            return .wait(Self.depart(&state), isNew: true)
        }
        switch step {
        case .use(let snapshot): return snapshot
        case .wait(let flight, let isNew):
            if let snapshot = await result(flight, isNew) { return snapshot }
        case .refuse, .nothingNewer: break
        }
        let old = state.withLock { state in
            clock.now < state.fetchedAt + state.lifetime + Self.staleTime ? state.current : nil
        }
        guard let old else { throw .unavailable }
        return old
    }

    /// Returns newer keys than those of `snapshot`, in which a token's key was not found; nil if there cannot
    /// be any now.
    ///
    /// - Throws: `.unavailable` if the last fetch has failed, so that nobody knows whether the key is good.
    func newer(than snapshot: Snapshot) async throws(TokenRefusal) -> JWKSet? {
        let step = state.withLock { state -> Step in
            if let current = state.current, current.number > snapshot.number { return .use(current) }
            if let flight = state.flight { return .wait(flight, isNew: false) }
            let now = clock.now
            if let last = state.refetchedAt, now < last + Self.refetchInterval {
                return state.failedAt == nil ? .nothingNewer : .refuse
            }
            state.refetchedAt = now
            return .wait(Self.depart(&state), isNew: true)
        }
        switch step {
        case .use(let newer): return newer.set
        case .wait(let flight, let isNew):
            guard let newer = await result(flight, isNew) else { throw .unavailable }
            return newer.set
        case .refuse: throw .unavailable
        case .nothingNewer: return nil
        }
    }

    // MARK: Fetching

    private static func depart(_ state: inout State) -> Flight {
        let flight = Flight()
        state.flight = flight
        return flight
    }

    /// Waits for a fetch, and begins it if it is new. It continues when the task that waits is cancelled.
    private func result(_ flight: Flight, _ isNew: Bool) async -> Snapshot? {
        if isNew {
            let deadline = clock.now + Self.fetchTimeout
            let task = Task { await self.run(flight) }
            clock.schedule(at: deadline, on: .global()) { [weak self] in
                // First, or the end of a cancelled fetch would be reported as its outcome.
                self?.land(
                    flight,
                    .failure(
                        SignatureError(.unavailable, "the JWK set has not been fetched within 15 seconds")))
                task.cancel()
            }
        }
        return await flight.value(ifCancelled: nil)
    }

    @concurrent private func run(_ flight: Flight) async {
        do {
            let fetched = try await fetch()
            land(flight, .success(try JWKSet(fetched.text, signatures)), keptFor: fetched.lifetime)
        } catch {
            land(flight, .failure(error))
        }
    }

    /// Records the result of a fetch, unless its time is over and another one may run.
    private func land(
        _ flight: Flight, _ result: Result<JWKSet, any Error>, keptFor lifetime: Duration? = nil
    ) {
        let snapshot = state.withLock { state -> Snapshot?? in
            guard state.flight === flight else { return nil }
            state.flight = nil
            guard case .success(let set) = result else {
                state.failedAt = clock.now
                return .some(nil)
            }
            let snapshot = Snapshot(set: set, number: (state.current?.number ?? 0) + 1)
            state.current = snapshot
            state.fetchedAt = clock.now
            state.lifetime = JWTVerifier.Options.clampedLifetime(lifetime ?? self.lifetime)
            state.failedAt = nil
            return snapshot
        }
        guard let snapshot else { return }
        if case .failure(let error) = result { onFailure?(error) }
        flight.finish(snapshot)
    }
}
