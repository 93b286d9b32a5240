extension TokenVerifications {
    /// Checks the credential of an open stream again.
    func judge(_ credential: Credential) async -> StreamWatch.Judgement {
        let outcome = await withCheckedContinuation { continuation in
            verify(UnverifiedCredential(credential, wasGood: true)) { continuation.resume(returning: $0) }
        }
        switch outcome {
        case .success(let identity):
            // A process that no rule is about any more may still be served as anybody is.
            return identity.principal.kind != .anonymous && identity.hasRequiredScopes ? .good : .refused
        case .failure(let response): return response.status == 503 ? .unknown : .refused
        }
    }
}

extension Dispatcher {
    /// Ends a request with a stream because of its caller's token: a subscription in the usual way, and a
    /// call with an error, but only if the token was refused.
    func end(_ exchange: PendingRequest, because end: StreamWatch.End) {
        endSubscriptions(of: exchange.key.channelID)
        guard end == .refused, !exchange.isEndless else { return }
        var writer = JSONWriter()
        let refusal = Refusal(.interrupted("The token of this request was revoked"))
        ResultEnvelope.error(
            refusal.error, id: exchange.key.id.json.bytes, to: &writer, for: exchange.revision)
        exchange.fail(Answer(bytes: writer.finish(), status: refusal.status))
    }
}
