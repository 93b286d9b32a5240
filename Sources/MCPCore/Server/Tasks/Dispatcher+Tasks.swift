/// `tasks/get`, `tasks/update` and `tasks/cancel` (`io.modelcontextprotocol/tasks`).
extension Dispatcher {
    func serveTask(_ request: Request, _ writer: inout JSONWriter) -> Disposition {
        fail(request, .methodNotFound(request.message.method), &writer)
    }
}

extension Dispatcher {
    /// The tasks that a subscription may watch: none without the extension.
    func honouredTasks(_ ids: [String], _ request: Request) throws(MCPError) -> [String] { [] }
}
