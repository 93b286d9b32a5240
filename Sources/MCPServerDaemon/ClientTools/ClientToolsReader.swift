import MCPCore

/// Reads `clientTools` of the configuration.
struct ClientToolsReader {
    let context: ConfigContext

    func read(_ reader: ObjectReader) -> ClientToolSettings {
        var reader = reader
        var settings = ClientToolSettings()
        settings.auth = reader.word("auth", as: ClientToolSettings.Auth.self) ?? settings.auth
        settings.channel = reader.string("channel")
        if let channel = settings.channel { check(channel, at: reader.place(of: "channel")) }
        settings.providersSocket = reader.string("providersSocket").map(context.absolute)
        if let path = settings.providersSocket {
            do throws(ConfiguredAddress.Flaw) {
                _ = try ConfiguredAddress(unixPath: path)
            } catch {
                context.diagnostics.error(
                    "clientTools.providersSocket \(error.text)", at: reader.place(of: "providersSocket"))
            }
        }
        settings.tokenFile = tokenFile("tokenFile", &reader)
        let own = settings.tokenFile ?? ProviderToken.defaultPath(context.environment)
        if let files = reader.object("channelTokenFiles") {
            let served = context.servedChannel ?? settings.channel ?? ClientToolOptions().defaultChannel
            settings.channelTokenFiles = readChannelTokenFiles(files, served: served, own: own)
        }
        settings.origins = reader.origins("origins")
        let place = reader.place(of: "backend")
        if let object = reader.object("backend") { settings.backend = readBackend(object, at: place) }
        reader.finish()
        return settings
    }

    private func readBackend(
        _ reader: ObjectReader, at place: SourcePosition
    ) -> ClientToolSettings.Backend? {
        var reader = reader
        let url = reader.string("url")
        let token = reader.string("token")
        let timeout = reader.duration("timeout")
        defer { reader.finish() }
        guard let url else {
            if !reader.hasKey("url") {
                context.diagnostics.error("clientTools.backend needs \"url\"", at: place)
            }
            return nil
        }
        var backend = ClientToolSettings.Backend(url: url, token: token.map { Redacted($0) })
        if let timeout { backend.timeout = timeout }
        if backend.timeout > .seconds(30) {
            context.diagnostics.error(
                "clientTools.backend.timeout: 30s at most, the time of a call",
                at: reader.place(of: "timeout"))
        }
        do throws(ClientError) {
            _ = try backend.make()
        } catch {
            context.diagnostics.error(
                "clientTools.backend.url: \(error.message)", at: reader.place(of: "url"))
        }
        return backend
    }

    /// - Parameters:
    ///   - served: the channel at `/mcp`, where no token is required.
    ///   - own: the file that holds the daemon's token.
    private func readChannelTokenFiles(
        _ reader: ObjectReader, served: String, own: String?
    ) -> [String: String] {
        var holders: [FileIdentity: String] = [:]
        if let own { holders[FileIdentity(own)] = "the daemon" }
        var reader = reader
        var files: [String: String] = [:]
        for (name, position) in reader.members.map({ ($0.key, $0.keyPosition) }) {
            check(name, at: position)
            if name == served {
                context.diagnostics.error(
                    "the channel \"\(name)\" is served at /mcp, where no token is required: "
                        + "remove its token, or serve another channel there with clientTools.channel",
                    at: position)
            }
            guard let file = tokenFile(name, &reader) else { continue }
            files[name] = file
            if let holder = holders.updateValue("the channel \"\(name)\"", forKey: FileIdentity(file)) {
                context.diagnostics.error(
                    "\(reader.pathOf(name)): \(file) is also the token of \(holder); "
                        + "each channel needs a token of its own", at: reader.place(of: name))
            }
        }
        return files
    }

    private func check(_ channel: String, at position: SourcePosition) {
        if ChannelName.isRegistrable(channel) { return }
        context.diagnostics.error("\"\(channel)\" is not a channel name; \(ChannelName.rule)", at: position)
    }

    /// Returns the absolute name of a token file; its contents are checked now, so that the start cannot
    /// fail.
    private func tokenFile(_ key: String, _ reader: inout ObjectReader) -> String? {
        guard let path = reader.string(key).map(context.absolute) else { return nil }
        do throws(ClientToolSetupError) {
            try ProviderToken.check(path)
        } catch {
            context.diagnostics.error("\(reader.pathOf(key)): \(error)", at: reader.place(of: key))
        }
        return path
    }
}
