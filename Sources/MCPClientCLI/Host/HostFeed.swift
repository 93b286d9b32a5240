import MCPApps
import MCPCore

/// The events for the page and the messages from its views, for one page at a time: the one that was opened
/// last.
actor HostFeed {
    private let host: AppHost
    private let ports: SandboxPorts
    private let settings: HostSettings
    private var writer: HostEventWriter
    private var log = EventLog(page: "")
    private var pump: Task<Void, Never>?
    /// The number of the last message that was accepted from each view.
    private var taken: [HostedView.ID: Int] = [:]
    /// The addresses of the servers that a scan found.
    private(set) var found: [String] = []

    init(host: AppHost, ports: SandboxPorts, settings: HostSettings) {
        self.host = host
        self.ports = ports
        self.settings = settings
        writer = HostEventWriter(ports: ports)
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
            "theme": .string(settings.theme.rawValue), "hasModel": .bool(settings.hasModel),
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
            guard let problem = Self.problem(of: message) else {
                readable.append(message)
                continue
            }
            await host.receive(readable, from: view)
            readable = []
            await host.receivedUnreadable(problem, id: message["id"], from: view)
        }
        await host.receive(readable, from: view)
        return .taken
    }

    /// Returns the reason why a message cannot be accepted, or nil.
    private static func problem(of message: JSONValue) -> String? {
        if message.isNull { return "it is not JSON" }
        if message["jsonrpc"] == nil, message["lost"] == true { return "it is not readable JSON" }
        if message["jsonrpc"] == nil, let bytes = message["oversize"]?.intValue {
            return "\(bytes) characters; at most \(AppHost.maxMessageBytes) are accepted"
        }
        let size = RawJSON(message).bytes.count
        guard size > AppHost.maxMessageBytes else { return nil }
        return "\(size) bytes; at most \(AppHost.maxMessageBytes) are accepted"
    }

    /// Restarts the numbering of a view's messages, because its frame is created again.
    func begins(_ view: HostedView.ID) { taken[view] = 0 }
}
