extension Task where Success == Never, Failure == Never {
    /// Sleeps like `sleep(for:)`, which traps for a time that no clock can hold: such a time is 290 million
    /// years here.
    package static func pause(for duration: Duration) async throws {
        try await Task.sleep(for: min(duration, .seconds(Int64.max / 1_000)))
    }
}
