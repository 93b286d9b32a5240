/// The same connection for https: all data passes through a filter.
extension HTTPClientConnection {
    /// The maximum size of one record (RFC 8446 5.1).
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
        // More than the handshake may have arrived; the socket does not report it again.
        read(through: tls)
    }

    // MARK: Sending

    func write(through tls: TLSStream, _ fd: Int32) {
        do {
            while !outbox.isEmpty {
                // The filter may send part of it and then fail.
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
                case .dry:
                    emptiedInTurn = loop.turns
                    return write()
                case .ended:
                    noteUnreadable(tls)
                    return endOfInput(isCutOff: true)
                }
            }
            // The socket reports the data that it still has, but not the data in the filter.
            if try takePlaintext(tls) { write() }
        } catch {
            noteUnreadable(tls)
            lost(error.message)
        }
    }

    /// Records that part of a response has arrived, even if it cannot be read: the request must not be sent
    /// again. An orderly end needs no such care, because then everything could be read.
    private func noteUnreadable(_ tls: TLSStream) {
        if tls.hasReceived { hasAnswerBytes = true }
    }

    /// Processes the data that can be decrypted now; returns false when the connection has ended.
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

    /// The error for a response that a third party between here and the server could have ended
    /// early (RFC 8446 6.1).
    var cutOff: ClientError {
        ClientError(
            .connectionClosed,
            "the response from \(pool.endpoint.name) may be cut off: "
                + "the connection ended without a TLS closure",
            details: ["nothing of it was used"], hint: "the request may have been carried out")
    }
}
