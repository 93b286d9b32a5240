/// One reply of a store that speaks RESP2, the protocol of Redis and Valkey
/// (redis.io/docs/latest/develop/reference/protocol-spec).
///
/// Only the kinds that our commands are answered with are read: the reply to a command is never an array.
enum RESPReply: Sendable, Equatable {
    /// A line without a meaning of its own, such as `OK`.
    case text(String)
    /// A command was refused.
    case error(String)
    case integer(Int64)
    /// A value.
    case bytes([UInt8])
    /// There is no value.
    case null

    /// The longest line, and the longest value, in bytes. What we store is far smaller.
    static let maxLineBytes = 1024
    static let maxValueBytes = 64 << 10

    enum Parsed: Equatable {
        case reply(RESPReply, byteCount: Int)
        case needMore
        /// Not RESP, or more than we could have stored.
        case failed(String)
    }

    /// Reads the reply that bytes begin with.
    static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Parsed {
        guard let kind = unsafe bytes.first else { return .needMore }
        guard let end = unsafe bytes.prefix(maxLineBytes + 2).firstIndex(of: UInt8(ascii: "\n")) else {
            return bytes.count < maxLineBytes + 2 ? .needMore : .failed("a line is too long")
        }
        guard end >= 2, unsafe bytes[end - 1] == UInt8(ascii: "\r") else {
            return .failed("a line does not end with CR LF")
        }
        let line = unsafe bytes[1 ..< end - 1]
        switch kind {
        case UInt8(ascii: "+"): return unsafe .reply(.text(text(line)), byteCount: end + 1)
        case UInt8(ascii: "-"): return unsafe .reply(.error(text(line)), byteCount: end + 1)
        case UInt8(ascii: ":"):
            guard let number = unsafe number(line) else { return .failed("a number cannot be read") }
            return .reply(.integer(number), byteCount: end + 1)
        case UInt8(ascii: "$"):
            guard let length = unsafe number(line) else { return .failed("a length cannot be read") }
            if length == -1 { return .reply(.null, byteCount: end + 1) }
            guard (0 ... Int64(maxValueBytes)).contains(length) else { return .failed("a value is too long") }
            // Small: both are limited.
            return unsafe value(bytes, from: end + 1, count: Int(length))
        default: return .failed("a reply is of an unexpected kind")
        }
    }

    private static func value(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, count: Int) -> Parsed {
        let end = start + count
        guard bytes.count >= end + 2 else { return .needMore }
        guard unsafe bytes[end] == UInt8(ascii: "\r"), unsafe bytes[end + 1] == UInt8(ascii: "\n") else {
            return .failed("a value does not end with CR LF")
        }
        return unsafe .reply(.bytes(Array(bytes[start ..< end])), byteCount: end + 2)
    }

    private static func text(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        unsafe String(decoding: line, as: UTF8.self)
    }

    private static func number(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        guard unsafe line.count <= 20, let first = unsafe line.first, first != UInt8(ascii: "+") else {
            return nil
        }
        return unsafe Int64(text(line))
    }
}

/// A command, and its parts in the form in which they are sent.
struct RESPCommand: Sendable {
    let bytes: [UInt8]
    /// The first word.
    let name: String

    init(_ parts: [[UInt8]]) {
        name = String(decoding: parts.first ?? [], as: UTF8.self)
        var bytes = Array("*\(parts.count)\r\n".utf8)
        for part in parts {
            bytes += Array("$\(part.count)\r\n".utf8)
            bytes += part
            bytes += [0x0D, 0x0A]
        }
        self.bytes = bytes
    }

    init(_ words: String...) { self.init(words.map { Array($0.utf8) }) }
}
