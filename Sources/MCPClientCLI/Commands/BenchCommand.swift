import MCPCore

/// `bench`: calls one tool many times and reports how long the calls took.
struct BenchCommand {
    let session: Session
    private var options: Options { session.options }

    /// The largest number of calls that open connections and fill caches before the measured ones.
    private static let maxWarmUp = 200

    func run(_ name: String, _ words: [String]) async throws(Failure) -> ExitCode {
        if try await ToolCommand(session: session).helped(name, words) { return .ok }
        let arguments = try await CallCommand(session: session).arguments(
            name, words, session.environment.input.rereadable)
        let params: JSONObject = ["name": .string(name), "arguments": .object(arguments)]
        let load = Load(client: session.client, params: params, timeout: options.timeout)
        let count = options.benchCount
        // The first response shows whether there is anything to measure.
        let first = await load.callOnce()
        if let text = first.error {
            var failure = Failure(
                code: .toolError, kind: .toolError, message: "\(inlineText(name)) failed: \(text)")
            if case .noResult(let error) = first {
                // The status is that of the same call by itself.
                let cause = FailureMapping.failure(
                    error, method: "tools/call", subject: name, invocation: session.invocation)
                if cause.kind == .interrupted { throw cause }
                (failure.code, failure.kind, failure.rpc) = (cause.code, cause.kind, cause.rpc)
                (failure.details, failure.status) = (cause.details, cause.status)
                failure.message = "\(inlineText(name)) failed: \(cause.message)"
            }
            failure.hint =
                "bench measures calls that succeed; try: "
                + session.invocation.line("call", [ShellWord.quote(name)])
            throw failure
        }
        _ = await load.run(min(Self.maxWarmUp, count / 10), tasks: options.benchConcurrency)
        let processor = ServerProcessor(session.invocation.target)
        let before = processor?.seconds
        let start = ContinuousClock.now
        let tally = await load.run(count, tasks: options.benchConcurrency)
        let elapsed = ContinuousClock.now - start
        let used = before.flatMap { before in processor?.seconds.map { $0 - before } }
        let report = BenchReport(tally, elapsed: elapsed, tasks: options.benchConcurrency, processor: used)
        // Measurements taken before an interruption are worth showing.
        if options.json { session.console.json(RawJSON(report.json)) } else { print(report) }
        if Task.isCancelled { throw StopReason.interrupted }
        return tally.errors == 0 ? .ok : .toolError
    }

    private func print(_ report: BenchReport) {
        session.console.line(report.line)
        if let line = report.processorLine { session.console.line(line) }
        if let error = report.firstError { session.console.line("first error: \(error)") }
        session.console.note(session.console.noteStyle.dim(session.identity))
    }
}
