/// The clients of the connections.
extension Upstream {
    /// The options of each connection.
    var clientOptions: ClientOptions {
        var client = ClientOptions()
        client.timeout = options.timeout
        client.connectTimeout = options.connectTimeout
        client.headers = options.headers
        if !secrets.isEmpty { client.maskConfigured = { [secrets] in secrets.mask($0) } }
        client.maxMessageBytes = options.maxMessageBytes
        client.maxEventBytes = options.maxMessageBytes
        client.cache = false
        client.profiles = profiles
        client.protocol = options.protocol
        if let report = options.onStderr {
            client.onServerStderr = { [secrets] line in report(secrets.mask(line)) }
        }
        client.checksOutput = false
        client.followsTasks = true
        // A shared connection says nothing about its callers.
        if options.isPerPrincipal {
            client.declared = ClientCapabilities(
                roots: true, sampling: true, samplingTools: true, elicitation: true, elicitationURL: true)
        }
        return client
    }
}
