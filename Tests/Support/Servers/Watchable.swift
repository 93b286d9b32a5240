package import MCPCore

/// A server with one resource, one template and providers, and addresses that it can tell changes of or not.
package enum Watchable {
    package static let yes = ["mem://a", "item:7", "any:x", "fits:1", "chosen:y"]
    package static let no = ["mem://b", "item:7/8", "nope:x", "fits:1/2", "chosen:n"]

    package static func server() throws -> MCPServer {
        let server = MCPServer("watchable", version: "1")
        try server.register(Resource("mem://a", name: "a")) { _ in [] }
        _ = try server.covering("item:{n}")
        server.register(Provider(template: "fits:{n}"))
        server.register(Chooser())
        return server
    }

    private struct Provider: ResourceProvider {
        let template: String

        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) { ([], nil) }
        func templates() -> [ResourceTemplate] { [ResourceTemplate(template, name: template)] }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? { nil }
    }

    private struct Chooser: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) { ([], nil) }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? { nil }
        func reportsChanges(of uri: String) -> Bool { ["any:x", "chosen:y"].contains(uri) }
    }
}
