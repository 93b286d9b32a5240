/// `logging/setLevel` of the handshake revisions (2025-11-25 server/utilities/logging).
extension Dispatcher {
    func setLevel(_ request: Request, _ writer: inout JSONWriter) -> Disposition {
        fail(request, .methodNotFound(request.message.method), &writer)
    }
}
