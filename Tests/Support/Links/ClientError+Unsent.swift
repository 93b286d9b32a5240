@testable package import MCPCore

extension ClientError {
    /// The error of a request that did not reach its server.
    package static var unsent: ClientError {
        var error = ClientError(.cannotConnect, "cannot connect", hint: "is the server running?")
        error.isUnsent = true
        return error
    }
}
