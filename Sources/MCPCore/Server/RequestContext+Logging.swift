import Synchronization

extension RequestContext {
    /// Sends a log message to the client if the client requested messages of this level: with this request
    /// (2026-07-28), or with `logging/setLevel`, before which it receives `info` and above.
    ///
    /// Messages are sent before the response; later ones are dropped. One request sends at most
    /// `ServerLimits.maxLogMessages`; a final message then reports how many were held back. Log messages must
    /// not contain secrets or internal details of your server (server/utilities/logging).
    /// - Parameters:
    ///   - data: a description of the event, as text or any other JSON.
    ///   - logger: the part of the server that reports the event.
    public func log(_ level: LoggingLevel, _ data: JSONValue, logger: String? = nil) async {
        report(LogMessage(level, data, logger: logger))
    }

    /// Sends a log message from code that cannot wait.
    func report(_ message: LogMessage) {
        guard let call, let threshold = call.logLevel, message.level >= threshold, !call.exchange.isOver
        else { return }
        let number = call.logged.add(1, ordering: .relaxed).newValue
        guard number <= call.dispatcher.options.limits.maxLogMessages else { return }
        call.exchange.notify(Notifications.message(message))
    }
}

extension DeferredCall {
    /// The lowest level that this request's client wants to receive; nil when it wants no messages (LOG-02).
    var logLevel: LoggingLevel? {
        if request.verdict.isModern {
            return request.message.raw(request.message.head.metaLogLevel)?.string
                .flatMap(LoggingLevel.init(rawValue:))
        }
        return dispatcher.subscriptions.sessions.level(of: request.channelID)
    }

    /// Reports, as the last message, how many messages the limit held back (LOG-08).
    func sayWhatWasNotLogged() {
        let held = logged.load(ordering: .relaxed) - dispatcher.options.limits.maxLogMessages
        guard held > 0, let threshold = logLevel else { return }
        let text = "\(held) more messages from this request were held back"
        exchange.notify(
            Notifications.message(LogMessage(max(threshold, .warning), .string(text))))
    }
}

extension Notifications {
    static func message(_ message: LogMessage) -> ByteSlice {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("method", "notifications/message")
        writer.member("params", message.json)
        writer.endObject()
        return writer.finish()
    }
}
