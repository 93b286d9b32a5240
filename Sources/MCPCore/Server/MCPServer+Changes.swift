extension MCPServer {
    // MARK: Telling of changes

    /// Tells subscribers that the list of tools changed. Registering does so by itself.
    ///
    /// Changes within 20 ms are told once.
    public func notifyToolsChanged() { dispatcher.subscriptions.bus.publish(.toolsList) }

    /// Tells subscribers that the list of prompts changed. Registering does so by itself.
    public func notifyPromptsChanged() { dispatcher.subscriptions.bus.publish(.promptsList) }

    /// Tells subscribers that the list of resources changed. Registering does so by itself; for what a
    /// `ResourceProvider` lists this has to be called.
    public func notifyResourcesChanged() { dispatcher.subscriptions.bus.publish(.resourcesList) }

    /// Tells those who watch this resource that its contents changed.
    public func notifyResourceUpdated(_ uri: String) { dispatcher.subscriptions.bus.publish(.resource(uri)) }

    /// Tells subscribers that the list of resources, and every resource that they watch, may have changed:
    /// more happened than can be named.
    package func anyResourceChanged() {
        notifyResourcesChanged()
        dispatcher.subscriptions.bus.publish(.anyResource)
    }

    // MARK: Taking away

    /// Takes a tool away; calls in flight go on. False when there is none of this name.
    @discardableResult
    public func unregisterTool(_ name: String) -> Bool {
        remove(from: \.tools) { $0.tool.name == name }
    }

    /// Takes a resource away; reads in flight go on. False when there is none at this address.
    @discardableResult
    public func unregisterResource(_ uri: String) -> Bool {
        remove(from: \.resources) { $0.resource.uri == uri }
    }

    /// Takes a prompt away; requests in flight go on. False when there is none of this name.
    @discardableResult
    public func unregisterPrompt(_ name: String) -> Bool {
        remove(from: \.prompts) { $0.prompt.name == name }
    }

    private func remove<T>(
        from list: any WritableKeyPath<Registry.Draft, [T]> & Sendable, where isMeant: (T) -> Bool
    ) -> Bool {
        var isFound = false
        // Taking away cannot clash.
        try? update { draft in
            let count = draft[keyPath: list].count
            draft[keyPath: list].removeAll(where: isMeant)
            isFound = draft[keyPath: list].count != count
        }
        return isFound
    }

    /// Changes what is offered and tells subscribers which lists are others now.
    ///
    /// - Parameter isReplacement: whether a list may be another one with the same number of entries.
    ///   Comparing takes as long as writing all lists.
    func update(
        isReplacement: Bool = false, _ change: (inout Registry.Draft) throws(RegistrationError) -> Void
    ) throws(RegistrationError) {
        let isWatched = dispatcher.subscriptions.bus.hasSubscribers
        let before = isWatched ? dispatcher.registry.current : nil
        try dispatcher.registry.update(change)
        guard let before else { return }
        let after = dispatcher.registry.current
        func differ(_ list: Method) -> Bool {
            before.count(of: list) != after.count(of: list)
                || isReplacement && before.digest(of: list) != after.digest(of: list)
        }
        if differ(.toolsList) { notifyToolsChanged() }
        if differ(.promptsList) { notifyPromptsChanged() }
        if differ(.resourcesList) || differ(.resourceTemplatesList)
            || before.contents.providers.count != after.contents.providers.count
        {
            notifyResourcesChanged()
        }
    }
}
