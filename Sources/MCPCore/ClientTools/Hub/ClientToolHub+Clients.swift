/// Clients that come, change and go.
extension ClientToolHub {
    /// Takes the tools of an MCP server that the client is connected to, until that connection ends.
    ///
    /// A client of the same name in this channel is replaced. Later changes of the list are followed.
    /// - Parameters:
    ///   - client: a connection on which a program offers its tools. The hub closes it in the end.
    ///   - channel: where the tools are offered.
    ///   - clientID: who offers them: 1 to 128 bytes without control characters and slashes.
    /// - Throws: `RegistrationError` when a name is not possible, for more than 60 registrations within a
    ///   minute, 64 clients in the channel or 64 tools; `MCPError` and `ClientError` when the tools cannot be
    ///   listed.
    public func attach(_ client: MCPClient, channel: String, clientID: String) async throws {
        try admit(clientID, in: channel)
        try await attachAdmitted(client, channel: channel, clientID: clientID)
    }

    private func attachAdmitted(_ client: MCPClient, channel: String, clientID: String) async throws {
        let link = ProviderLink(client: client)
        let serial = nextSerial()
        // First, so that no change falls between.
        let changes =
            client.protocolVersion.isModern
            ? try? await client.listen(SubscriptionFilter(toolsListChanged: true)) : client.listenForTools()
        let tools = try await link.tools()
        try install(tools, clientID, channel, serial, link)
        client.connection.whenEnded { [weak self] _ in
            Task { [weak self] in await self?.lost(clientID, channel, serial) }
        }
        guard let changes else { return }
        Task.detached { [weak self] in
            // The subscription ends with the connection.
            var iterator = changes.makeAsyncIterator()
            while (try? await iterator.next()) != nil {
                await self?.refresh(clientID, channel, serial)
            }
        }
    }

    /// Takes the tools of a program at the other end of a connection; one that offers none that can be taken
    /// is let go.
    func attach(over transport: any ClientTransport, channel: String, clientID: String) async {
        do {
            do {
                // Before anything is asked: one that only connects counts as well.
                try admit(clientID, in: channel)
            } catch {
                transport.shutDown()
                throw error
            }
            let client = try await MCPClient.connect(over: transport, options: ProviderLink.options)
            do {
                try await attachAdmitted(client, channel: channel, clientID: clientID)
            } catch {
                await client.close()
                throw error
            }
        } catch {
            // A hint is for a person at the other end.
            let reason = (error as? ClientError)?.message ?? "\(error)"
            log("client tools: refused channel=\(channel) client=\(clientID): \(reason)")
        }
    }

    /// Takes a client's tools away and closes its connection. False when there is none.
    @discardableResult
    public func detach(channel: String, clientID: String) async -> Bool {
        guard let registration = channels[channel]?.registrations.removeValue(forKey: clientID) else {
            return false
        }
        log("client tools: unregistered channel=\(channel) client=\(clientID)")
        giveUp(clientID, in: channel)
        try? show(channel)
        await registration.link?.client.close()
        return true
    }

    /// Checks the names, and counts a registration against the limits; the façade's clients have no name.
    func admit(_ client: String, in name: String) throws {
        guard ChannelName(name) != nil, client.isEmpty || ChannelName(client) != nil else {
            throw RegistrationError(
                "names of channels and clients have 1 to 128 bytes, without control characters and slashes")
        }
        _ = try servers.server(for: name)
        var channel = channels[name] ?? ClientToolChannel()
        let isAdmitted = channel.admitRegistration(at: clock.now)
        if channels[name] == nil { makeRoom() }
        let isKnown = channel.registrations[client] != nil
        let hasRoom = isKnown || channel.registrations.count < ClientToolLimits.clientsPerChannel
        channels[name] = channel
        if let first = channel.recent.first { wake(at: first + ClientToolChannel.minute) }
        guard isAdmitted else {
            throw RegistrationError("too many registrations in the channel \(name); try again in a minute")
        }
        guard hasRoom else {
            throw RegistrationError(
                "the channel \(name) has \(ClientToolLimits.clientsPerChannel) clients already")
        }
    }

    /// Forgets the registration that was left alone for the longest time, when there are too many channels:
    /// the façade's live until they are replaced. Before it goes a channel where nobody is, and that only
    /// counts who came.
    private func makeRoom() {
        guard channels.count >= ClientToolLimits.channels else { return }
        let empty = channels.filter { !$0.value.isUsed && $0.value.feed.graceEnd == nil }
        if let name = empty.min(by: { $0.value.lastCame < $1.value.lastCame })?.key {
            channels[name] = nil
            return
        }
        let deserted = channels.compactMap { name, channel in channel.desertedAt.map { (name, $0) } }
        guard let (name, _) = deserted.min(by: { $0.1 < $1.1 }) else { return }
        channels[name] = nil
        log("client tools: forgotten channel=\(name) client=")
    }

    /// Puts the listed tools of a provider in place, unless a newer registration of it came meanwhile.
    private func install(
        _ tools: [Tool], _ client: String, _ name: String, _ serial: Int, _ link: ProviderLink
    ) throws(RegistrationError) {
        guard tools.count <= ClientToolLimits.toolsPerClient else {
            log("client tools: refused channel=\(name) client=\(client) tools=\(tools.count)")
            throw RegistrationError(
                "\(client) offers \(tools.count) tools; \(ClientToolLimits.toolsPerClient) are allowed")
        }
        var channel = channels[name] ?? ClientToolChannel()
        let before = channel.registrations[client]
        guard before?.serial ?? 0 <= serial else {
            throw RegistrationError("\(client) has registered again meanwhile")
        }
        var definitions: [ClientToolDefinition] = []
        var invalid: [String] = []
        for tool in tools {
            do {
                definitions.append(try ClientToolDefinition(listed: tool))
            } catch {
                invalid.append("\(tool.name.prefix(128)): \(error)")
            }
        }
        var registration = ClientRegistration(
            client: client, order: before?.order ?? serial, serial: serial, tools: definitions, link: link)
        registration.callsInFlight = before?.callsInFlight ?? 0
        channel.registrations[client] = registration
        channels[name] = channel
        if let old = before?.link, old.client !== link.client { Task { await old.client.close() } }
        try? show(name)
        invalid += channels[name]?.catalog.refused[client]?.map { "\($0): the name is taken" } ?? []
        log(
            "client tools: registered channel=\(name) client=\(client) tools=\(definitions.count)"
                + (invalid.isEmpty ? "" : " invalid=\(invalid)"))
        if before?.link == nil || before?.serial != serial { redeliver(to: client, in: name) }
    }

    /// The provider says that its tools are others now.
    private func refresh(_ client: String, _ name: String, _ serial: Int) async {
        func link() -> ProviderLink? {
            let registration = channels[name]?.registrations[client]
            return registration?.serial == serial ? registration?.link : nil
        }
        // It may be gone when the list is there.
        guard let tools = try? await link()?.tools(), let link = link() else { return }
        do {
            try install(tools, client, name, serial, link)
        } catch {
            // Too many now: none of them is offered.
            channels[name]?.registrations[client]?.tools = []
            try? show(name)
        }
    }

    /// The connection of a client has ended.
    private func lost(_ client: String, _ name: String, _ serial: Int) {
        guard channels[name]?.registrations[client]?.serial == serial else { return }
        channels[name]?.registrations[client]?.link = nil
        channels[name]?.registrations[client]?.lostAt = clock.now
        log("client tools: disconnected channel=\(name) client=\(client)")
        wake(at: clock.now + options.graceTime)
    }

    /// Puts a registration of the façade in the place of the former one; an empty one clears the channel.
    func register(_ registration: StreamChatRegistration) throws {
        let name = registration.channel
        try admit("", in: name)
        var channel = channels[name] ?? ClientToolChannel()
        let before = channel.registrations[""]
        var latest: [ClientToolDefinition] = []
        for tool in registration.tools {
            latest.removeAll { $0.name == tool.name }
            latest.append(tool)
        }
        let serial = nextSerial()
        channel.sentName = registration.sentChannel
        // Whoever registers begins to listen soon, or is gone.
        let lostAt = channel.feed.isEmpty ? clock.now : nil
        channel.registrations[""] =
            latest.isEmpty
            ? nil
            : ClientRegistration(
                client: "", order: before?.order ?? serial, serial: serial, tools: latest, lostAt: lostAt,
                callsInFlight: before?.callsInFlight ?? 0)
        channels[name] = channel
        if let lostAt { wake(at: lostAt + options.graceTime) }
        try show(name)
        log("client tools: registered channel=\(name) client= tools=\(latest.count)")
    }

    // MARK: The façade's listeners

    /// Adds a listener to a channel; nil when there are too many.
    func listen(_ listener: EventFeed.Listener, in name: String, after lastEventID: String?) -> Int? {
        var channel = channels[name] ?? ClientToolChannel()
        guard (try? servers.server(for: name)) != nil,
            channel.feed.count < ClientToolLimits.listenersPerChannel
        else { return nil }
        let number = channel.feed.add(listener, after: lastEventID)
        let wasHidden = channel.facadeIsHeard()
        channels[name] = channel
        if wasHidden { try? show(name) }
        return number
    }

    /// A listener is gone. Calls that wait for results are given up when nobody comes in its place.
    func stopListening(_ number: Int, in name: String) {
        guard var channel = channels[name] else { return }
        let wanted = channel.feed.wantsResults
        channel.feed.remove(number)
        facadeIsUnheard(in: &channel)
        if wanted, !channel.feed.wantsResults {
            channel.feed.graceEnd = clock.now + options.graceTime
            wake(at: clock.now + options.graceTime)
        }
        channels[name] = channel.isEmpty ? nil : channel
    }

    /// Counts the time from now on when nobody listens any more.
    func facadeIsUnheard(in channel: inout ClientToolChannel) {
        guard channel.feed.isEmpty, channel.registrations[""]?.isUp == true else { return }
        channel.registrations[""]?.lostAt = clock.now
        wake(at: clock.now + options.graceTime)
    }

    // MARK: Time

    /// Lets go of clients that are gone for too long, and returns when the next one is.
    func expire(_ name: String, _ now: MonotonicInstant) -> MonotonicInstant {
        channels[name]?.forgetOldRegistrations(at: now)
        guard let channel = channels[name] else { return .never }
        var next = channel.recent.first.map { $0 + ClientToolChannel.minute } ?? .never
        var isChanged = false
        for (client, registration) in channel.registrations {
            guard let lostAt = registration.lostAt else { continue }
            let hidden = lostAt + options.graceTime
            // The façade's is replaced by its client, which need not come back soon.
            let forgotten = registration.isFacade ? .never : lostAt + options.timeToLive
            if forgotten <= now {
                channels[name]?.registrations[client] = nil
                log("client tools: forgotten channel=\(name) client=\(client)")
                isChanged = true
            } else if hidden <= now {
                channels[name]?.registrations[client]?.isHidden = true
                isChanged = isChanged || !registration.isHidden
                next = min(next, forgotten)
            } else {
                next = min(next, hidden)
            }
        }
        if isChanged { try? show(name) }
        if let end = channel.feed.graceEnd {
            if end <= now {
                channels[name]?.feed.graceEnd = nil
                giveUp("", in: name)
            } else {
                next = min(next, end)
            }
        }
        if channels[name]?.isEmpty == true { channels[name] = nil }
        return next
    }
}
