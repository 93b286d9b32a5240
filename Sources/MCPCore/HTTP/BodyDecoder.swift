/// A decoder for the body of a response, however its end is indicated.
struct BodyDecoder: Sendable {
    private enum Rest: Sendable {
        case length(Int)
        case chunked(ChunkedDecoder)
        case untilClose(Int)
        case done
    }

    private var rest: Rest

    init(_ body: ResponseHead.Body, limits: HTTPLimits = HTTPLimits()) {
        switch body {
        case .none: rest = .done
        case .length(let count): rest = count > 0 ? .length(count) : .done
        case .chunked: rest = .chunked(ChunkedDecoder(limits: limits))
        case .untilClose: rest = .untilClose(limits.maxBodyBytes)
        }
    }

    var isDone: Bool { if case .done = rest { true } else { false } }

    /// Consumes the next bytes and appends the body bytes among them to `body`.
    mutating func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, into body: inout ByteBuffer
    ) -> ChunkedDecoder.Outcome {
        let view = unsafe ByteView(bytes)
        switch rest {
        case .done: return .done(consumed: 0)
        case .length(let count):
            let taken = min(count, view.count)
            unsafe body.append(view[0 ..< taken])
            guard taken == count else {
                rest = .length(count - taken)
                return .needMore
            }
            rest = .done
            return .done(consumed: taken)
        case .untilClose(let room):
            guard view.count <= room else { return .failed(.bodyTooLarge) }
            unsafe body.append(view[0 ..< view.count])
            rest = .untilClose(room - view.count)
            return .needMore
        case .chunked(var decoder):
            let outcome = unsafe decoder.decode(bytes, into: &body)
            rest = .chunked(decoder)
            if case .done = outcome { rest = .done }
            return outcome
        }
    }

    /// Ends the body because the peer closed the connection.
    /// - Throws: `truncatedBody` if the body is incomplete.
    mutating func finish() throws(HTTPError) {
        switch rest {
        case .done, .untilClose: rest = .done
        case .length, .chunked: throw .truncatedBody
        }
    }
}
