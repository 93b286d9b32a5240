// Usage: example-client PROGRAM [ARGUMENT]… or example-client http://…, for example with ./example-elicitation
// as the program.
import MCPCore

var options = ClientOptions(name: "example-client", version: "1.0")
options.onElicit = { request in
    print("asked:", request.message)
    guard let form = request.schema else { return .decline }
    // A real program shows a form; the accepted content must match it.
    var content = form.defaults()
    for name in form.required where content[name] == nil {
        content[name] = form.properties[name]?["type"] == "string" ? "Ada" : 2
    }
    return .accept(content)
}
options.onSample = { request in
    CreateMessageResult(content: [.text("A lake and a castle.")], model: "none")
}
options.onRoots = { [Root("file:///home/ada/project", name: "project")] }
options.followsTasks = true
options.trace = { event in
    if case .warning(let text) = event { print("warning:", text) }
}

let place = CommandLine.arguments[1]
let target: ClientTarget =
    place.hasPrefix("http") ? .http(place) : .command(place, Array(CommandLine.arguments.dropFirst(2)))
let client = try await MCPClient.connect(target, options: options)
print("protocol:", client.protocolVersion.text)

for try await tool in client.tools { print("tool:", tool.name) }

do {
    let booked = try await client.callTool(
        "book", ["restaurant": "Ochsen"], options: CallOptions(deadline: .seconds(30)))
    print(booked.isError ? "failed:" : "booked:", booked.text)
} catch let error as MCPError {
    print("the server returned an error:", error.code, error.message)
} catch let error as ClientError where error.kind == .inputRequired {
    print("no one can answer:", error.message)
}

let subscription = try await client.listen(SubscriptionFilter(toolsListChanged: true))
print("notified about tools:", subscription.accepted.toolsListChanged)
let watching = Task {
    for try await change in subscription {
        if change == .toolsListChanged || change == .resubscribed {
            print("now:", try await client.listTools().map(\.name).joined(separator: ", "))
        }
    }
}
await subscription.cancel()
try await watching.value
await client.close()
