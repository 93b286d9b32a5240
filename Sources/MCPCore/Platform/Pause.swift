extension Task where Success == Never, Failure == Never {
    /// Sleeps like `sleep(for:)`, but caps the duration at 290 million years: `sleep(for:)` traps for a
    /// duration that no clock can represent.
    package static func pause(for duration: Duration) async throws {
        try await Task.sleep(for: min(duration, .seconds(Int64.max / 1_000)))
    }
}
