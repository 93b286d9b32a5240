// A server whose tools are provided by other programs:
//     TOKEN=secret mcp-client provide --bearer-env TOKEN --tool greet 127.0.0.1:3001
import MCPCore

let hub = ClientToolHub { channel in MCPServer("my-server", version: "1.0") }
let endpoints = ClientToolEndpoints(hub, token: "secret")
try await hub.server().run(.http(.tcp(port: 3001), servers: endpoints, handler: endpoints))
