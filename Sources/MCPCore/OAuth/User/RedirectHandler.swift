import Synchronization

/// The pages of a redirect listener: the redirect itself and the fixed page after it.
///
/// Everything else is refused and changes nothing, so that no other page or program can end a login.
final class RedirectHandler: HTTPRequestHandler {
    private struct State {
        /// Takes a redirect and returns whether it belongs to the login; nil while none is expected.
        var take: (@Sendable (String) -> Bool)?
        var isTaken = false
    }

    private let address: RedirectAddress
    private let state = Mutex(State())
    /// Happens when the browser has been given the last page.
    let isDone = OneTimeEvent()

    init(_ address: RedirectAddress) { self.address = address }

    /// Whether the redirect has come.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// Passes redirects to `take` from now on.
    func expect(_ take: @escaping @Sendable (String) -> Bool) { state.withLock { $0.take = take } }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard request.headers["Host"]?.lowercased() == address.authority else {
            return Self.refusal("This host is not served here", 400)
        }
        let path = String(decoding: request.target.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        let isPage = path == Self.donePath && isTaken
        guard path == address.path || isPage else { return Self.refusal("Not found", 404) }
        guard request.method == "GET" else {
            return Self.refusal("Only GET is served here", 405, ["Allow": "GET"])
        }
        if isPage {
            isDone.happen()
            return Self.page
        }
        guard let take = state.withLock({ $0.take }), take(address.origin + request.target) else {
            return Self.refusal("This is not the response to the login", 400)
        }
        state.withLock { $0.isTaken = true }
        return HTTPResponse(status: 303, headers: Self.fields(["Location": Self.donePath]))
    }

    static let donePath = "/done"

    private static let page = HTTPResponse(
        status: 200,
        headers: fields(["Content-Type": "text/html; charset=utf-8"]),
        body: .bytes(
            Array(
                """
                <!doctype html>
                <html lang="en"><meta charset="utf-8"><title>Login</title>
                <p>The login continues in the program that opened this page. You can close it now.</p></html>

                """.utf8)))

    private static func refusal(
        _ text: String, _ status: Int, _ more: [String: String] = [:]
    ) -> HTTPResponse {
        let type = ["Content-Type": "text/plain; charset=utf-8"]
        return HTTPResponse(
            status: status, headers: fields(type.merging(more) { $1 }),
            body: .bytes(Array((text + "\n").utf8)))
    }

    private static func fields(_ more: [String: String]) -> HeaderFields {
        let all = [
            "Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
        ].merging(more) { $1 }
        var fields = HeaderFields()
        for (name, value) in all.sorted(by: { $0.key < $1.key }) { try? fields.append(name, value) }
        return fields
    }
}
