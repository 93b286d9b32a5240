/// An argument whose values can be completed.
struct CompletionEntry: Sendable {
}

/// `completion/complete` (server/utilities/completion).
extension Dispatcher {
    func complete(
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        fail(request, .methodNotFound(request.message.method), &writer)
    }
}
