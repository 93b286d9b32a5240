import MCPCore

/// Reads `admin` of the configuration.
struct AdminReader {
    let context: ConfigContext

    func read(_ reader: ObjectReader, listen: [ConfiguredAddress]?) -> AdminSettings {
        var reader = reader
        var settings = AdminSettings()
        if let text = reader.string("listen") {
            let position = reader.place(of: "listen")
            do throws(ConfiguredAddress.Flaw) {
                let address = try ConfiguredAddress(text)
                check(address, text, listen, at: position)
                settings.listen = address
            } catch {
                context.diagnostics.error("admin.listen: \(text) \(error.text)", at: position)
            }
        }
        reader.finish()
        return settings
    }

    private func check(
        _ address: ConfiguredAddress, _ text: String, _ listen: [ConfiguredAddress]?,
        at position: SourcePosition
    ) {
        if !address.isLoopback {
            context.diagnostics.error(
                "admin.listen: \(text) can be reached from the network, and nobody is authenticated there: "
                    + "use a unix socket or 127.0.0.1", at: position)
        }
        if case .tcp(_, 0) = address {
            context.diagnostics.error("admin.listen: \(text) has no usable port", at: position)
        }
        if address.isOpenToEveryUser {
            context.diagnostics.warning(
                "admin.listen: \(text) lets every user of this machine control the server: give it mode=0660 "
                    + "and a group", at: position)
        }
        if listen?.contains(where: address.isTaken) == true {
            context.diagnostics.error(
                "admin.listen is also in listen; operators need an address of their own", at: position)
        } else if let obstacle = context.passedSockets.obstacle(to: address) {
            context.diagnostics.error("admin.listen: \(obstacle)", at: position)
        } else {
            StartCheck(context: context).socket(address, "admin.listen", at: position)
        }
    }
}
