import MCPCore
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The names of this target's tests, read from their sources.
enum TestNames {
    /// The folder of this target's tests.
    static let folder: String = {
        let file = #filePath
        return String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
    }()

    /// All display names and function names of tests.
    static func all() throws -> Set<String> {
        guard let directory = unsafe opendir(folder) else { throw FaultTestError("\(folder) cannot be read") }
        defer { unsafe closedir(directory) }
        var names: Set<String> = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasSuffix(".swift") else { continue }
            let text = try Files.read("\(folder)/\(name)", maxBytes: 1 << 20)
            names.formUnion(self.names(in: String(decoding: text, as: UTF8.self)))
        }
        return names
    }

    private static func names(in text: String) -> [String] {
        var names: [String] = []
        var rest = text[...]
        while let start = rest.utf8.firstEnd(of: "@Test(") {
            rest = rest[start...].drop(while: \.isWhitespace)
            if rest.first == "\"" { names.append(String(rest.dropFirst().prefix { $0 != "\"" })) }
        }
        return names
    }
}

extension Substring.UTF8View {
    /// The index behind the first occurrence of `pattern`.
    fileprivate func firstEnd(of pattern: String) -> Index? {
        var start = startIndex
        while start < endIndex {
            if self[start...].starts(with: pattern.utf8) { return index(start, offsetBy: pattern.utf8.count) }
            formIndex(after: &start)
        }
        return nil
    }
}

/// The tables are complete and true.
@Suite struct FaultMatrixTests {
    @Test func everyRowIsThereOnce() {
        #expect(FaultMatrix.rows.map(\.number) == Array(1 ... 110))
    }

    @Test func everyNamedTestExists() throws {
        let names = try TestNames.all()
        for row in FaultMatrix.rows {
            for test in row.tests {
                #expect(names.contains(test), "row \(row.number) names a test that is not there")
            }
        }
        for advisory in Advisories.rows {
            for test in advisory.tests {
                #expect(names.contains(test), "\(advisory.name) names a test that is not there")
            }
        }
    }

    @Test func everyTestElsewhereExists() throws {
        for row in FaultMatrix.rows {
            guard case .elsewhere(let places, _) = row.proof else { continue }
            for place in places {
                let parts = place.split(separator: " ")
                let (file, function) = (try #require(parts.first?.dropLast()), try #require(parts.last))
                let bytes = try? Files.read("\(TestNames.folder)/../\(file)", maxBytes: 1 << 20)
                let text = String(decoding: try #require(bytes, "\(file) is not there"), as: UTF8.self)
                let isThere = ["func", "def"].contains { text.contains("\($0) \(function)(") }
                #expect(isThere, "row \(row.number) names \(place), which is not there")
            }
        }
    }

    @Test func aRowHasTestsOrAReason() throws {
        let names = try TestNames.all()
        for row in FaultMatrix.rows {
            let found = names.filter { $0.hasPrefix("fault \(row.number):") }
            switch row.proof {
            case .tests(let tests, let except):
                #expect(found == Set(tests), "row \(row.number)")
                #expect(!tests.isEmpty && except?.isEmpty != true, "row \(row.number)")
            case .elsewhere(let places, let except):
                #expect(found.isEmpty, "row \(row.number) has tests here")
                #expect(!places.isEmpty && except?.isEmpty != true, "row \(row.number)")
            case .none(let reason):
                #expect(found.isEmpty, "row \(row.number) has a test, so it needs no reason")
                #expect(!reason.isEmpty, "row \(row.number)")
            }
        }
    }

    @Test func anAdvisoryHasTestsOrAReason() throws {
        #expect(Set(Advisories.rows.map(\.name)).count == Advisories.rows.count)
        let listed = Set(Advisories.rows.flatMap(\.tests))
        let found = try TestNames.all().filter { $0.hasPrefix("Advisory_") }
        #expect(found.subtracting(listed).isEmpty, "not in the table")
        for row in Advisories.rows {
            if let reason = row.reason {
                #expect(row.tests.isEmpty && !reason.isEmpty, "\(row.name)")
            } else {
                #expect(!row.tests.isEmpty, "\(row.name)")
            }
        }
    }
}
