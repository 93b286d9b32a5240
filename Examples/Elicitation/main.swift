// A tool that asks the user of the client before it does anything.
import MCPCore
import Synchronization

let server = MCPServer("tables", version: "1.0")
let booked = Mutex<[String]>([])

struct Wish: Codable, Sendable {
    var restaurant: String
}

server.addTool("book", "Books a table", describe: ["restaurant": "Its name"]) {
    (wish: Wish, context) in
    let form = ElicitationSchema([
        .integer("people", minimum: 1, maximum: 12, required: true),
        .string("name", title: "In whose name?", minLength: 2, required: true),
    ])
    let answer = try await context.elicit("A table at \(wish.restaurant)?", form, key: "table")
    guard answer.action == .accept, let people = answer.content?["people"]?.intValue,
        let name = answer.content?["name"]?.stringValue
    else { return "Nothing was booked." }

    // Everything has been answered: from here on, the handler runs only once.
    booked.withLock { $0.append("\(wish.restaurant): \(people), \(name)") }
    return "A table for \(people) at \(wish.restaurant), in the name of \(name)."
}

server.addTool("travel", "Suggests a trip", describe: ["restaurant": "Where to eat"]) {
    (wish: Wish, context) in
    let answers = try await context.ask([
        "days": .elicit("How long?", ElicitationSchema([.integer("days", default: 2, required: true)])),
        "idea": .sample(CreateMessageRequest("What lies near \(wish.restaurant)?", maxTokens: 200)),
    ])
    let days = try answers.elicitation("days").content?["days"]?.intValue ?? 1
    return "\(days) days: \(try answers.sampling("idea").text ?? "no idea")"
}
try await server.run(.stdio)
