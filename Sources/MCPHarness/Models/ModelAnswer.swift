/// An answer produced piece by piece, each when its reader requests more: nothing is buffered in between.
actor ModelAnswer {
    private let more: @Sendable () async throws -> [ModelEvent]?
    private var ready: ArraySlice<ModelEvent> = []

    private init(_ more: @escaping @Sendable () async throws -> [ModelEvent]?) { self.more = more }

    private func next() async throws -> ModelEvent? {
        while ready.isEmpty {
            guard let events = try await more() else { return nil }
            ready = events[...]
        }
        return ready.popFirst()
    }

    /// - Parameter more: returns the next events, and nil at the end; called when the previous events have
    ///   been read.
    static func stream(
        _ more: @escaping @Sendable () async throws -> [ModelEvent]?
    ) -> AsyncThrowingStream<ModelEvent, any Error> {
        let answer = ModelAnswer(more)
        return AsyncThrowingStream { try await answer.next() }
    }
}
