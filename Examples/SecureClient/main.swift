// Usage: example-secure-client https://HOST:PORT/PATH [TRUST-FILE]
import MCPCore

let url = CommandLine.arguments[1]
let tls =
    CommandLine.arguments.count > 2
    ? OpenSSLProvider(trustFile: CommandLine.arguments[2])
    : .system

do {
    let client = try await MCPClient.connect(.http(url, tls: tls))
    print("tools:", try await client.listTools().map(\.name).joined(separator: ", "))
    await client.close()
} catch let error as ClientError where error.kind == .tls {
    print("no TLS connection to the server; nothing was sent:", error.message)
}
