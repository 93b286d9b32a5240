/// A decoder for an event stream that arrives in pieces (WHATWG HTML, section 9.2.6).
///
/// An event that is not followed by an empty line when the stream ends is never delivered.
struct SSEDecoder: ~Copyable {
    private let maxEventBytes: Int
    /// The part of the current line that arrived in earlier pieces.
    private var line = ByteBuffer()
    private var data = ByteBuffer()
    private var hasData = false
    private var type = ""
    private var pendingID: String?
    /// The number of bytes of a leading byte order mark seen so far; 3 once it was skipped or ruled out.
    private var markBytes = 0
    private var endedWithCR = false

    /// The id to send as `Last-Event-ID` when the stream is resumed; empty if none was set.
    private(set) var lastEventID: String
    /// The time to wait before reconnecting that the stream requested, in milliseconds.
    private(set) var retryMilliseconds: Int?

    /// Creates a decoder.
    ///
    /// `maxEventBytes` limits the length of each line and of the data of one event; `lastEventID` is the last
    /// id of the stream that this one continues.
    init(maxEventBytes: Int = HTTPLimits().maxEventBytes, lastEventID: String = "") {
        self.maxEventBytes = maxEventBytes
        self.lastEventID = lastEventID
    }

    /// Consumes the next bytes and appends the events they complete to `events`.
    /// - Throws: `eventTooLarge`; the rest of the stream cannot be read.
    mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, into events: inout [SSEEvent]) throws(HTTPError)
    {
        let view = unsafe ByteView(bytes)
        var start = skipMark(view)
        var nextLF = -1
        while start < view.count {
            if endedWithCR {
                endedWithCR = false
                if view[start] == ASCII.lf {
                    start += 1
                    continue
                }
            }
            // Kept across lines, so that a stream of carriage returns is not searched again for each of them.
            if nextLF < start { nextLF = view.firstLineFeed(from: start) ?? view.count }
            let end = view.first(ASCII.cr, in: start ..< nextLF) ?? nextLF
            guard line.count + (end - start) <= maxEventBytes else { throw .eventTooLarge }
            guard end < view.count else {
                unsafe line.append(view[start ..< end])
                return
            }
            try takeLine(view, start ..< end, &events)
            endedWithCR = view[end] == ASCII.cr
            start = end + 1
        }
    }

    /// Skips one byte order mark at the very start of the stream; returns the offset at which to continue.
    private mutating func skipMark(_ view: ByteView) -> Int {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var index = 0
        while markBytes < 3, index < view.count {
            if view[index] == mark[markBytes] {
                markBytes += 1
                index += 1
            } else {
                // Not a mark after all: these bytes belong to the first line.
                line.append(Array(mark[..<markBytes]))
                markBytes = 3
            }
        }
        return index
    }

    private mutating func takeLine(
        _ view: ByteView, _ range: Range<Int>, _ events: inout [SSEEvent]
    ) throws(HTTPError) {
        guard !line.isEmpty else { return try takeLine(unsafe ByteView(view[range]), &events) }
        unsafe line.append(view[range])
        let whole = line.slice(0 ..< line.count)
        line.removeAll(keeping: 4096)
        try unsafe whole.withBytes { (bytes) throws(HTTPError) in
            try takeLine(unsafe ByteView(bytes), &events)
        }
    }

    private mutating func takeLine(_ line: ByteView, _ events: inout [SSEEvent]) throws(HTTPError) {
        if line.count == 0 { return dispatch(&events) }
        let colon = line.firstColon(from: 0)
        var value = min(colon + 1, line.count) ..< line.count
        if !value.isEmpty, line[value.lowerBound] == ASCII.space {
            value = value.lowerBound + 1 ..< line.count
        }
        switch colon {
        case 4 where line.equalsExactly(0 ..< 4, "data"):
            guard data.count + value.count < maxEventBytes else { throw .eventTooLarge }
            if hasData { data.append(ASCII.lf) }
            hasData = true
            unsafe data.append(line[value])
        case 5 where line.equalsExactly(0 ..< 5, "event"): type = line.text(value)
        case 5 where line.equalsExactly(0 ..< 5, "retry"):
            if let time = try? line.contentLength(value) { retryMilliseconds = time }
        case 2 where line.equalsExactly(0 ..< 2, "id"):
            if line.first(0, in: value) == nil { pendingID = line.text(value) }
        default: break  // a comment (colon 0) or an unknown field
        }
    }

    private mutating func dispatch(_ events: inout [SSEEvent]) {
        if let pendingID { lastEventID = pendingID }
        pendingID = nil
        if hasData {
            let content = data.slice(0 ..< data.count)
            data = ByteBuffer()
            events.append(SSEEvent(data: content, id: lastEventID, type: type.isEmpty ? "message" : type))
        }
        hasData = false
        type = ""
    }
}

extension ByteView {
    /// Returns the offset of the first `byte` in `range`, or nil.
    fileprivate func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
        let part = unsafe self[range]
        guard let start = part.baseAddress else { return nil }
        return unsafe firstOffset(of: byte, in: start, count: part.count).map { $0 + range.lowerBound }
    }

    fileprivate func text(_ range: Range<Int>) -> String {
        unsafe String(decoding: self[range], as: UTF8.self)
    }
}

/// One server-sent event (WHATWG HTML, section 9.2).
public struct SSEEvent: Sendable, Hashable {
    /// The type; `message` if the stream specifies none.
    public var type: String
    /// The data lines, joined by line feeds.
    public var data: ByteSlice
    /// The id that a client sends as `Last-Event-ID` when it reconnects, or empty for none. In an event that
    /// was read from a stream, the last id up to this event.
    public var id: String

    /// Creates an event with the given parts.
    public init(data: ByteSlice, id: String = "", type: String = "message") {
        self.type = type
        self.data = data
        self.id = id
    }
}
