import MCPCore

/// Takes in tools that other programs bring.
struct ClientToolService: Sendable {
    let served: ServedServers
    let access: ProviderAccess
    /// What is served besides the endpoint: the channels, and where programs register.
    let endpoints: ClientToolEndpoints

    /// - Parameters:
    ///   - server: what every channel offers without any such program.
    ///   - isListening: there are addresses at which somebody else than this user may come.
    init(
        _ settings: ClientToolSettings, _ server: MCPServer, _ builder: ServerBuilder, isStdio: Bool,
        isListening: Bool, environment: [String: String], _ log: Log
    ) throws(ClientToolSetupError) {
        access = try ProviderAccess(
            settings, isStdio: isStdio, isListening: isListening, environment: environment, log: log)
        let channels = ChannelContents(server, builder: builder)
        var options = ClientToolOptions()
        options.log = { line in log.info(line) }
        let hub = ClientToolHub(options: options) { _ in channels.makeServer() }
        do {
            let main = try hub.server(for: settings.channel)
            served = ServedServers(main, hub: hub, contents: channels)
        } catch {
            throw ClientToolSetupError("the channel \"\(settings.channel ?? "")\" cannot be served: \(error)")
        }
        for channel in access.channelTokens.keys {
            do { _ = try hub.server(for: channel) } catch {
                throw ClientToolSetupError("the channel \"\(channel)\" cannot be served: \(error)")
            }
        }
        endpoints = ClientToolEndpoints(
            hub, token: access.token?.value, registrationNeedsToken: settings.auth == .token,
            channelTokens: access.channelTokens.mapValues(\.value))
    }
}
