/// Opening: the address, the socket, and the time limit for both.
extension HTTPClientConnection {
    /// The step that a connection waits for until it is open.
    enum Opening: UInt8, Sendable {
        case address = 1
        case socket, handshake

        /// Returns the error for a step that did not finish within `limit`.
        func timedOut(_ limit: Duration) -> TLSError {
            let text =
                switch self {
                case .address: "its address was not found within \(limit.inWords)"
                case .socket: "no answer within \(limit.inWords)"
                case .handshake: "the server did not finish the TLS handshake within \(limit.inWords)"
                }
            return TLSError(.connection, text, hint: "is the server running, and is the address right?")
        }
    }

    func open(for exchange: HTTPClientExchange) {
        if pool.carrier != nil {
            timer = loop.makeTimer { self.timeOut() }
            return begin(exchange)
        }
        self.exchange = exchange
        exchange.connection = self
        pool.session.opening = .address
        // The timer releases the connection when it is cancelled, which `close` does.
        timer = loop.makeTimer { self.timeOut() }
        timer?.arm(at: loop.clock.now + exchange.request.connectTimeout)
        pool.resolve { [self] result in
            guard case .connecting = phase else { return }
            switch result {
            case .success(let found):
                pool.session.opening = .socket
                addresses = found.reversed()
                connectNext(nil)
            case .failure(let error): refuse(error)
            }
        }
    }

    private func timeOut() {
        switch phase {
        case .connecting, .handshake:
            guard let exchange else { return close() }
            refuse((pool.session.opening ?? .socket).timedOut(exchange.request.connectTimeout))
        case .head: break
        case .idle, .body, .closed: close()
        }
    }

    private func connectNext(_ problem: IOError?) {
        guard let address = addresses.popLast() else {
            return refuse(.unreachable(problem?.reason ?? "it has no address"), errno: problem?.errno)
        }
        deregister()
        do {
            let socket = try Syscalls.streamSocket(address.domain)
            let fd = socket.rawValue
            descriptor = consume socket
            // Without this, small requests are slower, but nothing worse happens.
            if address.family != .unix { try? Syscalls.setNoDelay(fd) }
            if try Syscalls.connect(fd, to: address) {
                connected()
            } else {
                registration = try loop.register(fd, .writable, self)
                interest = .writable
            }
        } catch {
            connectNext(error)
        }
    }

    func connectionProgressed() {
        guard let fd = descriptor?.rawValue else { return }
        let problem: IOError?
        do { problem = try Syscalls.connectionError(fd) } catch { problem = error }
        if let problem { connectNext(problem) } else { connected() }
    }

    private func connected() {
        guard let exchange, !exchange.isOver else { return close() }
        pool.session.opening = pool.endpoint.tlsHost == nil ? nil : .handshake
        if let host = pool.endpoint.tlsHost { return beginHandshake(host) }
        self.exchange = nil
        begin(exchange)
    }

    func refuse(_ error: TLSError, errno: Int32? = nil) {
        let refused = exchange
        exchange = nil
        close()
        var failure = ClientError(error, pool.endpoint.name)
        failure.connectErrno = errno.flatMap { UInt8(exactly: $0) } ?? 0
        refused?.fail(failure)
    }
}
