import MCPCore

let server = MCPServer("desk", version: "1.0")
server.addTool("greet", "Shows a greeting to the user", Argument("name")) { (name: String) in
    print("Hello, \(name)!")
    return "\(name) has seen the greeting."
}

let provider = ClientToolProvider(
    server: server, channel: "general", clientID: "desk", address: .unix(path: "/tmp/tools.sock"),
    onEvent: { event in
        switch event {
        case .connected: print("connected")
        case .registered(let report): print("offered: \(report.tools), refused: \(report.refused)")
        case .disconnected(let error, let pause): print("\(error); trying again in \(pause)")
        }
    })
try await provider.run()
