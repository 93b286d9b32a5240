/// Prompts.
extension MCPServer {
    /// Registers a prompt; its required arguments are checked before `get` is called.
    ///
    /// - Throws: `RegistrationError` when the name is taken.
    public func register(
        _ prompt: Prompt,
        get:
            @escaping @Sendable (
                _ arguments: [String: String], _ context: RequestContext
            ) async throws -> GetPromptResult
    ) throws(RegistrationError) {
        try update { (draft) throws(RegistrationError) in
            if draft.prompts.contains(where: { $0.prompt.name == prompt.name }) {
                throw RegistrationError("the prompt \(prompt.name) is already registered")
            }
            draft.prompts.append(PromptEntry(prompt: prompt, get: get))
        }
    }

    /// Removes a prompt; requests in flight continue. Returns false when there is no prompt with this name.
    @discardableResult
    public func unregisterPrompt(_ name: String) -> Bool {
        remove(from: \.prompts) { $0.prompt.name == name }
    }
}
