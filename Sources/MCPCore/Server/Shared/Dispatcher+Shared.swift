import Synchronization

/// Rounds of questions that any instance may be asked to continue (MRTR-11).
extension Dispatcher {
    /// Runs the handler of a retry and sends its response, if no other instance serves or has completed
    /// the call.
    func settle(
        _ call: DeferredCall, in chain: RequestState.Chain, claimedIn shared: SharedState,
        _ body: @Sendable (DeferredCall) async -> Answer?
    ) async {
        let claim = await shared.claim(chain, lifetime: options.stateLifetime)
        guard claim == .granted else {
            call.input.withLock { $0.refusal = Self.refusal(claim) }
            return settle(call, Answer(bytes: ByteSlice(), status: 500))
        }
        guard let first = await body(call) else { return }
        let answer = conclude(call, first)
        // Before the response: the next round may be faster than this instance.
        if !stateLedger.isUsed(chain) { await shared.release(chain) }
        let isSent = finish(call, answer)
        if !isSent, !stateLedger.isUsed(chain) { await shared.release(chain) }
    }

    private static func refusal(_ claim: SharedState.Claim) -> MCPError {
        if claim == .unknown {
            return MCPError(
                code: MCPError.overloadedCode,
                message: "Whether this requestState was already used cannot be determined now; "
                    + "nothing was done: try again later")
        }
        return .invalidParams(
            "This requestState was already used, or the server that was serving it has ended; "
                + "send the request again without requestState and inputResponses")
    }
}
