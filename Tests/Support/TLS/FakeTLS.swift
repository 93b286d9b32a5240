package import MCPCore

/// A provider of a program: it greets, turns every bit, and cannot send before it was told to go.
package struct FakeTLS: TLSProvider {
    package static let greeting = Array("HELLO".utf8)
    package static let answer = Array("WELCOME".utf8)

    package init() {}

    package func filter(for host: String) throws(TLSError) -> any TLSFilter {
        if host == "127.0.0.1" { throw TLSError(.handshake, "nobody of that name") }
        return Filter()
    }

    package final class Filter: TLSFilter {
        private var received: [UInt8] = []
        private var toSend = FakeTLS.greeting
        private var isOpen = false
        private var mayGo = false

        package func handshake() throws(TLSError) -> Bool {
            guard received.count >= FakeTLS.answer.count else { return false }
            guard Array(received.prefix(FakeTLS.answer.count)) == FakeTLS.answer else {
                throw TLSError(.handshake, "an odd greeting")
            }
            received.removeFirst(FakeTLS.answer.count)
            isOpen = true
            takeGo()
            return true
        }

        package func receive(_ bytes: RawSpan) throws(TLSError) {
            for index in 0 ..< bytes.byteCount {
                received.append(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
            }
            if isOpen { takeGo() }
        }

        private func takeGo() {
            if !mayGo, !received.isEmpty { mayGo = received.removeFirst() == UInt8(ascii: "G") }
        }

        package func read(into room: inout MutableRawSpan) throws(TLSError) -> Int? {
            let count = min(room.byteCount, received.count)
            if count == 0 { return nil }
            for index in 0 ..< count {
                room.storeBytes(of: ~received[index], toByteOffset: index, as: UInt8.self)
            }
            received.removeFirst(count)
            return count
        }

        package func write(_ bytes: RawSpan) throws(TLSError) -> Int {
            guard mayGo else { return 0 }
            let count = min(bytes.byteCount, 100)
            for index in 0 ..< count {
                toSend.append(~(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)))
            }
            return count
        }

        package func takeOutput(into room: inout MutableRawSpan) -> Int {
            let count = min(room.byteCount, toSend.count)
            for index in 0 ..< count {
                room.storeBytes(of: toSend[index], toByteOffset: index, as: UInt8.self)
            }
            toSend.removeFirst(count)
            return count
        }

        package func close() { toSend.append(0) }
    }
}
