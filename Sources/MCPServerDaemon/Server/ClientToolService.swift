import MCPCore

/// Accepts the tools that other programs provide.
struct ClientToolService: Sendable {
    let served: ServedServers
    let access: ProviderAccess
    /// The endpoints that are served besides the main one: the channels, and the place where programs
    /// register.
    let endpoints: ClientToolEndpoints

    /// - Parameters:
    ///   - server: the server with what every channel offers when no such program is connected.
    ///   - isListening: whether there are addresses at which clients other than this user may connect.
    ///   - isSocketPassed: whether a service manager has passed the socket of providers.
    init(
        _ settings: ClientToolSettings, _ server: MCPServer, _ builder: ServerBuilder, isStdio: Bool,
        isListening: Bool, isSocketPassed: Bool, environment: [String: String], _ log: Log
    ) throws(ClientToolSetupError) {
        access = try ProviderAccess(
            settings, isStdio: isStdio, isListening: isListening, isSocketPassed: isSocketPassed,
            environment: environment, log: log)
        let channels = ChannelContents(server, builder: builder)
        var options = ClientToolOptions()
        options.log = { line in log.info("client tools", ["text": line]) }
        do {
            options.backend = try settings.backend?.make()
        } catch {
            throw ClientToolSetupError("the backend of client tools cannot be used: \(error)")
        }
        let hub = ClientToolHub(options: options) { channels.makeServer($0) }
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
            channelTokens: access.channelTokens.mapValues(\.value), origins: settings.origins)
    }
}
