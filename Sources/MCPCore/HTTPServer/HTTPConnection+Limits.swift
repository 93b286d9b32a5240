/// The limits on what a connection holds, and the decision about whether it reads.
extension HTTPConnection {
    /// Counts the memory that the connection holds and lets its phase decide whether it reads; every flush
    /// ends here.
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

    /// Whether more responses may be queued now. While the queue is longer, reading stops until the client
    /// has read some of them.
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

    /// Saves memory when little is left: releases what it can, and ends a request or connection for which
    /// there is no memory.
    private func save() {
        if phase.state == .body {
            if share.budget.isOverdrawn { refuseForMemory() }
            return
        }
        compact()
        share.set(max(0, input.capacity + output.out.capacity - Self.ownBytes))
        // Output that the socket did not accept belongs to a client that does not read.
        guard share.budget.isOverdrawn, output.out.count > Self.ownBytes else { return }
        siblings.noteShortage()
        vanish()
    }

    /// Refuses a request for whose body there is no memory, and reads no more of it.
    func refuseForMemory(_ handler: RequestHandler? = nil) {
        siblings.noteShortage()
        fail(
            EarlyResponse(
                status: 503, text: "Not enough memory is free for this body; try again later",
                fields: .retryAfter), from: handler)
    }
}

extension HeaderFields {
    /// The fields of a response to a temporary condition.
    static let retryAfter = (try? HeaderFields(["Retry-After": "1"])) ?? HeaderFields()
}
