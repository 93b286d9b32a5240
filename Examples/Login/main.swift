// A client that logs in at the authorization server of an MCP server. Usage: example-login https://HOST/PATH
import MCPCore

guard CommandLine.arguments.count == 2 else { fatalError("usage: example-login URL") }
let url = CommandLine.arguments[1]

let user = AuthorizationUser.browser { page, _ in print("open this page: \(page.url)") }
let store = try FileTokenStore.standard()
let authorizer = OAuthAuthorizer(
    for: url, settings: OAuthSettings(clientName: "Example"), store: store, user: user)

var options = ClientOptions(name: "example-login", version: "1.0")
options.authorizer = authorizer
do {
    let client = try await MCPClient.connect(.http(url), options: options)
    print("tools:", try await client.listTools().map(\.name).joined(separator: ", "))
    await client.close()
} catch let error as ClientError where error.kind == .authentication {
    print("not authorized:", error)
}
