import MCPCore

extension ServerBuilder {
    /// The server of `--demo`, with the limits and names of the configuration.
    func buildDemo() throws(BuildError) -> Built {
        let server = makeServer()
        do throws(RegistrationError) {
            try DemoServer.register(on: server)
        } catch {
            throw BuildError(text: "\(error)")
        }
        return Built(server: server, contents: DemoServer.contents)
    }
}
