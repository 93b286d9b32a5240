/// What a connection may hold, and whether it reads.
extension HTTPConnection {
    /// Counts what the connection holds and decides whether it reads; every flush ends here.
    ///
    /// What it may hold of its input depends on its phase, and what is over the bound stays in the socket:
    ///
    /// - idle, head, body: one message with what is read behind it, while its queue of answers is within
    ///   `HTTPServerResources.maxOutputBytes`. The parser bounds a head and the body's own limits the rest.
    /// - serving: `readBytes`; less while memory is short.
    /// - leaving: nothing, the rest is for whoever takes the socket.
    /// - draining: nothing, what comes is dropped.
    func settle() {
        guard registration != nil else { return }
        count()
        guard let registration else { return }
        var wanted: Readiness = []
        if !peerClosed, mayRead { wanted.insert(.readable) }
        if !wanted.contains(.readable), !peerClosed, !isReadClosed { wanted.insert(.readClosed) }
        if !output.out.isEmpty { wanted.insert(.writable) }
        if wanted == interest { return }
        interest = wanted
        do {
            try loop.modify(registration, wanted)
        } catch {
            close()
        }
    }

    private var mayRead: Bool {
        switch phase {
        case .serving: input.count < (share.budget.isScarce ? Self.ownBytes / 2 : Self.readBytes)
        case .leaving, .closed: false
        case .idle, .head, .body, .draining: hasRoom
        }
    }

    /// Whether more answers may be queued now.
    var hasRoom: Bool { output.out.count <= outputLimit }

    // MARK: Memory

    private func count() {
        var held = input.capacity + output.out.capacity
        if case .body(_, let reader) = phase { held += reader.collectedBytes }
        if held <= Self.ownBytes, share.bytes == 0 { return }
        mostBytes = max(mostBytes, held)
        share.set(max(0, held - Self.ownBytes))
        if share.bytes > 0, share.budget.isScarce { save() }
    }

    /// One of those who hold memory when little is left: gives back what it can, and ends what there is no
    /// memory for.
    private func save() {
        if case .body = phase {
            if share.budget.isOverdrawn { refuseForMemory() }
            return
        }
        compact()
        share.set(max(0, input.capacity + output.out.capacity - Self.ownBytes))
        // What the socket did not take is for a client that does not read.
        guard share.budget.isOverdrawn, output.out.count > Self.ownBytes else { return }
        siblings.noteShortage()
        vanish()
    }

    /// Answers a request whose body there is no memory for, and reads no more of it.
    func refuseForMemory() {
        siblings.noteShortage()
        fail(
            EarlyResponse(
                status: 503, text: "No memory is free for this body; try again later", fields: .retryAfter))
    }
}

extension HeaderFields {
    /// For what is over soon.
    static let retryAfter = (try? HeaderFields(["Retry-After": "1"])) ?? HeaderFields()
}
