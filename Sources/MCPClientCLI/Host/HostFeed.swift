import MCPApps
import MCPCore

/// The events for the page and the messages from its views, for one page at a time: the one that was opened
/// last.
actor HostFeed {
    private let host: AppHost
    private let ports: SandboxPorts
    private let settings: HostSettings
    private let themes: ThemeFile?
    /// The colours of the next page.
    private var theme: HostSettings.Theme
    private var writer: HostEventWriter
    private var log = EventLog(page: "")
    private var pump: Task<Void, Never>?
    /// The number of the last message that was accepted from each view.
    private var taken: [HostedView.ID: Int] = [:]
    /// The addresses of the servers that a scan found.
    private(set) var found: [String] = []

    init(host: AppHost, ports: SandboxPorts, settings: HostSettings, themes: ThemeFile?) {
        self.host = host
        self.ports = ports
        self.settings = settings
        self.themes = themes
        theme = settings.theme ?? themes?.theme ?? .auto
        writer = HostEventWriter(ports: ports)
    }

    /// Keeps the colours that the user chose, for this run and for later ones.
    func choose(_ theme: HostSettings.Theme) {
        self.theme = theme
        themes?.keep(theme)
    }

    // MARK: To the page

    /// Returns the events after an id.
    ///
    /// Without an id, or when those events are no longer kept, it returns those of a new page; the previous
    /// page is notified that it was replaced.
    func events(after id: String?) async -> AsyncStream<SSEEvent> {
        if let id, let stream = log.resume(after: id) { return stream }
        let (snapshot, events) = await host.eventsWithSnapshot()
        pump?.cancel()
        log.end()
        taken = [:]
        log = EventLog(page: String(UInt64.random(in: 1 << 60 ... .max), radix: 36))
        writer = HostEventWriter(ports: ports)
        let stream = log.read()
        log.append(hello)
        for event in snapshot { tell(event) }
        for (index, target) in found.enumerated() { log.append(Self.foundEvent(index, target)) }
        pump = Task { [page = log.page] in
            for await event in events { tell(event) }
            if !Task.isCancelled { fellBehind(page) }
        }
        return stream
    }

    /// Makes the page start over, because the host has sent more events than could be passed on.
    private func fellBehind(_ page: String) {
        guard page == log.page else { return }
        log.cutOff()
        log = EventLog(page: "")
    }

    private func tell(_ event: HostEvent) {
        guard let json = writer.json(event) else { return }
        log.append(json)
    }

    private var hello: JSONValue {
        [
            "type": "hello", "page": .string(log.page), "limit": JSONValue(AppHost.maxMessageBytes),
            "theme": .string(theme.rawValue), "hasModel": .bool(settings.hasModel),
            "isTalking": false,
            "probe": ports.usesPorts ? .null : .string("http://probe.localhost:\(ports.port)/probe"),
        ]
    }

    /// Offers servers that respond; those that are already offered stay.
    func offer(_ targets: [String]) {
        for target in targets where !found.contains(target) {
            log.append(Self.foundEvent(found.count, target))
            found.append(target)
        }
    }

    private static func foundEvent(_ index: Int, _ target: String) -> JSONValue {
        ["type": "server.found", "id": JSONValue(index), "target": .string(target)]
    }

    /// Ends the stream of the page, which finds out that the program has ended: no other page took over.
    func close() {
        pump?.cancel()
        log.cutOff()
    }

    // MARK: From views

    enum Receipt { case taken, repeated, outOfOrder, otherPage }

    /// Receives messages from a view, which its page has numbered.
    ///
    /// A number that was accepted before belongs to a request whose response was lost. The page sends one
    /// request at a time, so a gap means that something else is sending.
    func receive(
        _ messages: [JSONValue], number: Int, page: String, from view: HostedView.ID
    ) async -> Receipt {
        guard page == log.page else { return .otherPage }
        let last = taken[view] ?? 0
        if number <= last { return .repeated }
        guard number == last + 1 else { return .outOfOrder }
        taken[view] = number
        var readable: [JSONValue] = []
        for message in messages {
            switch Self.read(message.stringValue ?? "") {
            case .success(let message): readable.append(message)
            case .failure(let unreadable):
                await host.receive(readable, from: view)
                readable = []
                await host.receivedUnreadable(unreadable.reason, id: unreadable.id, from: view)
            }
        }
        await host.receive(readable, from: view)
        return .taken
    }

    /// A message that cannot be accepted, with its id if that could be read.
    private struct Unreadable: Error {
        let reason: String
        var id: JSONValue?
    }

    /// The depth of a message: 64 levels.
    static let limits = JSONLimits()

    /// Reads a message, which comes as text: the page does not look into it.
    private static func read(_ text: String) -> Result<JSONValue, Unreadable> {
        let size = text.utf8.count
        guard size <= AppHost.maxMessageBytes else {
            return .failure(
                Unreadable(reason: "\(size) bytes; at most \(AppHost.maxMessageBytes) are accepted"))
        }
        let message: JSONValue
        do {
            message = try JSONValue(parsing: text, limits: limits)
        } catch {
            var reason = "it is not readable JSON"
            if case .depthExceeded = error.reason {
                reason = "it is nested deeper than \(limits.maxDepth) levels"
            }
            return .failure(Unreadable(reason: reason, id: id(ofUnreadable: text)))
        }
        if message["jsonrpc"] == nil, let length = message["oversize"]?.intValue {
            let reason = "\(length) characters; at most \(AppHost.maxMessageBytes) are accepted"
            return .failure(Unreadable(reason: reason, id: message["id"]))
        }
        return .success(message)
    }

    /// Returns the id of a message that is JSON except for its depth, and for halves of surrogate pairs,
    /// which scripts can write.
    private static func id(ofUnreadable text: String) -> JSONValue? {
        var bytes = Array(text.utf8)
        guard bytes.count >= 6 else { return nil }
        for start in 0 ... bytes.count - 6
        where bytes[start] == 0x5C && bytes[start + 1] == 0x75 && (bytes[start + 2] | 0x20) == 0x64 {
            bytes.replaceSubrange(start + 2 ..< start + 6, with: "fffd".utf8)
        }
        let id = (try? JSONValue(parsing: withoutDepth(bytes)))?["id"]
        return id?.stringValue?.unicodeScalars.contains("\u{FFFD}") == true ? nil : id
    }

    /// Returns JSON with `null` for each container inside the outermost one.
    private static func withoutDepth(_ json: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var (depth, isText, isEscaped) = (0, false, false)
        for byte in json {
            let before = depth
            switch byte {
            case _ where isEscaped: isEscaped = false
            case 0x5C where isText: isEscaped = true
            case 0x22: isText.toggle()
            case 0x5B where !isText, 0x7B where !isText: depth += 1
            case 0x5D where !isText, 0x7D where !isText: depth -= 1
            default: break
            }
            if before <= 1, depth == 2 {
                result += "null".utf8
            } else if before <= 1, depth <= 1 {
                result.append(byte)
            }
        }
        return result
    }

    /// Restarts the numbering of a view's messages, because its frame is created again.
    func begins(_ view: HostedView.ID) { taken[view] = 0 }
}
