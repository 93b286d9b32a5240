import MCPApps
import MCPCore

/// The handler of the outer frames of views, each with its own policy, and of nothing else (systems "HTTP
/// surface, listener B").
struct SandboxHandler: HTTPRequestHandler {
    let host: AppHost
    let ports: SandboxPorts
    /// The origin of the page.
    let page: String

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            return HostAnswer.text(405, "Only GET", [("Allow", "GET, HEAD")])
        }
        let name = request.headers["Host"] ?? ""
        if request.path == "/probe", name.lowercased().hasPrefix("probe.localhost:") {
            let policy = "default-src 'none'; script-src 'unsafe-inline'; frame-ancestors \(page)"
            return HostAnswer.document(HostAssets.probe(host: page), policy: policy)
        }
        guard let id = ports.view(host: name, path: request.path), let view = await host.view(id),
            ports.serves(server: view.server, atPort: port(of: name))
        else { return HostAnswer.text(404, "There is no such view") }
        let document = HostAssets.sandbox(host: page, allow: Self.allow(view))
        return HostAnswer.document(
            document, policy: view.csp.header(hostOrigin: page), [("Permissions-Policy", Self.denied)])
    }

    /// Returns the port of a server; nil for the port of the names, which all views share.
    private func port(of host: String) -> UInt16? {
        guard host.hasPrefix("127.0.0.1:") else { return nil }
        return UInt16(host.dropFirst(10))
    }

    /// The features that no view has, as a policy of the document, besides that of its frame.
    private static let denied = UIPermission.deniedFeatures.map { "\($0)=()" }.joined(separator: ", ")

    /// The `allow` attribute of a view's frames.
    static func allow(_ view: HostedView) -> String { UIPermission.allowAttribute(view.permissions) }
}
