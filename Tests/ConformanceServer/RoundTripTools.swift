import MCPCore

private let nameForm = ElicitationSchema([.string("name", required: true)])

/// Tools that take several rounds.
func registerRoundTripTools(on server: MCPServer) throws {
    func register(
        _ name: String, _ description: String,
        handler: @escaping @Sendable (RequestContext) async throws -> String
    ) throws {
        try server.register(Tool("test_input_required_result_" + name, description: description)) {
            _, context in .text(try await handler(context))
        }
    }
    try register("elicitation", "Asks for a name") { context in
        let answer = try await context.elicit("What is your name?", nameForm, key: "user_name")
        return "Hello, \(answer.content?["name"]?.stringValue ?? "stranger")!"
    }
    try register("sampling", "Asks the client's model") { context in
        let question = CreateMessageRequest("What is the capital of France?", maxTokens: 100)
        return "The model says: \(try await context.sample(question, key: "capital_question").text ?? "")"
    }
    try register("list_roots", "Asks for the client's roots") { context in
        let roots = try await context.roots(key: "client_roots")
        return "Roots: \(roots.map(\.uri).joined(separator: ", "))"
    }
    try register("request_state", "Asks for a confirmation and keeps a state") { context in
        let form = ElicitationSchema([.boolean("ok", required: true)])
        let answer = try await context.elicit("Please confirm", form, key: "confirm")
        return "state-ok: \(answer.action.rawValue)"
    }
    try register("multiple_inputs", "Asks three things at once") { context in
        let answers = try await context.ask([
            "user_name": .elicit(ElicitRequest("What is your name?", nameForm)),
            "greeting": .sample(CreateMessageRequest("Generate a greeting", maxTokens: 50)),
            "client_roots": .roots,
        ])
        let name = try answers.elicitation("user_name").content?["name"]?.stringValue ?? ""
        let greeting = try answers.sampling("greeting").text ?? ""
        return "\(greeting) \(name), with \(try answers.roots("client_roots").count) roots"
    }
    try register("multi_round", "Asks twice, one after the other") { context in
        let name = try await context.elicit("Step 1: What is your name?", nameForm, key: "step1")
        let color = try await context.elicit(
            "Step 2: What is your favorite color?", ElicitationSchema([.string("color", required: true)]),
            key: "step2")
        return
            "\(name.content?["name"]?.stringValue ?? "") likes \(color.content?["color"]?.stringValue ?? "")"
    }
    try register("tampered_state", "Asks, and notices a state that was changed") { context in
        let form = ElicitationSchema([.boolean("ok", required: true)])
        return
            "confirmed: \(try await context.elicit("Please confirm", form, key: "confirm").action.rawValue)"
    }
    try register("capabilities", "Asks only for what the client can do") { context in
        let capabilities = context.clientCapabilities
        if capabilities.hasElicitation {
            let answer = try await context.elicit("What is your name?", nameForm, key: "user_name")
            return "elicited: \(answer.action.rawValue)"
        }
        let question = CreateMessageRequest("Say hello", maxTokens: 20)
        return "sampled: \(try await context.sample(question, key: "greeting").text ?? "")"
    }
}
