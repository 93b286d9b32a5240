/// Changes while the server runs, and the notifications that report them to clients.
extension MCPServer {
    // MARK: Notifications

    /// Notifies subscribers that the list of tools changed. Registering does so automatically.
    ///
    /// Changes within 20 ms are reported once.
    public func notifyToolsChanged() { dispatcher.subscriptions.bus.publish(.toolsList) }

    /// Notifies subscribers that the list of prompts changed. Registering does so automatically.
    public func notifyPromptsChanged() { dispatcher.subscriptions.bus.publish(.promptsList) }

    /// Notifies subscribers that the list of resources changed. Registering does so automatically; for the
    /// resources that a `ResourceProvider` lists, this method has to be called.
    public func notifyResourcesChanged() { dispatcher.subscriptions.bus.publish(.resourcesList) }

    /// Notifies the clients that watch this resource that its contents changed.
    public func notifyResourceUpdated(_ uri: String) { dispatcher.subscriptions.bus.publish(.resource(uri)) }

    /// Notifies subscribers that the list of resources, and every resource that they watch, may have changed:
    /// more resources changed than can be named.
    package func anyResourceChanged() {
        notifyResourcesChanged()
        dispatcher.subscriptions.bus.publish(.anyResource)
    }

    // MARK: Changing what is offered

    func remove<T>(
        from list: any WritableKeyPath<Registry.Draft, [T]> & Sendable, where isMeant: (T) -> Bool
    ) -> Bool {
        var isFound = false
        // Removal cannot cause a conflict.
        try? update { draft in
            let count = draft[keyPath: list].count
            draft[keyPath: list].removeAll(where: isMeant)
            isFound = draft[keyPath: list].count != count
        }
        return isFound
    }

    /// Changes what is offered and notifies subscribers about the lists that changed.
    ///
    /// - Parameter isReplacement: whether a list may differ even if it has the same number of entries. The
    ///   comparison takes as long as writing all lists.
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
    /// Replaces everything that this server offers with everything that another server offers, in one step.
    ///
    /// For programs that build a new server when their configuration changes: calls in flight continue with
    /// what they started with, and subscribers are notified about the lists that changed. Instructions are
    /// included; name, version and options stay.
    public func adopt(_ other: MCPServer) {
        let contents = other.dispatcher.registry.draft
        // The registrations were already checked by the other server.
        try? update(isReplacement: true) { $0 = contents }
    }
}
