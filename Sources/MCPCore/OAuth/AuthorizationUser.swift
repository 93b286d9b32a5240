/// The way to the person who logs in: it shows them a page and returns the address to which the authorization
/// server then sent their browser.
public struct AuthorizationUser: Sendable {
    /// A page to be visited.
    public struct Page: Sendable {
        /// The address of the page; https, or http on a loopback host. Contains no secret of the client.
        public let url: String
        /// The issuer that the page belongs to, for people.
        public let issuer: String
        /// The longest time to wait for the redirect.
        public let timeout: Duration
    }

    /// A place that waits for the redirect; it exists before the page is shown.
    public protocol Visit: Sendable {
        /// The redirect URI.
        var redirectURI: String { get }

        /// Shows the page, and returns the URL of the redirect for which `accepts` returns true. Others are
        /// answered and ignored, so that a wrong redirect does not end the login (AUTH-22).
        ///
        /// - Throws: `AuthorizationError` of the kinds `.timedOut`, `.cancelled` and `.loginRequired`.
        func redirect(
            from page: Page, accepts: @escaping @Sendable (String) -> Bool
        ) async throws(AuthorizationError) -> String

        /// Stops waiting and frees the port, after the browser has been given its last page. May be called
        /// again.
        func close() async
    }

    /// Opens a place for the redirect. `redirectURI` is the registered one, if there is one: it throws
    /// `.usage` when its port is busy, and the client then registers anew.
    public let open: @Sendable (_ redirectURI: String?) async throws(AuthorizationError) -> any Visit

    /// Creates a way to the user.
    public init(
        open: @escaping @Sendable (_ redirectURI: String?) async throws(AuthorizationError) -> any Visit
    ) {
        self.open = open
    }
}
