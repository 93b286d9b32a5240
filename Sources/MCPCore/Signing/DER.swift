/// The part of DER (X.690) that keys and ECDSA signatures need.
enum DER {
    private static let integer: UInt8 = 0x02
    private static let bitString: UInt8 = 0x03
    private static let sequence: UInt8 = 0x30

    // MARK: Writing

    /// Returns a sequence of encoded elements.
    static func sequence(_ elements: [UInt8]...) -> [UInt8] { element(sequence, elements.flatMap { $0 }) }

    /// Returns a bit string of whole bytes.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { element(bitString, [0] + bytes) }

    /// Returns a nonnegative integer of big-endian bytes, which may have leading zeros.
    static func integer(_ number: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(number.drop { $0 == 0 })
        // The highest bit is the sign.
        let isPadded = digits.first.map { $0 & 0x80 != 0 } ?? true
        return element(integer, (isPadded ? [0] : []) + digits)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return [tag, UInt8(truncatingIfNeeded: count)] + content }
        var length: [UInt8] = []
        var rest = count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(truncatingIfNeeded: length.count)] + length + content
    }

    // MARK: Reading

    /// Returns the content of a bit string of whole bytes that is all of `bytes`.
    static func bitString(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = bytes
        guard let content = take(bitString, from: &rest), rest.isEmpty, content.first == 0 else { return nil }
        return content.dropFirst()
    }

    /// Returns the two nonnegative integers of the sequence that is all of `bytes`, without leading zeros.
    static func twoIntegers(in bytes: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        var rest = bytes
        guard var content = take(sequence, from: &rest), rest.isEmpty,
            let first = take(integer, from: &content), let second = take(integer, from: &content),
            content.isEmpty, !isNegative(first), !isNegative(second)
        else { return nil }
        return (first.drop { $0 == 0 }, second.drop { $0 == 0 })
    }

    private static func isNegative(_ integer: ArraySlice<UInt8>) -> Bool {
        integer.first.map { $0 & 0x80 != 0 } ?? true
    }

    /// Removes one element from the front of `bytes` and returns its content.
    private static func take(_ tag: UInt8, from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, let first = bytes.popFirst() else { return nil }
        var count = Int(first & 0x7F)
        if first & 0x80 != 0 {
            let digits = count
            // Two digits are enough for all keys that are accepted.
            guard digits > 0, digits <= 2, bytes.count >= digits else { return nil }
            // Small: a byte.
            count = bytes.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(digits)
        }
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }
}

/// SubjectPublicKeyInfo (RFC 5280, RFC 8410), the form in which OpenSSL takes and gives public keys.
extension PublicKey {
    /// Everything before the two coordinates: the algorithm, the curve and the mark of an uncompressed point.
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
        0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]
    /// The algorithm identifier of rsaEncryption.
    private static let rsaIdentifier: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    /// The key as SubjectPublicKeyInfo.
    var subjectPublicKeyInfo: [UInt8] {
        switch self {
        case .rsa(let modulus, let exponent):
            let key = DER.sequence(DER.integer(modulus), DER.integer(exponent))
            return DER.sequence(Self.rsaIdentifier, DER.bitString(key))
        case .p256(let x, let y): return Self.p256Prefix + x + y
        case .ed25519(let bytes): return Self.ed25519Prefix + bytes
        }
    }

    /// Creates a key from SubjectPublicKeyInfo; nil for keys of other types, curves and forms.
    init?(subjectPublicKeyInfo bytes: [UInt8]) {
        let size = Self.fieldBytes
        if bytes.starts(with: Self.p256Prefix), bytes.count == Self.p256Prefix.count + size + size {
            self = .p256(x: Array(bytes.dropLast(size).suffix(size)), y: Array(bytes.suffix(size)))
        } else if bytes.starts(with: Self.ed25519Prefix), bytes.count == Self.ed25519Prefix.count + size {
            self = .ed25519(Array(bytes.suffix(size)))
        } else {
            // The tag and the length of the outer sequence have four bytes for keys of 2048 bits and more.
            let content = bytes.dropFirst(4)
            guard content.starts(with: Self.rsaIdentifier),
                let key = DER.bitString(in: content.dropFirst(Self.rsaIdentifier.count)),
                let (modulus, exponent) = DER.twoIntegers(in: key)
            else { return nil }
            self = .rsa(modulus: Array(modulus), exponent: Array(exponent))
        }
    }
}
