/// Options for the behavior of a harness.
public struct HarnessOptions: Sendable {
    /// Whether a denied call ends the turn with `toolApprovalDenied` instead of a result for the model.
    public var throwsOnDenial = false
    /// The store for the user's decisions.
    public var decisions = RememberedDecisions()

    /// Creates an instance with the default values.
    public init() {}
}

/// A turn in progress.
public struct StreamHandle: Sendable {
    /// The events of the turn. The stream ends with `completed`, or throws the errors that `ToolHarness.send`
    /// throws.
    public let events: AsyncThrowingStream<HarnessEvent, any Error>
    let task: Task<Void, Never>

    /// Stops the turn: calls in progress are cancelled, and the events end with `CancellationError`.
    public func cancel() { task.cancel() }

    /// Waits until the turn has ended: what the harness keeps of it is then in its transcript.
    ///
    /// The events of a reader that is cancelled end earlier. Cancelling the caller does not end the wait, and
    /// does not stop the turn; a turn that was cancelled waits for neither its calls nor its model.
    public func waitUntilEnded() async { await task.value }
}
