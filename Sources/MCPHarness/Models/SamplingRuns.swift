public import MCPCore
import Synchronization

/// Server code that uses the model of the client, in every revision (client/sampling).
///
/// Up to 2025-11-25 the client answers while the handler waits. In 2026-07-28 each question to the model ends
/// the call, and the client sends the call again with the answer. The running code is kept in memory in the
/// meantime, so that no tool runs twice. A run is kept for five minutes, by the instance that began it;
/// elsewhere or later, the call fails with an explanation.
public final class SamplingRuns: Sendable {
    private struct Kept {
        let run: SampledRun
        let until: MonotonicInstant
    }

    /// The maximum number of runs that wait for their client: 256. The oldest is ended to make room for a new
    /// one.
    static let maxKept = 256
    /// The maximum time for which a run waits.
    static let patience: Duration = .seconds(300)

    /// The waiting runs, ordered by time: all of them wait for the same duration.
    private let kept: Mutex<BoundedTable<String, Kept>>
    private let clock: any TimeSource
    private let maxTokens: Int

    /// - Parameter maxTokens: the maximum length of the model's answer, in tokens.
    public convenience init(maxTokens: Int = 4_096) {
        self.init(maxTokens: maxTokens, clock: SystemClock())
    }

    init(maxTokens: Int = 4_096, clock: any TimeSource, maxKept: Int = SamplingRuns.maxKept) {
        self.maxTokens = maxTokens
        kept = Mutex(BoundedTable(capacity: maxKept, policy: .evictOldest))
        self.clock = clock
    }

    /// The number of runs waiting for their client.
    var count: Int { kept.withLock { $0.count } }

    /// Runs `body` with the model of the client that made this call.
    ///
    /// - Parameter body: started once per call, however often the handler runs.
    /// - Throws: any error of `body`; any error of `RequestContext.sample`; `ToolError` when the run that
    ///   this call continues no longer exists.
    public func run<R: Sendable>(
        in context: RequestContext, _ body: @escaping @Sendable (SamplingModel) async throws -> R
    ) async throws -> R {
        let run = try begin(context, body)
        return try await withTaskCancellationHandler {
            while true {
                switch await run.next() {
                case .ended(let result):
                    guard let value = try result.get() as? R else { throw Self.gone }
                    return value
                case .asks(let question): try await answer(question, run, context)
                }
            }
        } onCancel: {
            // A call that ends with a question has ended, but its run has not.
            if !isKept(run) { run.cancel() }
        }
    }

    private func begin<R: Sendable>(
        _ context: RequestContext, _ body: @escaping @Sendable (SamplingModel) async throws -> R
    ) throws -> SampledRun {
        if let id = context.state?["run"]?.stringValue {
            guard let run = take(id) else { throw Self.gone }
            return run
        }
        let run = SampledRun()
        let model = SamplingModel(run, maxTokens: maxTokens)
        run.start { try await body(model) }
        return run
    }

    private func answer(
        _ question: SampledRun.Question, _ run: SampledRun, _ context: RequestContext
    ) async throws {
        if context.protocolVersion.isModern { keep(run) }
        let key = "model-\(question.number)"
        let answers: InputResponses
        do {
            answers = try await context.ask(
                [key: .sample(question.request)], state: ["run": .string(run.id)])
        } catch {
            // The error may have ended only this round; the run then continues with the next one.
            if !isKept(run) { run.cancel() }
            throw error
        }
        _ = take(run.id)
        run.answer(question, Result { try answers.sampling(key) })
    }

    // MARK: Waiting runs

    private func keep(_ run: SampledRun) {
        let now = clock.now
        let ended = kept.withLock { kept -> [SampledRun] in
            var ended: [SampledRun] = []
            kept.removeOldest { _, waiting in
                guard waiting.until <= now else { return false }
                ended.append(waiting.run)
                return true
            }
            // At the end of the order, even if the run was waiting before.
            kept.remove(run.id)
            if case .evicted(_, let oldest) = kept.insert(
                Kept(run: run, until: now + Self.patience), for: run.id)
            {
                ended.append(oldest.run)
            }
            return ended
        }
        for run in ended { run.cancel() }
    }

    private func take(_ id: String) -> SampledRun? {
        let now = clock.now
        guard let found = kept.withLock({ $0.remove(id) }) else { return nil }
        guard found.until > now else {
            found.run.cancel()
            return nil
        }
        return found.run
    }

    private func isKept(_ run: SampledRun) -> Bool { kept.withLock { $0.contains(run.id) } }

    private static var gone: ToolError {
        ToolError(
            "The work of this call has ended: its answer arrived too late or elsewhere; call again"
        )
    }
}
