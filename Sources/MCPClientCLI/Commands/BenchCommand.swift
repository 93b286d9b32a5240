import MCPCore

/// `bench`: calls one tool many times and reports how long the calls took.
struct BenchCommand {
    let session: Session
    private var options: Options { session.options }

    func run(_ name: String, _ words: [String]) async throws(Failure) -> ExitCode {
        if try await ToolCommand(session: session).helped(name, words) { return .ok }
        let arguments = try await CallCommand(session: session).arguments(
            name, words, session.environment.input.rereadable)
        let count = options.benchCount
        try await CallCommand(session: session).confirm(name, times: count)
        let params: JSONObject = ["name": .string(name), "arguments": .object(arguments)]
        let load = Load(client: session.client, params: params, timeout: options.timeout)
        let processor = ServerProcessor(session.invocation.target)
        let before = processor?.seconds
        // The first response shows whether there is anything to measure.
        let start = ContinuousClock.now
        let outcome = await load.callOnce()
        let first = ContinuousClock.now - start
        if let text = outcome.error { throw failure(name, outcome, text) }
        var tally = Load.Tally(times: [first.nanosecondsClamped])
        let others = await load.run(count - 1, tasks: options.benchConcurrency)
        let elapsed = ContinuousClock.now - start
        tally.add(others)
        let used = before.flatMap { before in processor?.seconds.map { $0 - before } }
        // The first call runs alone, and the rate is that of the others.
        let rate =
            others.times.isEmpty
            ? BenchReport.rate(1, in: first) : BenchReport.rate(others.times.count, in: elapsed - first)
        let report = BenchReport(
            tally, elapsed: elapsed, perSecond: rate, tasks: options.benchConcurrency, processor: used)
        // Measurements taken before an interruption are worth showing.
        if options.json { session.console.json(RawJSON(report.json)) } else { print(report) }
        if Task.isCancelled { throw StopReason.interrupted }
        return tally.errors == 0 ? .ok : .toolError
    }

    private func failure(_ name: String, _ outcome: Load.Outcome, _ text: String) -> Failure {
        var failure = Failure(
            code: .toolError, kind: .toolError, message: "\(inlineText(name)) failed: \(text)")
        if case .noResult(let error) = outcome {
            // The status is that of the same call by itself.
            let cause = FailureMapping.failure(
                error, method: "tools/call", subject: name, invocation: session.invocation)
            if cause.kind == .interrupted { return cause }
            (failure.code, failure.kind, failure.rpc) = (cause.code, cause.kind, cause.rpc)
            (failure.details, failure.status) = (cause.details, cause.status)
            failure.message = "\(inlineText(name)) failed: \(cause.message)"
        }
        failure.hint =
            "bench measures calls that succeed; try: "
            + session.invocation.line("call", [ShellWord.quote(name)])
        return failure
    }

    private func print(_ report: BenchReport) {
        session.console.line(report.line)
        if let line = report.processorLine { session.console.line(line) }
        if let error = report.firstError { session.console.line("first error: \(error)") }
        session.console.note(session.console.noteStyle.dim(session.identity))
    }
}
