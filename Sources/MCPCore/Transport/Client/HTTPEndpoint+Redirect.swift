extension ClientError {
    /// Creates the error for a redirect, which the exchange itself never follows.
    init(redirect location: String?, _ status: Int) {
        self.init(redirect: location, shown: location.map { SecretMask.url($0) }, status)
    }
}

extension HTTPEndpoint {
    /// Returns the URL that a redirect leads to, if it may be followed: 307 and 308 repeat the request as it
    /// is, and only at the same scheme, host and port, so that no credential leaves the origin.
    func redirected(by error: ClientError) -> String? {
        guard error.kind == .redirect, let status = error.httpStatus, [307, 308].contains(status),
            let location = error.location, case .host = place, let target = try? target(of: location),
            target != self.target
        else { return nil }
        return url(target)
    }
}
