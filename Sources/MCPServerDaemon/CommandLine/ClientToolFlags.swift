import MCPCore

/// The options of `run` for the tools that other programs provide.
struct ClientToolFlags: Sendable, Hashable {
    /// `--client-tools`
    var isOn = false
    var auth: ClientToolSettings.Auth?
    var channel: String?
    var providersSocket: String?

    /// Returns the settings of the configuration with these options in place of its own; `nil` if there are
    /// none.
    func applied(to settings: ClientToolSettings?, isStdio: Bool) throws(CommandLineError)
        -> ClientToolSettings?
    {
        guard var settings = settings ?? (isOn ? ClientToolSettings() : nil) else {
            guard let option = given.first else { return nil }
            throw CommandLineError(
                "\(option) has no effect without --client-tools",
                hint: "add --client-tools, or clientTools to the configuration")
        }
        if channel != nil, !isStdio {
            throw CommandLineError(
                "--channel is for standard input and output",
                hint: "over HTTP each channel has its own address: /mcp/channels/NAME")
        }
        if let auth { settings.auth = auth }
        if let channel {
            guard ChannelName.isRegistrable(channel) else {
                throw CommandLineError("\"\(channel)\" is not a channel name", hint: ChannelName.rule)
            }
            settings.channel = channel
        }
        if let providersSocket {
            settings.providersSocket = Paths.absolute(providersSocket, relativeTo: Paths.currentDirectory)
        }
        return settings
    }

    private var given: [String] {
        [
            auth.map { _ in "--client-tools-auth" }, channel.map { _ in "--channel" },
            providersSocket.map { _ in "--providers-socket" },
        ].compactMap { $0 }
    }
}
