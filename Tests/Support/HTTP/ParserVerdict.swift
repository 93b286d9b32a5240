package import Testing

@testable package import MCPCore

/// The ways in which a test feeds one input to a parser that works piece by piece.
package enum Cut: Sendable, CustomStringConvertible {
    case whole
    case bytes
    case at(Int)

    /// The input whole, byte by byte, and cut in two at every place (of the first 600).
    package static func all(_ count: Int) -> [Cut] {
        [.whole, .bytes] + (1 ..< max(2, min(count, 600))).map { .at($0) }
    }

    /// How many bytes are there after each step.
    package func steps(_ count: Int) -> [Int] {
        switch self {
        case .whole: [count]
        case .bytes: Array(stride(from: 1, through: count, by: 1))
        case .at(let place): place < count ? [place, count] : [count]
        }
    }

    package var description: String {
        switch self {
        case .whole: "whole"
        case .bytes: "byte by byte"
        case .at(let place): "cut at \(place)"
        }
    }
}

/// What a parser said in the end, as text that tests compare.
package enum Verdict: Sendable, Hashable, CustomStringConvertible {
    case needMore
    case head(String)
    case failed(HTTPError)

    package var description: String {
        switch self {
        case .needMore: "needMore"
        case .head(let text): text
        case .failed(let error): "\(error.status) \(error)"
        }
    }
}

package func requestVerdict(_ input: [UInt8], cut: Cut, limits: HTTPLimits = HTTPLimits()) -> Verdict {
    var parser = RequestParser(limits: limits)
    for count in cut.steps(input.count) {
        // A copy of exactly these bytes, so that a read beyond them is a read outside of an allocation.
        let part = Array(input[..<count])
        switch unsafe part.withUnsafeBufferPointer({ unsafe parser.parse($0) }) {
        case .needMore: continue
        case .head(let head): return .head(describe(head, ByteSlice(part)))
        case .failed(let error): return .failed(error)
        }
    }
    return .needMore
}

package func responseVerdict(
    _ input: [UInt8], cut: Cut, isHEAD: Bool = false, limits: HTTPLimits = HTTPLimits()
) -> Verdict {
    var parser = ResponseParser(limits: limits)
    for count in cut.steps(input.count) {
        let part = Array(input[..<count])
        switch unsafe part.withUnsafeBufferPointer({ unsafe parser.parse($0, isHEAD: isHEAD) }) {
        case .needMore: continue
        case .head(let head):
            return .head(
                "\(head.status) \(head.version) \(head.body) keep=\(head.keepAlive) \(head.byteCount)")
        case .failed(let error): return .failed(error)
        }
    }
    return .needMore
}

/// The verdict, after checking that all cuts of the input give the same.
package func settled(
    _ input: some Collection<UInt8>, _ verdict: (_ input: [UInt8], _ cut: Cut) -> Verdict,
    sourceLocation: SourceLocation = #_sourceLocation
) -> Verdict {
    let input = Array(input)
    let whole = verdict(input, .whole)
    for cut in Cut.all(input.count) {
        let other = verdict(input, cut)
        if other != whole {
            Issue.record("\(cut): \(other), but whole: \(whole)", sourceLocation: sourceLocation)
        }
    }
    return whole
}

package func settledRequest(
    _ input: some Collection<UInt8>, limits: HTTPLimits = HTTPLimits(),
    sourceLocation: SourceLocation = #_sourceLocation
) -> Verdict {
    settled(input, { requestVerdict($0, cut: $1, limits: limits) }, sourceLocation: sourceLocation)
}

private func describe(_ head: RequestHead, _ bytes: ByteSlice) -> String {
    var parts = ["\(head.method) \(String(head.path(in: bytes)))"]
    if let query = head.query(in: bytes) { parts.append("?\(String(query))") }
    if head.version == .http10 { parts.append("1.0") }
    if let length = head.contentLength { parts.append("length=\(length)") }
    if head.isChunked { parts.append("chunked") }
    if !head.keepAlive { parts.append("close") }
    if head.expectsContinue { parts.append("continue") }
    parts.append("\(head.byteCount)")
    return parts.joined(separator: " ")
}

/// The head of a request that must parse, with the bytes it points into.
package func parsedRequest(_ text: String) throws -> (head: RequestHead, bytes: ByteSlice) {
    let bytes = ByteSlice(text)
    var parser = RequestParser()
    guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else {
        throw UnexpectedVerdict(text: text)
    }
    return (head, bytes)
}

package struct UnexpectedVerdict: Error {
    package let text: String
}
