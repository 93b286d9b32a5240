import MCPCore
import Synchronization

/// Requests approvals one at a time, in the order in which they arrive.
package actor ApprovalCoordinator {
    private let handler: ApprovalHandler?
    var hasHandler: Bool { handler != nil }
    private let decisions: RememberedDecisions
    private let timeout: Duration?
    /// The tools about which somebody decided in this run.
    private var decidedHere: Set<String> = []
    private var isAsking = false
    /// The waiting calls; at most as many as there are calls in progress.
    private var waiting = BoundedTable<Int, CheckedContinuation<Void, any Error>>(
        capacity: .max, policy: .refuse)
    private var lastID = 0

    /// - Parameter handler: the handler that decides; nil when no one can approve.
    package init(_ handler: ApprovalHandler?, _ decisions: RememberedDecisions, timeout: Duration?) {
        self.handler = handler
        self.decisions = decisions
        self.timeout = timeout
    }

    /// The largest arguments that anybody is asked about: 1 MiB.
    static let maxArgumentBytes = 1 << 20

    /// A decision, and whether the handler made it just now.
    struct Outcome: Sendable {
        let decision: ApprovalDecision
        var wasAsked = false
    }

    /// Decides on a call, and calls the handler if no remembered decision applies.
    ///
    /// - Parameter emit: receives `approvalRequested` when this request's turn comes, before the handler is
    ///   called; `approvalRemembered` when an earlier decision allows the call; and `warning` when the
    ///   decision cannot be saved.
    /// - Throws: `CancellationError` when the caller gives up.
    func decide(
        _ request: ApprovalRequest, _ emit: @Sendable (HarnessEvent) -> Void
    ) async throws -> Outcome {
        let key = DecisionKey(source: request.sourceIdentity, tool: request.tool)
        try await turn()
        defer { next() }
        // The turn may have come just as the caller gave up.
        try Task.checkCancellation()
        // The previous request may have been for the same tool.
        let isKnown = !request.asksAnew || decidedHere.contains(key.text)
        if let allows = decisions.allows(key), isKnown || !allows {
            if allows { emit(.approvalRemembered(request)) }
            return Outcome(decision: allows ? .approved() : .denied(reason: "the user never allows it"))
        }
        guard let handler else {
            return Outcome(decision: .denied(reason: "no one is available to approve it"))
        }
        let size = request.invocation.arguments.utf8.count
        guard size <= Self.maxArgumentBytes else {
            let reason = "its arguments have \(size) bytes, and nobody is asked about more than "
            return Outcome(decision: .denied(reason: "\(reason)\(Self.maxArgumentBytes)"))
        }
        emit(.approvalRequested(request))
        let decision: ApprovalDecision
        do {
            decision = try await Race.run(within: timeout) { await handler(request) }
        } catch is Race.TimedOut {
            return Outcome(decision: .denied(reason: "it was not approved in time"), wasAsked: true)
        }
        let (allows, scope): (Bool, RememberScope) =
            switch decision {
            case .approved(let scope): (true, scope)
            case .denied(_, let scope): (false, scope)
            }
        if scope != .once { decidedHere.insert(key.text) }
        do { try await decisions.keep(key, allows: allows, scope) } catch {
            emit(.warning("The decision on \(request.tool.name) applies to this run only: \(error)"))
        }
        return Outcome(decision: decision, wasAsked: true)
    }

    // MARK: Queueing

    private func turn() async throws {
        guard isAsking else {
            isAsking = true
            return
        }
        lastID += 1
        let id = lastID
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                waiting.insert(continuation, for: id)
            }
        } onCancel: {
            Task { await self.giveUp(id) }
        }
    }

    private func giveUp(_ id: Int) {
        waiting.remove(id)?.resume(throwing: CancellationError())
    }

    private func next() {
        if let next = waiting.removeOldest() { next.value.resume() } else { isAsking = false }
    }
}
