import MCPCore

extension ConfiguredAddress {
    /// Returns the reason why the server may not listen here with these settings; `nil` if it may.
    func problem(with auth: AuthSettings?) -> String? {
        guard let auth else { return needsAuthentication }
        guard !isLoopback, auth.resource == nil, !auth.authorizationServers.isEmpty else { return nil }
        return "auth.resource is missing: the server can be reached from the network, and only you know the "
            + "address that its tokens must be for, such as https://mcp.example.com/mcp"
    }
}
