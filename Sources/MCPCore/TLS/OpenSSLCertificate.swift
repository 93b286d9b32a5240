#if !canImport(Darwin)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The information about a certificate that an error contains.
struct OpenSSLCertificate: Sendable {
    private static let maxNames: Int32 = 10
    private static let maxNameBytes = 100
    private static let alternativeNames: Int32 = 85
    private static let dnsName: Int32 = 2
    private static let ipAddress: Int32 = 7

    /// The names and addresses that the certificate is valid for.
    let hosts: [String]
    let subject: String
    let issuer: String
    /// The first day of validity, such as `2024-05-01`.
    let begins: String
    let ends: String
    let hasBegun: Bool
    let hasEnded: Bool

    /// Reads a certificate, whose content is untrusted.
    init(_ certificate: OpaquePointer, _ library: OpenSSLLibrary) {
        hosts = unsafe Self.hosts(certificate, library)
        subject = unsafe Self.line(library.subject(certificate), library)
        issuer = unsafe Self.line(library.issuer(certificate), library)
        let (start, end) = unsafe (library.notBefore(certificate), library.notAfter(certificate))
        begins = unsafe Self.day(start, library)
        ends = unsafe Self.day(end, library)
        // A negative result means in the past; 0 means that the time is invalid.
        hasBegun = unsafe library.compareToNow(start) < 0
        hasEnded = unsafe library.compareToNow(end) < 0
    }

    private static func hosts(_ certificate: OpaquePointer, _ library: OpenSSLLibrary) -> [String] {
        guard let names = unsafe library.extensionOf(certificate, alternativeNames, nil, nil) else {
            return []
        }
        defer { unsafe library.namesFree(names) }
        var hosts: [String] = []
        for index in 0 ..< max(0, min(unsafe library.stackCount(names), maxNames)) {
            var kind: Int32 = 0
            let value = unsafe library.nameValue(library.stackItem(names, index), &kind)
            guard kind == dnsName || kind == ipAddress, let value = unsafe value,
                let start = unsafe library.stringBytes(value)
            else { continue }
            let count = min(Int(unsafe library.stringCount(value)), maxNameBytes)
            let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: max(0, count)))
            hosts.append(kind == dnsName ? printable(bytes) : address(bytes))
        }
        return hosts
    }

    private static func address(_ bytes: [UInt8]) -> String {
        if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
        return stride(from: 0, to: bytes.count, by: 2).map { index in
            String(bytes[index ..< min(index + 2, bytes.count)].reduce(0) { $0 << 8 | Int($1) }, radix: 16)
        }.joined(separator: ":")
    }

    private static func line(_ name: OpaquePointer?, _ library: OpenSSLLibrary) -> String {
        guard let name = unsafe name else { return "(unnamed)" }
        var buffer = [CChar](repeating: 0, count: maxNameBytes + 1)
        let isThere = unsafe library.nameLine(name, &buffer, Int32(buffer.count)) != nil
        let text = printable(buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
        // OpenSSL writes /C=CH/CN=Name.
        return isThere && !text.isEmpty ? String(text.drop { $0 == "/" }) : "(unnamed)"
    }

    private static func day(_ time: OpaquePointer?, _ library: OpenSSLLibrary) -> String {
        var parts = unsafe tm()
        guard unsafe library.brokenDownTime(time, &parts) == 1 else { return "an unknown date" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (year, month, day) = unsafe (Int(parts.tm_year) + 1900, parts.tm_mon + 1, parts.tm_mday)
        return "\(year)-\(two(month))-\(two(day))"
    }

    /// Replaces nonprintable bytes, since text from a peer must not control a terminal.
    private static func printable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { $0 >= 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
#endif
