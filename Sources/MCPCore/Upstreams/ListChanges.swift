/// The reader of notifications about lists, which reads the lists again no more often than its pause allows.
final class ListChanges: Sendable {
    /// Reads the lists again after each change, until the subscription ends.
    func follow(_ subscription: Subscription, _ refresh: @Sendable () async -> Void) async {
        var pause = UpstreamLimits.refreshPause.first
        var last = SystemClock().now
        do {
            for try await _ in subscription {
                let now = SystemClock().now
                // A server whose lists change all the time is read less and less often.
                pause =
                    now - last < pause * 3
                    ? min(pause * 2, UpstreamLimits.refreshPause.longest)
                    : UpstreamLimits.refreshPause.first
                try await Task.pause(for: max(.milliseconds(20), pause - (now - last)))
                await refresh()
                last = SystemClock().now
            }
        } catch {
            // The connection has ended; the next one has another subscription.
        }
    }
}
