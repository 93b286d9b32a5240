/// Changes while the server runs, and the notifications that tell clients about them.
extension MCPServer {
    // MARK: Notifications

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

    // MARK: Changing what is offered

    func remove<T>(
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

extension MCPServer {
    /// Takes over everything that another server offers, at once, in place of what it offered itself.
    ///
    /// For programs that build a new server when their configuration changes: calls in flight go on with what
    /// they started with, and subscribers are told which lists changed. Instructions come along; name,
    /// version and options stay.
    public func adopt(_ other: MCPServer) {
        let contents = other.dispatcher.registry.draft
        // What is registered elsewhere has been checked there.
        try? update(isReplacement: true) { $0 = contents }
    }
}
