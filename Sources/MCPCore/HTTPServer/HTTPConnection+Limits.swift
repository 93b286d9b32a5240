/// What a connection may hold, and whether it reads.
extension HTTPConnection {
    /// Counts what the connection holds and has its phase decide whether it reads; every flush ends here.
    func settle() {
        guard registration != nil else { return }
        count()
        guard let registration else { return }
        let wanted = phase.interest(
            input: input.count, outputIsEmpty: output.out.isEmpty, hasRoom: hasRoom,
            isScarce: share.budget.isScarce)
        if wanted == interest { return }
        interest = wanted
        do {
            try loop.modify(registration, wanted)
        } catch {
            close()
        }
    }

    /// Whether more answers may be queued now: a longer queue stops reading until the client has taken some.
    var hasRoom: Bool { output.out.count <= context.resources.maxOutputBytes }

    // MARK: Memory

    private func count() {
        var held = input.capacity + output.out.capacity
        if case .body(_, let reader) = work { held += reader.collectedBytes }
        if held <= Self.ownBytes, share.bytes == 0 { return }
        mostBytes = max(mostBytes, held)
        share.set(max(0, held - Self.ownBytes))
        if share.bytes > 0, share.budget.isScarce { save() }
    }

    /// One of those who hold memory when little is left: gives back what it can, and ends what there is no
    /// memory for.
    private func save() {
        if phase.state == .body {
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
