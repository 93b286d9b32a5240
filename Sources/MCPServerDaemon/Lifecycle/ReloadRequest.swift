import MCPCore

/// The request for a reload, which takes as long as it takes: that of a server that starts begins once its
/// required servers are connected.
struct ReloadRequest {
    let client: AdminClient
    /// The time to wait; nil while the server works.
    let limit: Duration?

    /// The time after which a person hears why the answer does not come, and again when the reason changes.
    private static let pause = Duration.seconds(2)
    /// The longest time that is waited for: longer than any start.
    private static let longest = Duration.seconds(7 * 86_400)

    private typealias Outcome = OneShot<Result<AdminClient.Answer, any Error>>

    /// Sends it, and waits for what comes of it.
    ///
    /// - Throws: what the server does meanwhile when the time is over; that it does not answer at all.
    func send() async throws(AdminClient.Failure) -> AdminClient.Answer {
        let outcome = Outcome()
        let request = Task {
            do throws(AdminClient.Failure) {
                outcome.finish(.success(try await client.send("POST", "/reload", within: Self.longest)))
            } catch {
                outcome.finish(.failure(error))
            }
        }
        let watch = Task { await follow(outcome) }
        defer {
            request.cancel()
            watch.cancel()
        }
        do {
            return try await outcome.get()
        } catch let failure as AdminClient.Failure {
            throw failure
        } catch {
            throw AdminClient.Failure(text: "the request was cancelled", hint: "send it again")
        }
    }

    /// Asks what the server does until there is an outcome, or the time is over.
    private func follow(_ outcome: Outcome) async {
        let end = limit.map { ContinuousClock().now + $0 }
        var shown = ""
        while !Task.isCancelled {
            let left = end.map { ContinuousClock().now.duration(to: $0) } ?? Self.pause
            guard (try? await Task.sleep(for: min(left, Self.pause))) != nil else { return }
            let isOver = end.map { $0 <= ContinuousClock().now } ?? false
            let work: String
            do throws(AdminClient.Failure) {
                let time = isOver ? Self.pause : AdminClient.timeout
                work = Self.work(try ControlCommand.json(await client.send("GET", "/status", within: time)))
            } catch {
                // The request itself hears that the server has ended.
                if !isOver, error.isMissing { continue }
                if !isOver { return fail(outcome, error) }
                work = "the server does not answer"
            }
            if isOver, let limit { return fail(outcome, Self.late(limit, work)) }
            if Terminal.errorIsTerminal, work != shown {
                Terminal.error(["waiting: \(work)"])
                shown = work
            }
        }
    }

    private func fail(_ outcome: Outcome, _ failure: AdminClient.Failure) {
        outcome.finish(.failure(failure))
    }

    private static func late(_ limit: Duration, _ work: String) -> AdminClient.Failure {
        AdminClient.Failure(
            text: "not reloaded within \(Units.describe(limit)): \(work)",
            hint: "the request stands; mcp-server status shows what has come of it")
    }

    /// Returns what a server does, by its status.
    static func work(_ status: JSONValue) -> String {
        switch status["state"]?.stringValue.flatMap(ServerState.Phase.init(rawValue:)) {
        case .draining: return "the server is stopping"
        case .starting where status["reloading"] == nil:
            let names = (status["upstreams"]?.arrayValue ?? []).filter {
                $0["state"]?.stringValue != UpstreamStatus.State.ready.rawValue
            }.compactMap { $0["name"]?.stringValue }
            let rest = names.isEmpty ? "" : ", and is not connected to: \(names.joined(separator: ", "))"
            return ControlCommand.sanitized("the server is starting\(rest)")
        default:
            return status["reloading"] == true
                ? "the configuration is being read" : "the reload has not begun"
        }
    }
}
