extension Task where Success == Never, Failure == Never {
    /// Waits for this time, or until the task is cancelled.
    ///
    /// Unlike `sleep(for:)`, it leaves nothing behind when it is cancelled: that keeps 700 bytes until the
    /// time is over. It also takes every duration; `sleep(for:)` traps for one that no clock can represent.
    ///
    /// - Throws: `CancellationError`.
    package static func pause(for duration: Duration) async throws {
        try Task.checkCancellation()
        let end = OneTimeEvent()
        let timer = WatchSource.after(duration) { end.happen() }
        await end.wait()
        timer.cancel()
        try Task.checkCancellation()
    }
}
