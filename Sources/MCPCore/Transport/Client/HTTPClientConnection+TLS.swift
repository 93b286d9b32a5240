/// The same connection for https: what comes and goes passes a filter.
extension HTTPClientConnection {
    /// What one record holds at most (RFC 8446 5.1).
    private static let recordBytes = 16 << 10

    // MARK: Opening

    func beginHandshake(_ host: String) {
        do {
            tls = TLSStream(try pool.tls.filter(for: host))
        } catch {
            return refuse(error)
        }
        phase = .handshake
        goOnWithHandshake()
    }

    func goOnWithHandshake() {
        guard let tls, let fd = descriptor?.rawValue else { return }
        do {
            guard try tls.handshake(fd) else {
                return watch(tls.hasOutput ? [.readable, .writable] : .readable)
            }
        } catch {
            return refuse(error)
        }
        guard let opened = exchange, !opened.isOver else { return close() }
        exchange = nil
        pool.session.opening = nil
        begin(opened)
        // More than the handshake may have come; the socket does not tell of that again.
        read(through: tls)
    }

    // MARK: Sending

    func write(through tls: TLSStream, _ fd: Int32) {
        do {
            while !outbox.isEmpty {
                // The filter may send of it and fail then.
                exchange?.wasSent = true
                guard let taken = try tls.send(outbox, fd) else { break }
                outbox = outbox[taken ..< outbox.count]
            }
            if outbox.isEmpty {
                outbox = ByteSlice()
                try tls.flush(fd)
            }
            watch(tls.hasOutput ? [.readable, .writable] : .readable)
        } catch {
            noteUnreadable(tls)
            lost(error.message)
        }
    }

    // MARK: Receiving

    func read(through tls: TLSStream) {
        do {
            for _ in 0 ..< Self.readsPerTurn {
                guard try takePlaintext(tls), !isPaused, let fd = descriptor?.rawValue else { return }
                switch try tls.pull(fd) {
                case .some: continue
                case .dry: return write()
                case .ended:
                    noteUnreadable(tls)
                    return endOfInput(isCutOff: true)
                }
            }
            // The socket tells of what it still has, but not of what the filter has.
            if try takePlaintext(tls) { write() }
        } catch {
            noteUnreadable(tls)
            lost(error.message)
        }
    }

    /// A piece of an answer was an answer all the same: the request must not be sent again. An end in good
    /// order needs no such care, since then everything could be read.
    private func noteUnreadable(_ tls: TLSStream) {
        if tls.hasReceived { hasAnswerBytes = true }
    }

    /// Processes what can be decrypted now; false when the connection is over.
    private func takePlaintext(_ tls: TLSStream) throws(TLSError) -> Bool {
        while true {
            if case .closed = phase { return false }
            inbox.reserve(Self.recordBytes)
            var mustWait = false
            let count = unsafe try inbox.fill { (room) throws(TLSError) in
                let count = unsafe try tls.receive(into: room)
                mustWait = count == nil
                return count ?? 0
            }
            if mustWait { return true }
            if count == 0 {
                endOfInput()
                return false
            }
            hasAnswerBytes = true
            process()
        }
    }

    /// Somebody between here and the server could have ended it early (RFC 8446 6.1).
    var cutOff: ClientError {
        ClientError(
            .connectionClosed,
            "the answer of \(pool.endpoint.name) may be cut off: the connection ended without the end of TLS",
            details: ["nothing of it was used"], hint: "the request may have been carried out")
    }
}
