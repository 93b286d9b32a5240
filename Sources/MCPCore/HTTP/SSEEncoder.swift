/// An encoder for an event stream (WHATWG HTML, section 9.2.5).
///
/// No argument can add a line of its own to the stream.
enum SSEEncoder {
    /// Writes one event; `data` is split at each CR, LF and CR LF.
    static func write(
        data: ByteSlice, event: String? = nil, id: String? = nil, retryMilliseconds: Int? = nil,
        to buffer: inout ByteBuffer
    ) {
        writeFields(event: event, id: id, retryMilliseconds: retryMilliseconds, to: &buffer)
        unsafe data.withBytes { bytes in
            let view = unsafe ByteView(bytes)
            var start = 0
            while true {
                var end = start
                while end < view.count, view[end] != ASCII.lf, view[end] != ASCII.cr { end += 1 }
                buffer.append("data: ")
                unsafe buffer.append(view[start ..< end])
                buffer.append(ASCII.lf)
                if end == view.count { break }
                let isPair = view[end] == ASCII.cr && end + 1 < view.count && view[end + 1] == ASCII.lf
                start = end + (isPair ? 2 : 1)
            }
        }
        buffer.append(ASCII.lf)
    }

    /// Returns the encoding of one event.
    static func bytes(of event: SSEEvent) -> [UInt8] {
        var out = ByteBuffer()
        write(event, to: &out)
        return out.freeze().array
    }

    /// Writes one event.
    static func write(_ event: SSEEvent, to buffer: inout ByteBuffer) {
        write(
            data: event.data, event: event.type == "message" ? nil : event.type,
            id: event.id.isEmpty ? nil : event.id, to: &buffer)
    }

    /// Writes an empty comment, which keeps proxies from closing a quiet stream and detects dead peers.
    static func writeKeepAlive(to buffer: inout ByteBuffer) { buffer.append(":\n\n") }

    private static func writeFields(
        event: String?, id: String?, retryMilliseconds: Int?, to buffer: inout ByteBuffer
    ) {
        if let event {
            buffer.append("event: ")
            appendLine(event, to: &buffer)
        }
        if let id {
            buffer.append("id: ")
            appendLine(id, to: &buffer)
        }
        if let retryMilliseconds {
            buffer.append("retry: ")
            buffer.append(decimal: max(0, retryMilliseconds))
            buffer.append(ASCII.lf)
        }
    }

    /// Appends `text` without control characters: NUL would make readers ignore an id, and a line ending
    /// would begin another field.
    private static func appendLine(_ text: String, to buffer: inout ByteBuffer) {
        for byte in text.utf8 where byte >= 0x20 { buffer.append(byte) }
        buffer.append(ASCII.lf)
    }
}
