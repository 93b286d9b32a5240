import MCPCore
import Synchronization

/// Asks for approvals, one at a time, in the order in which they came.
package actor ApprovalCoordinator {
    private let handler: ApprovalHandler?
    var hasHandler: Bool { handler != nil }
    private let decisions: RememberedDecisions
    private let timeout: Duration?
    private var isAsking = false
    /// As many as there are calls at work.
    private var waiting = BoundedTable<Int, CheckedContinuation<Void, any Error>>(
        capacity: .max, policy: .refuse)
    private var lastID = 0

    /// - Parameter handler: the one who decides; nil when nobody is there.
    package init(_ handler: ApprovalHandler?, _ decisions: RememberedDecisions, timeout: Duration?) {
        self.handler = handler
        self.decisions = decisions
        self.timeout = timeout
    }

    /// - Parameter emit: told `approvalRequested` when it is this question's turn, before the handler, and
    ///   `warning` when the decision cannot be kept.
    /// - Throws: `CancellationError` when the caller gives up.
    func decide(
        _ request: ApprovalRequest, _ emit: @Sendable (HarnessEvent) -> Void
    ) async throws -> ApprovalDecision {
        let key = DecisionKey(source: request.invocation.source, tool: request.tool)
        try await turn()
        defer { next() }
        // The turn may have come at the moment at which the caller gave up.
        try Task.checkCancellation()
        // The question before may have been about the same tool.
        if decisions.holds(key) { return .approved() }
        emit(.approvalRequested(request))
        guard let handler else { return .denied(reason: "nobody is there to approve it") }
        let decision: ApprovalDecision
        do {
            decision = try await Race.run(within: timeout) { await handler(request) }
        } catch is Race.TimedOut {
            return .denied(reason: "nobody approved it in time")
        }
        if case .approved(let scope) = decision {
            do { try decisions.keep(key, scope) } catch {
                emit(.warning("The decision on \(request.tool.name) holds for this run only: \(error)"))
            }
        }
        return decision
    }

    // MARK: One at a time

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
