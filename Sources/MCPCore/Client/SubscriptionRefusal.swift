/// The reasons why a server did not begin a subscription.
package enum SubscriptionRefusal {
    /// Whether the reason may pass: the server is stopping, or is too busy. Otherwise it has no such
    /// subscriptions, or cannot be reached.
    package static func mayPass(_ error: any Error) -> Bool {
        if let error = error as? MCPError { return error.code == MCPError.interruptedCode }
        guard let error = error as? ClientError else { return false }
        switch error.kind {
        case .connectionClosed, .timeout: return true
        case .httpStatus: return error.httpStatus.map { [429, 500, 502, 503, 504].contains($0) } ?? false
        default: return false
        }
    }
}
