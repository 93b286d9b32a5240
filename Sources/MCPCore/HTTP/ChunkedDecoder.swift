/// A decoder for a chunked body (RFC 9112, section 7.1) that arrives in pieces.
///
/// The size of extensions and trailers is limited, and their syntax is checked; then they are dropped.
struct ChunkedDecoder: Sendable {
    enum Outcome: Sendable, Hashable {
        /// All bytes were consumed.
        case needMore
        /// The body is complete; this many bytes were consumed, and the rest belong to the next message.
        case done(consumed: Int)
        case failed(HTTPError)
    }

    private enum State: Sendable {
        case size, extensions, sizeLF
        case data, dataCR, dataLF
        case lineStart, name, value, lineLF, lastLF
        case done
    }

    private let limits: HTTPLimits
    private var state = State.size
    private var failure: HTTPError?
    private var digits = 0
    private var chunkRest: UInt64 = 0
    private var bodyBytes = 0
    private var extensionBytes = 0
    private var trailerBytes = 0
    private var trailerFields = 0

    init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// Consumes the next bytes and appends the data in them to `body`.
    mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, into body: inout ByteBuffer) -> Outcome {
        if let failure { return .failed(failure) }
        let view = unsafe ByteView(bytes)
        do {
            let consumed = try decode(view, into: &body)
            return state == .done ? .done(consumed: consumed) : .needMore
        } catch {
            failure = error
            return .failed(error)
        }
    }

    private mutating func decode(_ view: ByteView, into body: inout ByteBuffer) throws(HTTPError) -> Int {
        var index = 0
        while index < view.count, state != .done {
            if state == .data {
                // Small: at most the size of a view.
                let count = Int(min(UInt64(view.count - index), chunkRest))
                unsafe body.append(view[index ..< index + count])
                // Small: at most the rest of the chunk.
                chunkRest -= UInt64(count)
                index += count
                if chunkRest == 0 { state = .dataCR }
                continue
            }
            let byte = view[index]
            index += 1
            switch state {
            case .size, .extensions, .sizeLF: try takeSize(byte)
            case .dataCR: try expect(ASCII.cr, byte, then: .dataLF)
            case .dataLF: try expect(ASCII.lf, byte, then: .size)
            default: try takeTrailer(byte)
            }
        }
        return index
    }

    private mutating func expect(_ wanted: UInt8, _ byte: UInt8, then next: State) throws(HTTPError) {
        guard byte == wanted else { throw .malformedChunk }
        state = next
    }

    /// Consumes a byte of `chunk-size [ chunk-ext ] CR LF`.
    private mutating func takeSize(_ byte: UInt8) throws(HTTPError) {
        switch (state, byte) {
        case (.sizeLF, ASCII.lf): try beginChunk()
        case (.sizeLF, _): throw .malformedChunkSize
        case (.size, _) where ASCII.hexValue(byte) != nil:
            digits += 1
            if digits > 16 { throw .chunkSizeOverflow }
            // Small: a hexadecimal digit, of which there are at most 16.
            chunkRest = chunkRest << 4 | UInt64(ASCII.hexValue(byte) ?? 0)
        case (_, ASCII.cr):
            if digits == 0 { throw .malformedChunkSize }
            state = .sizeLF
        case (.size, 0x3B) where digits > 0:  // ";" must follow the digits directly
            state = .extensions
            try countExtension()
        case (.extensions, _) where byte >= 0x20 && byte != 0x7F || byte == ASCII.tab: try countExtension()
        default: throw .malformedChunkSize
        }
    }

    private mutating func countExtension() throws(HTTPError) {
        extensionBytes += 1
        if extensionBytes > limits.maxChunkExtensionBytes { throw .chunkExtensionsTooLong }
    }

    private mutating func beginChunk() throws(HTTPError) {
        guard let size = Int(exactly: chunkRest) else { throw .chunkSizeOverflow }
        digits = 0
        if size == 0 {
            state = .lineStart
            return
        }
        if size > limits.maxBodyBytes - bodyBytes { throw .bodyTooLarge }
        bodyBytes += size
        state = .data
    }

    /// Consumes a byte of `*( field-line CR LF ) CR LF`.
    private mutating func takeTrailer(_ byte: UInt8) throws(HTTPError) {
        trailerBytes += 1
        if trailerBytes > limits.maxHeaderBytes { throw .headersTooLarge }
        switch (state, byte) {
        case (.lineStart, ASCII.cr): state = .lastLF
        case (.lineStart, _):
            trailerFields += 1
            if trailerFields > limits.maxFields { throw .tooManyFields }
            if ASCII.isBlank(byte) { throw .lineFolding }
            guard ASCII.isToken(byte) else { throw byte == ASCII.lf ? .bareLineFeed : .malformedFieldName }
            state = .name
        case (.name, ASCII.colon): state = .value
        case (.name, _):
            if ASCII.isBlank(byte) { throw .spaceBeforeColon }
            guard ASCII.isToken(byte) else { throw byte == ASCII.lf ? .bareLineFeed : .malformedFieldName }
        case (.value, ASCII.cr): state = .lineLF
        case (.value, ASCII.lf): throw .bareLineFeed
        case (.value, _):
            if byte < 0x20 && byte != ASCII.tab || byte == 0x7F { throw .controlCharacter }
        case (.lineLF, ASCII.lf): state = .lineStart
        case (.lastLF, ASCII.lf): state = .done
        default: throw .bareCarriageReturn
        }
    }
}
