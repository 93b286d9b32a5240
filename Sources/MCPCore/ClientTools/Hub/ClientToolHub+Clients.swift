/// Clients that connect, change and disconnect.
extension ClientToolHub {
    /// Offers the tools of an MCP server that the client is connected to, until that connection ends.
    ///
    /// A client with the same name in this channel is replaced. Later changes to the list are followed.
    /// - Parameters:
    ///   - client: a connection on which a program offers its tools. The hub closes it eventually.
    ///   - channel: the channel in which the tools are offered.
    ///   - clientID: the name of the client that offers them: 1 to 128 bytes without control characters and
    ///     slashes.
    /// - Throws: `RegistrationError` when a name is not valid, for more than 60 registrations within a
    ///   minute, 64 clients in the channel or 64 tools; `MCPError` and `ClientError` when the tools cannot be
    ///   listed.
    public func attach(_ client: MCPClient, channel: String, clientID: String) async throws {
        try admit(clientID, in: channel)
        try await attachAdmitted(ProviderLink(client: client), channel: channel, clientID: clientID)
    }

    private func attachAdmitted(_ link: ProviderLink, channel: String, clientID: String) async throws {
        let client = link.client
        let serial = nextSerial()
        // Subscribed first, so that no change is missed.
        let changes =
            client.protocolVersion.isModern
            ? try? await client.listen(SubscriptionFilter(toolsListChanged: true)) : client.listenForTools()
        let listed = try await link.tools()
        let report = try install(listed, clientID, channel, serial, link)
        await link.report(report)
        client.connection.whenEnded { [weak self] _ in
            Task { [weak self] in await self?.lost(clientID, channel, serial) }
        }
        guard let changes else { return }
        Task.detached { [weak self] in
            // The subscription ends with the connection.
            var iterator = changes.makeAsyncIterator()
            while (try? await iterator.next()) != nil {
                await self?.refresh(clientID, channel, serial)
                // Otherwise a client that changes its tools all the time keeps the hub and all agents busy.
                try? await Task.pause(for: ClientToolLimits.changePause)
            }
        }
    }

    /// Offers the tools of a program at the other end of a connection, which `admit` has counted; a program
    /// without any acceptable offer is disconnected.
    ///
    /// - Parameters:
    ///   - wantsReports: whether the program is told what is accepted of its tools.
    ///   - isProbed: whether it is asked from time to time if it is still there.
    func attach(
        over transport: any ClientTransport, channel: String, clientID: String, wantsReports: Bool,
        isProbed: Bool = false
    ) async {
        do {
            let client = try await MCPClient.connect(over: transport, options: ProviderLink.options)
            let link = ProviderLink(client: client, wantsReports: wantsReports, isProbed: isProbed)
            do {
                try await attachAdmitted(link, channel: channel, clientID: clientID)
            } catch {
                await link.report(ClientToolReport(problem: Self.reason(error)))
                await client.close()
                throw error
            }
        } catch {
            logRefusal(of: clientID, in: channel, error)
        }
    }

    /// Logs why a client is not connected.
    func logRefusal(of client: String, in channel: String, _ error: any Error) {
        log("client tools: refused channel=\(channel) client=\(client): \(Self.reason(error))")
    }

    /// Returns the text of an error without the hint, which is for a person at the other end.
    private static func reason(_ error: any Error) -> String {
        (error as? ClientError)?.message ?? "\(error)"
    }

    /// Removes a client's tools and closes its connection. Returns false when the client does not exist.
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

    /// Returns why a client cannot have this name; nil if it can.
    func problem(withName client: String, in channel: String) -> String? {
        let read = ClientToolGuidance.nameRead(client)
        func imitates(_ name: String) -> Bool { LookAlike.areAlike(ClientToolGuidance.nameRead(name), read) }
        let nameless = ClientToolGuidance.nameless
        if let reserved = SpeakerName.imitated(by: read) ?? (imitates(nameless) ? nameless : nil) {
            return "the client name \(client) is reserved: a model could take it for the \(reserved)"
        }
        let others = channels[channel]?.registrations.keys.filter { $0 != client }
        let other = others?.first(where: imitates)
        return other.map {
            "the client name \(client) looks like \($0), the name of another client in this channel"
        }
    }

    /// Checks the names and counts a registration against the limits; the façade's clients have no name.
    ///
    /// - Parameter isReserved: false for a client without a token, where others have one.
    func admit(_ client: String, in name: String, isReserved: Bool = true) throws {
        guard ChannelName(name) != nil, client.isEmpty || ChannelName(client) != nil else {
            throw RegistrationError(
                "names of channels and clients must have 1 to 128 bytes, "
                    + "without control characters or slashes")
        }
        if let problem = problem(withName: client, in: name) { throw RegistrationError(problem) }
        // Before the channel's server is created, which needs the room, too.
        if channels[name] == nil { makeRoom(for: name, isReserved: isReserved) }
        _ = try servers.server(for: name, isReserved: isReserved)
        var channel = channels[name] ?? ClientToolChannel()
        channel.isReserved = channel.isReserved || isReserved
        let isAdmitted = channel.admitRegistration(at: clock.now)
        let isKnown = channel.registrations[client] != nil
        let hasRoom = isKnown || channel.registrations.count < ClientToolLimits.clientsPerChannel
        channels[name] = channel
        if let first = channel.recent.first { wake(at: first + ClientToolChannel.minute) }
        guard isAdmitted else {
            throw RegistrationError("too many registrations in the channel \(name); try again in a minute")
        }
        guard hasRoom else {
            throw RegistrationError(
                "the channel \(name) already has \(ClientToolLimits.clientsPerChannel) clients")
        }
    }

    /// Evicts the registration that has been unused for the longest time when there are too many channels,
    /// because the façade's registrations live until they are replaced. Channels without clients that only
    /// count registrations are evicted first.
    ///
    /// A client without a token evicts no registration of one with a token.
    private func makeRoom(for name: String, isReserved: Bool) {
        guard
            channels.count >= ClientToolLimits.channels
                || !isReserved && !servers.hasRoom(for: name, isReserved: false)
        else { return }
        let candidates = channels.filter { isReserved || !$0.value.isReserved }
        let empty = candidates.filter { !$0.value.isUsed && $0.value.feed.graceEnd == nil }
        if let name = empty.min(by: { $0.value.lastCame < $1.value.lastCame })?.key {
            channels[name] = nil
            return
        }
        let deserted = candidates.compactMap { name, channel in channel.desertedAt.map { (name, $0) } }
        // With a backend, registrations are not deserted by time: the oldest makes room.
        let oldest =
            deserted.min { $0.1 < $1.1 }?.0
            ?? (options.backend == nil ? nil : Self.oldestFacade(of: candidates))
        guard let name = oldest else { return }
        channels[name] = nil
        try? servers.show([], instructions: [], in: name)
        log("client tools: forgotten channel=\(name) client=")
    }

    /// The channel with the oldest registration of the façade, among those with nothing else.
    private static func oldestFacade(of channels: [String: ClientToolChannel]) -> String? {
        let serials = channels.compactMap { name, channel -> (String, Int)? in
            guard channel.feed.isEmpty, channel.registrations.count == 1,
                let facade = channel.registrations[""], facade.callsInFlight == 0
            else { return nil }
            return (name, facade.serial)
        }
        return serials.min { $0.1 < $1.1 }?.0
    }

    /// Installs the listed tools of a provider, unless a newer registration of it arrived in the meantime.
    /// Returns what is accepted.
    private func install(
        _ listed: ProviderLink.Listed, _ client: String, _ name: String, _ serial: Int, _ link: ProviderLink
    ) throws(RegistrationError) -> ClientToolReport {
        let tools = listed.tools
        guard tools.count <= ClientToolLimits.toolsPerClient else {
            // No more of them were read.
            let limit = ClientToolLimits.toolsPerClient
            log("client tools: refused channel=\(name) client=\(client) tools>\(limit)")
            throw RegistrationError("\(client) offers more than \(limit) tools, so none of them is offered")
        }
        var channel = channels[name] ?? ClientToolChannel()
        channel.isReserved = true
        let before = channel.registrations[client]
        guard before?.serial ?? 0 <= serial else {
            throw RegistrationError("\(client) has registered again in the meantime")
        }
        // Once more: another one may have registered while the tools were listed.
        if let problem = problem(withName: client, in: name) { throw RegistrationError(problem) }
        var definitions: [ClientToolDefinition] = []
        var refused = listed.refused
        for tool in tools {
            do {
                definitions.append(try ClientToolDefinition(listed: tool))
            } catch {
                // The name has any length, and the text may quote it.
                refused.append(
                    .init(
                        name: tool.name.cleanedLine(maxBytes: ClientToolReport.maxNameBytes),
                        reason: "\(error)".cleanedLine(maxBytes: 512)))
            }
        }
        var registration = ClientRegistration(
            client: client, order: before?.order ?? serial, serial: serial, tools: definitions,
            instructions: link.client.instructions.map(ClientToolDefinition.cleaned), link: link)
        registration.callsInFlight = before?.callsInFlight ?? 0
        if link.isProbed { registration.nextProbe = clock.now + ClientToolLimits.probeInterval }
        channel.registrations[client] = registration
        channels[name] = channel
        wake(at: registration.nextProbe)
        if let old = before?.link, old.client !== link.client { replace(old, of: client, in: name) }
        try? show(name)
        refused += channels[name]?.catalog.refused[client] ?? []
        refused = ClientToolReport.shortened(refused)
        logRegistration(of: client, in: name, refused)
        if before?.link == nil || before?.serial != serial { redeliver(to: client, in: name) }
        let catalog = channels[name]?.catalog ?? ClientToolCatalog()
        return ClientToolReport(
            tools: catalog.names(of: client), refused: refused, renamed: catalog.renamed[client] ?? [])
    }

    /// Ends the connection of a client that has registered again; another program with its name is told why.
    private func replace(_ old: ProviderLink, of client: String, in name: String) {
        log("client tools: replaced channel=\(name) client=\(client)")
        let problem = "another program has registered as \(client), each needs a name of its own"
        Task {
            await old.report(ClientToolReport(problem: problem.cleaned(maxBytes: 512)))
            await old.client.close()
        }
    }

    /// Updates the tools after the provider reported that they changed.
    private func refresh(_ client: String, _ name: String, _ serial: Int) async {
        func link() -> ProviderLink? {
            let registration = channels[name]?.registrations[client]
            return registration?.serial == serial ? registration?.link : nil
        }
        let listed: ProviderLink.Listed
        do {
            guard let tools = try await link()?.tools() else { return }
            listed = tools
        } catch {
            // Nil when the client is gone by now.
            guard let link = link() else { return }
            let problem = "the list of tools cannot be read, and the last one stays: \(Self.reason(error))"
            log("client tools: not updated channel=\(name) client=\(client): \(problem)")
            return await link.report(ClientToolReport(problem: problem.cleaned(maxBytes: 512)))
        }
        guard let link = link() else { return }
        do {
            await link.report(try install(listed, client, name, serial, link))
        } catch {
            // There are too many now, so none of them is offered.
            channels[name]?.registrations[client]?.tools = []
            try? show(name)
            await link.report(ClientToolReport(problem: Self.reason(error)))
        }
    }

    /// Records that the connection of a client has ended.
    private func lost(_ client: String, _ name: String, _ serial: Int) {
        guard channels[name]?.registrations[client]?.serial == serial else { return }
        channels[name]?.registrations[client]?.link = nil
        channels[name]?.registrations[client]?.lostAt = clock.now
        log("client tools: disconnected channel=\(name) client=\(client)")
        // Another client may run its tools now, and the list says which one.
        try? show(name)
        wake(at: clock.now + options.graceTime)
    }

    /// Replaces the registration of the façade; an empty one clears the channel.
    ///
    /// - Parameter isReserved: false for a client without a token, where others have one.
    func register(_ registration: StreamChatRegistration, isReserved: Bool = true) throws {
        let name = registration.channel
        try admit("", in: name, isReserved: isReserved)
        var channel = channels[name] ?? ClientToolChannel()
        let before = channel.registrations[""]
        var latest: [ClientToolDefinition] = []
        for tool in registration.tools {
            latest.removeAll { $0.name == tool.name }
            latest.append(tool)
        }
        let serial = nextSerial()
        channel.sentName = registration.sentChannel
        // A client that registers begins to listen soon or is gone, unless a backend passes its calls on.
        let lostAt = channel.feed.isEmpty && options.backend == nil ? clock.now : nil
        channel.registrations[""] =
            latest.isEmpty
            ? nil
            : ClientRegistration(
                client: "", order: before?.order ?? serial, serial: serial, tools: latest, lostAt: lostAt,
                callsInFlight: before?.callsInFlight ?? 0)
        channels[name] = channel
        if let lostAt { wake(at: lostAt + options.graceTime) }
        try show(name)
        let refused = registration.refused + (channels[name]?.catalog.refused[""] ?? [])
        logRegistration(of: "", in: name, ClientToolReport.shortened(refused))
    }

    /// Logs how many tools of a client are offered, and which ones are not.
    private func logRegistration(
        of client: String, in name: String, _ refused: [ClientToolReport.Refusal]
    ) {
        let count = channels[name]?.catalog.names(of: client).count ?? 0
        let invalid = refused.map {
            "\($0.name.cleanedLine(maxBytes: ClientToolReport.maxNameBytes)): \($0.reason)"
        }
        log(
            "client tools: registered channel=\(name) client=\(client) tools=\(count)"
                + (invalid.isEmpty ? "" : " invalid=\(invalid)"))
    }

    // MARK: The façade's listeners

    /// Adds a listener to a channel; returns nil when there are too many.
    ///
    /// - Parameter isReserved: false for a client without a token, where others have one.
    func listen(
        _ listener: EventFeed.Listener, in name: String, after lastEventID: String?, isReserved: Bool = true
    ) -> Int? {
        var channel = channels[name] ?? ClientToolChannel()
        guard (try? servers.server(for: name, isReserved: isReserved)) != nil,
            channel.feed.count < ClientToolLimits.listenersPerChannel
        else { return nil }
        let number = channel.feed.add(listener, after: lastEventID)
        let wasGone = channel.facadeIsHeard()
        channels[name] = channel
        if wasGone { try? show(name) }
        return number
    }

    /// Removes a listener. Calls that wait for results are given up unless another listener replaces it.
    func stopListening(_ number: Int, in name: String) {
        guard var channel = channels[name] else { return }
        let wanted = channel.feed.wantsResults
        channel.feed.remove(number)
        let isGone = facadeIsUnheard(in: &channel)
        if wanted, !channel.feed.wantsResults {
            channel.feed.graceEnd = clock.now + options.graceTime
            wake(at: clock.now + options.graceTime)
        }
        channels[name] = channel.isEmpty ? nil : channel
        if isGone { try? show(name) }
    }

    /// Starts the grace period when no listener is left. Returns true if it has begun.
    func facadeIsUnheard(in channel: inout ClientToolChannel) -> Bool {
        guard options.backend == nil, channel.feed.isEmpty, channel.registrations[""]?.isUp == true else {
            return false
        }
        channel.registrations[""]?.lostAt = clock.now
        wake(at: clock.now + options.graceTime)
        return true
    }

    // MARK: Time

    /// Asks a client whether it is still there, when it is time, and ends the connection of one that has not
    /// responded. Returns the next time at which something is due.
    private func probe(
        _ registration: ClientRegistration, in name: String, _ now: MonotonicInstant
    ) -> MonotonicInstant {
        guard let link = registration.link, link.isProbed else { return .never }
        var registration = registration
        let client = registration.client
        if registration.probeEnd <= now, registration.callsInFlight == 0 {
            log("client tools: no response channel=\(name) client=\(client)")
            (registration.nextProbe, registration.probeEnd) = (.never, .never)
            Task { await link.client.close() }
        } else if registration.probeEnd <= now {
            // A program that does one thing at a time responds after its call, which has a limit of its own.
            registration.probeEnd = now + ClientToolLimits.probeTimeout
        }
        if registration.nextProbe <= now {
            registration.nextProbe = now + ClientToolLimits.probeInterval
            registration.probeEnd = min(registration.probeEnd, now + ClientToolLimits.probeTimeout)
            let serial = registration.serial
            Task.detached { [weak self] in
                if await link.responds() { await self?.responded(client, name, serial) }
            }
        }
        channels[name]?.registrations[client]?.nextProbe = registration.nextProbe
        channels[name]?.registrations[client]?.probeEnd = registration.probeEnd
        return min(registration.nextProbe, registration.probeEnd)
    }

    /// Records that a client is still there.
    private func responded(_ client: String, _ name: String, _ serial: Int) {
        guard channels[name]?.registrations[client]?.serial == serial else { return }
        channels[name]?.registrations[client]?.probeEnd = .never
    }

    /// Removes clients that have been gone for too long, and returns the time at which the next one is due.
    func expire(_ name: String, _ now: MonotonicInstant) -> MonotonicInstant {
        channels[name]?.forgetOldRegistrations(at: now)
        guard let channel = channels[name] else { return .never }
        var next = channel.recent.first.map { $0 + ClientToolChannel.minute } ?? .never
        var isChanged = false
        for (client, registration) in channel.registrations {
            next = min(next, probe(registration, in: name, now))
            guard let lostAt = registration.lostAt else { continue }
            let hidden = lostAt + options.graceTime
            // The façade's registration is replaced by its client, which need not return soon.
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
