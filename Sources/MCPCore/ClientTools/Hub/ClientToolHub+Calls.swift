/// The calls of agents, from start to result.
extension ClientToolHub {
    /// Passes a call to a client and returns its result, or the failure that the agent sees.
    ///
    /// - Parameter whenLong: called once when there is no result after 30 s and the tool may take longer.
    /// - Throws: `MCPError` -32602 when the tool does not exist.
    func call(
        _ name: String, in channelName: String, _ arguments: RawJSON, meta: RawJSON?,
        report: (@Sendable (ProgressReport) -> Void)?, whenLong: (@Sendable () async -> Void)? = nil
    ) async throws -> CallToolResult {
        guard let channel = channels[channelName], let item = channel.catalog.item(named: name) else {
            throw MCPError.invalidParams("Unknown tool: \(name)")
        }
        let clients: [ClientRegistration]
        switch targets(of: item, in: channel, wanted: meta?[VendorKey.clientID]?.string) {
        case .success(let targets): clients = targets
        case .failure(let refusal): return .error(refusal.text)
        }
        let now = clock.now
        let id = Hex.encode(SystemRandom().bytes(16))
        let timeout = timeout(of: item.definition)
        // There are at most two steps: the notice that the call takes long, and the result.
        let (steps, continuation) = AsyncStream.makeStream(
            of: ClientToolCall.Step.self, bufferingPolicy: .bufferingNewest(2))
        var call = ClientToolCall(
            id: id, channel: channelName, name: name, definition: item.definition, arguments: arguments,
            messageID: meta?[VendorKey.messageID]?.string ?? id, timeout: timeout, deadline: now + timeout,
            report: report, start: now, steps: continuation)
        if report != nil { call.nextReport = now + Self.reportInterval }
        if whenLong != nil, timeout > Self.longTime { call.longAt = now + Self.longTime }
        totals.calls += 1
        begin(call, clients.map(\.client))
        for await step in steps {
            switch step {
            case .takesLong: await whenLong?()
            case .result(let result): return result
            }
        }
        // The caller no longer waits.
        cancel(id)
        return .error("The call was cancelled.")
    }

    private static let reportInterval = Duration.seconds(5)
    private static let longTime = Duration.seconds(30)

    // MARK: Choosing clients

    private struct NoTarget: Error { let text: String }

    private func targets(
        of item: ClientToolCatalog.Item, in channel: ClientToolChannel, wanted: String?
    ) -> Result<[ClientRegistration], NoTarget> {
        guard let wanted else { return check(runners(of: item, in: channel)) }
        guard !wanted.isEmpty, item.clients.contains(wanted), let target = channel.registrations[wanted]
        else {
            let name = wanted.cleanedLine(maxBytes: ClientToolReport.maxNameBytes)
            return .failure(
                NoTarget(text: "The client \(name) does not offer \(item.name). Nothing was done."))
        }
        return check([target])
    }

    /// Returns the clients that run a call of a tool which names none, the one that connected last first: the
    /// list names them.
    func runners(of item: ClientToolCatalog.Item, in channel: ClientToolChannel) -> [ClientRegistration] {
        let offering = item.clients.compactMap { channel.registrations[$0] }
        let up = offering.filter(\.isUp)
        let candidates = (up.isEmpty ? offering : up).sorted { $0.serial > $1.serial }
        return options.routing == .all ? candidates : Array(candidates.prefix(1))
    }

    private func check(_ targets: [ClientRegistration]) -> Result<[ClientRegistration], NoTarget> {
        let free = targets.filter { $0.callsInFlight < ClientToolLimits.callsPerClient }
        guard free.isEmpty else { return .success(free) }
        return .failure(
            NoTarget(
                text: targets.isEmpty
                    ? "No client offers this tool any longer. Nothing was done."
                    : "The client is already working on \(ClientToolLimits.callsPerClient) calls. "
                        + "Nothing was done; try again later."))
    }

    // MARK: Starting calls

    private func begin(_ call: ClientToolCall, _ clients: [String]) {
        var call = call
        for client in clients {
            // Every client has a leg before any of them can fail.
            call.legs[client] = ClientToolCall.Leg(serial: 0)
            channels[call.channel]?.registrations[client]?.callsInFlight += 1
        }
        calls[call.id] = call
        log("client tools: call=\(call.id) channel=\(call.channel) tool=\(call.name) clients=\(clients)")
        for client in clients { deliver(call.id, to: client) }
        if let call = calls[call.id] { wake(at: call.nextMoment) }
    }

    /// Passes a call to a client, or lets the call wait for a client that may reconnect.
    private func deliver(_ id: String, to client: String) {
        guard let call = calls[id], let registration = channels[call.channel]?.registrations[client] else {
            return fail(id, client, "The client is gone. Nothing was done.")
        }
        let serial = registration.serial
        var leg = ClientToolCall.Leg(serial: serial)
        if registration.isFacade {
            calls[id]?.legs[client] = leg
            var call = call
            call.legs[client] = leg
            return sendEvent(call)
        }
        guard let link = registration.link else {
            leg.waitsUntil = (registration.lostAt ?? clock.now) + options.graceTime
            calls[id]?.legs[client] = leg
            return
        }
        // Detached from the hub, which has other calls to process.
        leg.work = Task.detached { [weak self] in
            let outcome = await link.call(
                call.definition.name, call.arguments, meta: call.meta, atMost: call.timeout,
                onProgress: call.report)
            await self?.ended(id, client, serial, outcome)
        }
        calls[id]?.legs[client] = leg
    }

    private func sendEvent(_ call: ClientToolCall) {
        guard var channel = channels[call.channel] else { return }
        let place = StreamChatEvent.Place(call.channel, sentName: channel.sentName, call.messageID)
        let data = StreamChatEvent.data(call.definition, call.arguments, at: place, invocationID: call.id)
        let indicator = call.definition.showsExternalSources ? StreamChatEvent.indicator(at: place) : nil
        if let indicator { _ = channel.feed.send(indicator) }
        let isHeard = channel.feed.send(data)
        // Listeners that do not read have been removed.
        let isGone = facadeIsUnheard(in: &channel)
        channels[call.channel] = channel
        if isGone { try? show(call.channel) }
        if !isHeard, let backend = options.backend {
            pass(call, [indicator, data].compactMap(\.self), to: backend)
        } else if !isHeard {
            fail(call.id, "", "No client is listening in this channel. Nothing was done.")
        } else if channel.feed.wantsResults {
            return
        } else if call.legs.count > 1 {
            fail(call.id, "", "The client does not answer calls.")
        } else {
            end(call.id, with: StreamChatEvent.dispatched(call.definition.name))
        }
    }

    /// Passes the events of a call to the backend of the clients, which do not listen here.
    private func pass(_ call: ClientToolCall, _ events: [ByteSlice], to backend: StreamChatBackend) {
        guard let serial = call.legs[""]?.serial else { return }
        let (id, name) = (call.id, call.definition.name)
        calls[id]?.legs[""]?.work = Task.detached { [weak self] in
            let outcome = await backend.pass(events, ofCallTo: name)
            await self?.ended(id, "", serial, outcome)
        }
    }

    /// Delivers the calls that wait for a client that has reconnected.
    func redeliver(to client: String, in channel: String) {
        for (id, call) in calls where call.channel == channel && call.legs[client]?.waitsUntil != nil {
            let offers = channels[channel]?.registrations[client]?.tools.contains(call.definition) ?? false
            if offers {
                deliver(id, to: client)
            } else {
                fail(id, client, "The client reconnected without this tool.")
            }
        }
    }

    // MARK: Ending calls

    private func ended(_ id: String, _ client: String, _ serial: Int, _ outcome: ProviderLink.Outcome) {
        guard let call = calls[id], let leg = call.legs[client], leg.serial == serial else {
            if case .result = outcome { totals.lateResults += 1 }
            return
        }
        switch outcome {
        case .result(let result): end(id, with: result)
        case .failed(let text): fail(id, client, "\(call.name) failed in its client: \(text)")
        case .disconnected:
            totals.disconnects += 1
            // A call that may have been executed is repeated only if that makes no difference.
            guard call.definition.isIdempotent else {
                let text =
                    "The client lost its connection; it is not known whether \(call.name) was executed."
                return fail(id, client, text)
            }
            if let now = channels[call.channel]?.registrations[client], now.serial != serial, now.isUp {
                return deliver(id, to: client)
            }
            let limit = clock.now + options.graceTime
            calls[id]?.legs[client]?.work = nil
            calls[id]?.legs[client]?.waitsUntil = limit
            wake(at: limit)
        }
    }

    /// Records that a client will not answer; the call fails when the last one does.
    private func fail(_ id: String, _ client: String, _ text: String) {
        guard var call = calls[id] else { return }
        if let leg = call.legs.removeValue(forKey: client) {
            leg.work?.cancel()
            channels[call.channel]?.registrations[client]?.callsInFlight -= 1
        }
        calls[id] = call
        if call.legs.isEmpty { end(id, with: .error(text)) }
    }

    /// Fails the calls that only this client could have answered.
    func giveUp(_ client: String, in channel: String) {
        for (id, call) in calls where call.channel == channel && call.legs[client] != nil {
            fail(id, client, "The client is gone; it is not known whether \(call.name) was executed.")
        }
    }

    /// Ends a call; this happens exactly once. Work in progress at other clients is cancelled.
    func end(_ id: String, with result: CallToolResult) {
        guard let call = calls.removeValue(forKey: id) else { return }
        for (client, leg) in call.legs {
            leg.work?.cancel()
            channels[call.channel]?.registrations[client]?.callsInFlight -= 1
        }
        log(
            "client tools: result=\(id) error=\(result.isError) ms=\((clock.now - call.start).milliseconds)")
        call.steps.yield(.result(result))
        call.steps.finish()
    }

    private func cancel(_ id: String) {
        guard calls[id] != nil else { return }
        totals.cancelled += 1
        end(id, with: .error("The call was cancelled."))
    }

    /// Accepts the result of a client of the façade. Returns false when no caller waits for it, or no longer
    /// does.
    func complete(_ id: String, with result: CallToolResult) -> Bool {
        guard calls[id]?.legs[""] != nil else {
            totals.lateResults += 1
            return false
        }
        end(id, with: result)
        return true
    }

    /// Returns the channel of a call that is waiting for its result.
    func channel(ofCall id: String) -> String? { calls[id]?.channel }

    // MARK: Time

    /// Ends the calls that have waited too long, reports to waiting agents, and returns the time at which the
    /// next call is due.
    func expireCalls(_ now: MonotonicInstant) -> MonotonicInstant {
        var next = MonotonicInstant.never
        for (id, call) in calls {
            if call.deadline <= now {
                totals.timeouts += 1
                end(id, with: .error("\(call.name): client did not answer within \(call.timeout.inSeconds)"))
                continue
            }
            for (client, leg) in call.legs {
                guard let limit = leg.waitsUntil, limit <= now else { continue }
                fail(id, client, "The client lost its connection and did not reconnect.")
            }
            if call.nextReport <= now { report(id, now) }
            if call.longAt <= now {
                calls[id]?.longAt = .never
                call.steps.yield(.takesLong)
            }
            if let call = calls[id] { next = min(next, call.nextMoment) }
        }
        return next
    }

    private func report(_ id: String, _ now: MonotonicInstant) {
        guard var call = calls[id] else { return }
        call.reports += 1
        call.nextReport = now + Self.reportInterval
        calls[id] = call
        // Smaller than any progress that the client itself reports, because progress must only increase.
        call.report?(ProgressReport(Double(call.reports) / 1_000_000, message: "waiting for client"))
    }
}

extension Duration {
    /// The duration as `30 s`, or in milliseconds if it is not a whole number of seconds.
    var inSeconds: String {
        milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}
