/// Notifications that a server sends.
enum Notifications {
    static func make(
        _ method: StaticString, subscription: RawJSON? = nil, _ members: (inout JSONWriter) -> Void = { _ in }
    ) -> ByteSlice {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.key("method")
        writer.string(method)
        writer.key("params")
        writer.beginObject()
        members(&writer)
        if let subscription {
            // Only messages that belong to a subscription are tagged (META-13, META-14).
            writer.key("_meta")
            writer.beginObject()
            writer.key("io.modelcontextprotocol/subscriptionId")
            writer.raw(subscription)
            writer.endObject()
        }
        writer.endObject()
        writer.endObject()
        return writer.finish()
    }

    static func change(_ change: Change, subscription: RawJSON?) -> ByteSlice {
        switch change {
        case .toolsList: make("notifications/tools/list_changed", subscription: subscription)
        case .promptsList: make("notifications/prompts/list_changed", subscription: subscription)
        case .resourcesList, .anyResource:
            make("notifications/resources/list_changed", subscription: subscription)
        case .resource(let uri):
            make("notifications/resources/updated", subscription: subscription) { $0.member("uri", uri) }
        case .task(_, let json):
            make("notifications/tasks", subscription: subscription) { writer in
                // The members of the object, without its braces.
                writer.rawMembers(json.bytes[1 ..< json.bytes.count - 1])
            }
        }
    }

    static func elicitationCompleted(_ id: String) -> ByteSlice {
        make("notifications/elicitation/complete") { $0.member("elicitationId", id) }
    }

    static func progress(token: RawJSON, _ progress: ProgressReport, for revision: Revision) -> ByteSlice {
        make("notifications/progress") { writer in
            writer.key("progressToken")
            writer.raw(token)
            writer.key("progress")
            writer.number(progress.progress)
            if let total = progress.total, total.isFinite {
                writer.key("total")
                writer.number(total)
            }
            if revision.has(.annotations) { writer.member("message", progress.message) }
        }
    }
}
