extension ClientError {
    /// Creates the error for a failure of TLS on a connection to `place` on which nothing was sent yet.
    init(_ error: TLSError, _ place: String) {
        let kind: Kind =
            switch error.kind {
            // A trust file is an argument from the caller.
            case .trust: .invalidRequest
            case .connection: .cannotConnect
            default: .tls
            }
        self.init(
            kind, "cannot connect to \(place): \(error.message)", details: error.details, hint: error.hint)
    }
}
