@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What our readers say of a case, for the comparison with others: one line per case, its kind and up to two texts
/// in hexadecimal, separated by tabs.
enum Verdicts {
    static func print(ofCasesIn path: String) -> Bool {
        guard let bytes = try? Files.read(path, maxBytes: 1 << 30) else { return false }
        for line in bytes.split(separator: 0x0A) {
            let parts = line.split(separator: 0x09, omittingEmptySubsequences: false)
            let texts = parts.dropFirst().map { Hex.decode($0) ?? [] }
            Swift.print(
                verdict(Array(parts[0]).text, texts.first ?? [], texts.dropFirst().first ?? []))
        }
        return true
    }

    static func verdict(_ kind: String, _ first: [UInt8], _ second: [UInt8]) -> String {
        switch kind {
        case "json": (try? JSONValue(parsing: first)).map { "1 " + Hex.encode($0.serialized().utf8) } ?? "0"
        case "http": http(first)
        case "schema": schema(first, second)
        case "pattern": pattern(first.text, second.text)
        default: "unknown kind"
        }
    }

    /// The requests of a connection, until one is incomplete or refused.
    private static func http(_ input: [UInt8]) -> String {
        var (rest, verdicts) = (input[...], [String]())
        while !rest.isEmpty, verdicts.count < 8 {
            var parser = RequestParser()
            let outcome = unsafe withExactCopy(of: rest) { unsafe parser.parse($0) }
            guard case .head(let head) = outcome else {
                if case .failed(let error) = outcome { verdicts.append("refused \(error)") }
                if case .needMore = outcome { verdicts.append("incomplete") }
                break
            }
            let target = Hex.encode(
                rest[
                    rest.startIndex + head.target.range.lowerBound ..< rest.startIndex
                        + head.target.range.upperBound])
            rest = rest.dropFirst(head.byteCount)
            do throws(HTTPError) {
                guard let body = try body(of: head, &rest) else {
                    verdicts.append("incomplete")
                    break
                }
                verdicts.append("request \(target) \(Hex.encode(body))")
            } catch {
                verdicts.append("refused \(error)")
                break
            }
            if !head.keepAlive { break }
        }
        return verdicts.joined(separator: ",")
    }

    /// The body, which is removed from `rest`; nil when its end is missing.
    private static func body(
        of head: RequestHead, _ rest: inout ArraySlice<UInt8>
    ) throws(HTTPError) -> [UInt8]? {
        if head.isChunked {
            var decoder = ChunkedDecoder()
            var body = ByteBuffer()
            switch unsafe withExactCopy(of: rest, { unsafe decoder.decode($0, into: &body) }) {
            case .needMore: return nil
            case .failed(let error): throw error
            case .done(let count):
                rest = rest.dropFirst(count)
                return body.slice(0 ..< body.count).array
            }
        }
        let count = head.contentLength ?? 0
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private static func schema(_ schema: [UInt8], _ instance: [UInt8]) -> String {
        guard let schema = try? JSONValue(parsing: schema),
            let raw = try? RawJSON(validating: ByteSlice(instance))
        else { return "not JSON" }
        do {
            let compiled = try CompiledSchema(schema)
            return "\(compiled.isValid(raw.value) ? 1 : 0)\(compiled.isValid(raw) ? 1 : 0)"
        } catch {
            return "refused \(error)".replacingAll("\n", with: " ")
        }
    }

    private static func pattern(_ source: String, _ text: String) -> String {
        do {
            let pattern = try Pattern(source)
            var budget = 20_000_000
            return pattern.isFound(in: text, budget: &budget).map { $0 ? "1" : "0" } ?? "too expensive"
        } catch {
            return "refused \(error.description)".replacingAll("\n", with: " ")
        }
    }
}
