/// A family of MCP revisions: the handshake revisions up to 2025-11-25, or the stateless ones from 2026-07-28
/// on.
///
/// An era consists of its method table and the tails of its messages; the differences between revisions of an
/// era are flags in `Revision`. `Classifier` decides the era once for each message, and no later code checks
/// it again.
struct WireEra: Sendable {
    enum Name: Sendable { case modern, legacy }

    let name: Name
    let methods: MethodTable

    static let modern = WireEra(
        name: .modern,
        methods: MethodTable([
            MethodEntry(
                "tools/call", .toolsCall, [.needsParams, .mirrorsName, .asksForInput], needs: .tools),
            MethodEntry("tools/list", .toolsList, .cacheable, needs: .tools),
            MethodEntry("server/discover", .discover, .cacheable),
            MethodEntry(
                "resources/read", .resourcesRead, [.needsParams, .mirrorsURI, .cacheable, .asksForInput],
                needs: .resources),
            MethodEntry("resources/list", .resourcesList, .cacheable, needs: .resources),
            MethodEntry("resources/templates/list", .resourceTemplatesList, .cacheable, needs: .resources),
            MethodEntry(
                "prompts/get", .promptsGet, [.needsParams, .mirrorsName, .asksForInput], needs: .prompts),
            MethodEntry("prompts/list", .promptsList, .cacheable, needs: .prompts),
            MethodEntry("completion/complete", .complete, .needsParams, needs: .completions),
            MethodEntry("subscriptions/listen", .listen, .needsParams, needs: .changes),
            MethodEntry("tasks/get", .tasksGet, [.needsParams, .mirrorsTask], needs: .tasks),
            MethodEntry("tasks/update", .tasksUpdate, [.needsParams, .mirrorsTask], needs: .tasks),
            MethodEntry("tasks/cancel", .tasksCancel, [.needsParams, .mirrorsTask], needs: .tasks),
            MethodEntry("notifications/cancelled", .cancelled, .notification),
        ]))

    static let legacy = WireEra(
        name: .legacy,
        methods: MethodTable([
            MethodEntry("tools/call", .toolsCall, .needsParams, needs: .tools),
            MethodEntry("tools/list", .toolsList, needs: .tools),
            MethodEntry("ping", .ping, .beforeInitialize),
            MethodEntry("initialize", .initialize, [.beforeInitialize, .needsParams]),
            MethodEntry("notifications/initialized", .initialized, .notification),
            MethodEntry("resources/read", .resourcesRead, .needsParams, needs: .resources),
            MethodEntry("resources/list", .resourcesList, needs: .resources),
            MethodEntry("resources/templates/list", .resourceTemplatesList, needs: .resources),
            MethodEntry("prompts/get", .promptsGet, .needsParams, needs: .prompts),
            MethodEntry("prompts/list", .promptsList, needs: .prompts),
            MethodEntry("completion/complete", .complete, .needsParams, needs: .completions),
            MethodEntry("logging/setLevel", .setLevel, .needsParams),
            MethodEntry("resources/subscribe", .subscribe, .needsParams, needs: .resources),
            MethodEntry("resources/unsubscribe", .unsubscribe, .needsParams, needs: .resources),
            MethodEntry("notifications/roots/list_changed", .rootsListChanged, .notification),
            MethodEntry("notifications/cancelled", .cancelled, .notification),
        ]))
}
