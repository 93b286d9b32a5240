import MCPApps
import MCPCore

/// The handler of the page, its events and its requests (systems "HTTP surface, listener A").
///
/// The listener has already checked `Host` and `Origin`; everything below `/api/` requires the token.
struct HostHandler: HTTPRequestHandler {
    let host: AppHost
    let feed: HostFeed
    let ports: SandboxPorts
    let token: HostToken
    /// Adds the server at an address that the page gives.
    let connect: @Sendable (String) async throws(Failure) -> Void
    /// Opens a port for each server's views.
    let openPorts: @Sendable () throws -> Void

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard request.path.hasPrefix("/api/") else { return asset(request) }
        guard token.isShown(in: request.headers["Authorization"]) else {
            return HostAnswer.make(
                401, type: "application/json", Array(#"{"error":"Missing or wrong token"}"#.utf8),
                [("WWW-Authenticate", "Bearer")])
        }
        do {
            return try await HostCommands(handler: self, request: request).run()
        } catch let error as HostRefusal {
            return HostAnswer.problem(error.status, error.text)
        } catch let error as AppHostError {
            return HostAnswer.problem(404, error.description)
        } catch let error as Failure {
            return HostAnswer.problem(422, ([error.message] + error.details).joined(separator: "; "))
        } catch {
            return HostAnswer.problem(500, "\(error)")
        }
    }

    private func asset(_ request: HTTPRequest) -> HTTPResponse {
        guard let asset = HostAssets.asset(atPath: request.path) else {
            return HostAnswer.text(404, "Not found")
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return HostAnswer.text(405, "Only GET", [("Allow", "GET, HEAD")])
        }
        return HostAnswer.make(
            200, type: asset.type, asset.bytes,
            [
                ("Content-Security-Policy", policy),
                // A page that opened this one gets no hold of its window.
                ("Cross-Origin-Opener-Policy", "same-origin"),
            ])
    }

    /// The policy for what the page may load: itself, the frames of views, and the images and sounds of
    /// results.
    private var policy: String {
        [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
            "img-src 'self' data: blob:", "media-src data:",
            "frame-src \(ports.sources.joined(separator: " "))", "frame-ancestors 'none'",
            "base-uri 'none'", "form-action 'none'",
        ].joined(separator: "; ")
    }
}

/// The reason why a request from the page is refused.
struct HostRefusal: Error {
    let status: Int
    let text: String

    static func malformed(_ what: String) -> HostRefusal {
        HostRefusal(status: 400, text: "\(what); nothing was done")
    }
}
