// Runs the official JSON-Schema-Test-Suite. Usage: schema-suite FOLDER [-v]
// FOLDER is the suite's root, with `tests` and `remotes`; Tests/Interop/schema-suite.sh fetches it.

import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Optional tests that are not fulfilled: the beginning of "file / group / test", and the reason. There is none among
/// the required ones.
let exceptions: [(name: String, reason: String)] = [
    ("cross-draft.json / ", "2019-09 is not one of the dialects; a schema that needs it is refused"),
    (
        "ecmascript-regex.json / \\a is not an ECMA 262 control escape",
        "\"\\a\" is the letter, as in ECMA-262 without the flag u (annex B)"
    ),
    ("idn-email.json / ", "the format is not known here, so it is an annotation"),
    ("idn-hostname.json / ", "the format is not known here: IDNA2008 needs large tables"),
    ("content.json / ", "contentEncoding and contentMediaType are annotations, as 2020-12 requires"),
]

let arguments = CommandLine.arguments
guard arguments.count >= 2 else {
    print("usage: schema-suite FOLDER [-v]")
    exit(2)
}

let suite = Suite(folder: arguments[1], isVerbose: arguments.contains("-v"))
let required = suite.run("required 2020-12", "draft2020-12", SchemaOptions(), [])
let runs: [(title: String, path: String, options: SchemaOptions)] = [
    ("optional 2020-12", "draft2020-12/optional", SchemaOptions()),
    ("formats 2020-12", "draft2020-12/optional/format", SchemaOptions(assertFormat: true)),
    ("draft-07", "draft7", SchemaOptions(defaultDialect: .draft07)),
    ("draft-07 optional", "draft7/optional", SchemaOptions(defaultDialect: .draft07)),
    (
        "draft-07 formats", "draft7/optional/format",
        SchemaOptions(assertFormat: true, defaultDialect: .draft07)
    ),
]
let outcomes =
    [required] + runs.map { suite.run($0.title, $0.path, $0.options, $0.path == "draft7" ? [] : exceptions) }

if required.passed == 0 {
    print("error: no test was found in \(arguments[1])")
    exit(1)
}
// A failure that is not listed is either a defect or belongs on the list, with its reason.
exit(outcomes.allSatisfy(\.failed.isEmpty) ? 0 : 1)

/// What became of a set of tests.
struct Outcome {
    var passed = 0
    var failed: [String] = []
    var excepted = 0
}

/// The folder with the suite.
struct Suite {
    let folder: String
    let isVerbose: Bool

    /// Runs the files of one folder under `tests` and prints one line, and each failure that is not listed.
    func run(
        _ title: String, _ path: String, _ options: SchemaOptions,
        _ exceptions: [(name: String, reason: String)]
    ) -> Outcome {
        var options = options
        for (file, text) in Folder(path: folder + "/remotes").files(isDeep: true) {
            options.documents["http://localhost:1234/" + file] = try? JSONValue(parsing: text)
        }
        var outcome = Outcome()
        for (file, text) in Folder(path: "\(folder)/tests/\(path)").files(isDeep: false) {
            guard let groups = try? JSONValue(parsing: text).arrayValue else {
                outcome.failed.append("\(file): not readable")
                continue
            }
            for group in groups { run(group, in: file, options, exceptions, &outcome) }
        }
        print(
            "\(title): \(outcome.passed) passed, \(outcome.failed.count) failed, "
                + "\(outcome.excepted) listed exceptions")
        for name in outcome.failed { print("  failed: \(name)") }
        if isVerbose { for (name, reason) in exceptions { print("  listed: \(name)…: \(reason)") } }
        return outcome
    }

    private func run(
        _ group: JSONValue, in file: String, _ options: SchemaOptions,
        _ exceptions: [(name: String, reason: String)],
        _ outcome: inout Outcome
    ) {
        let title = "\(file) / \(group["description"]?.stringValue ?? "?")"
        let compiled: Result<CompiledSchema, SchemaError> = Result { () throws(SchemaError) in
            try CompiledSchema(group["schema"] ?? true, options: options)
        }
        for test in group["tests"]?.arrayValue ?? [] {
            let name = "\(title) / \(test["description"]?.stringValue ?? "?")"
            let problem: String? =
                switch compiled {
                case .failure(let error): "\(error)"
                case .success(let schema):
                    check(schema, test["data"] ?? .null, isValid: test["valid"]?.boolValue == true)
                }
            guard let problem else {
                outcome.passed += 1
                continue
            }
            if exceptions.contains(where: { name.hasPrefix($0.name) }) {
                outcome.excepted += 1
            } else {
                outcome.failed.append("\(name): \(problem)")
            }
        }
    }

    /// Checks one value on every way there is; nil when all give the expected answer.
    private func check(_ schema: CompiledSchema, _ data: JSONValue, isValid: Bool) -> String? {
        let raw = RawJSON(data)
        let answers = [
            ("tree", schema.isValid(data)), ("violations", schema.validate(data).isEmpty),
            ("bytes", schema.isValid(raw)), ("violations of bytes", schema.validate(raw).isEmpty),
        ]
        let wrong = answers.filter { $0.1 != isValid }.map(\.0)
        guard !wrong.isEmpty else { return nil }
        return "expected \(isValid ? "valid" : "invalid") (\(wrong.joined(separator: ", ")))"
    }
}

/// Reads files without Foundation.
struct Folder {
    let path: String

    /// The JSON files by their paths in the folder, in order.
    func files(isDeep: Bool) -> [(name: String, text: [UInt8])] {
        var result: [(name: String, text: [UInt8])] = []
        for name in names().sorted() {
            let inner = "\(path)/\(name)"
            if name.hasSuffix(".json") {
                if let text = Self.read(inner) { result.append((name, text)) }
            } else if isDeep {
                result += Folder(path: inner).files(isDeep: true).map { ("\(name)/\($0.name)", $0.text) }
            }
        }
        return result
    }

    private func names() -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { _ = unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            // The name is as long as the record says, not as long as the tuple that C declares.
            let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 0
            let name = unsafe UnsafeRawPointer(entry) + offset
            let text = unsafe String(cString: name.assumingMemoryBound(to: CChar.self))
            if !text.hasPrefix(".") { names.append(text) }
        }
        return names
    }

    private static func read(_ path: String) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { bytes in
                #if canImport(Darwin)
                unsafe Darwin.read(file, bytes.baseAddress, bytes.count)
                #elseif canImport(Musl)
                unsafe Musl.read(file, bytes.baseAddress, bytes.count)
                #else
                unsafe Glibc.read(file, bytes.baseAddress, bytes.count)
                #endif
            }
            guard count > 0 else { return count == 0 ? content : nil }
            content += chunk[..<count]
        }
    }
}
