/// `subscriptions/listen`, and `resources/subscribe` of the handshake revisions.
extension Dispatcher {
    func listen(_ request: Request, _ writer: inout JSONWriter, _ sink: SinkMaker) -> Disposition {
        fail(request, .methodNotFound(request.message.method), &writer)
    }

    func subscribe(_ request: Request, _ writer: inout JSONWriter) -> Disposition {
        fail(request, .methodNotFound(request.message.method), &writer)
    }

    func unsubscribe(_ request: Request, _ writer: inout JSONWriter) -> Disposition {
        fail(request, .methodNotFound(request.message.method), &writer)
    }
}
