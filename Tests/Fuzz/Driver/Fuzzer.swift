import Glibc

// The program of libFuzzer, built by Tests/Fuzz/fuzz.py: FUZZ_TARGET names what it calls. With FUZZ_CASES, it prints a
// verdict for each line of that file instead (Tests/Differential/diff.py); with FUZZ_LIST, the names of all targets.

nonisolated(unsafe) private let check: FuzzTarget.Check = {
    unsafe isAlone = true
    let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        report("FUZZ_TARGET is one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
        exit(2)
    }
    return target.makeCheck()
}()

private func report(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try unsafe check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        report("FINDING \(error)")
        abort()
    }
    return 0
}

/// Called by libFuzzer at its start.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    if unsafe getenv("FUZZ_LIST") != nil {
        for target in FuzzTarget.allCases { print(target.rawValue) }
        exit(0)
    }
    guard let path = unsafe getenv("FUZZ_CASES").map({ unsafe String(cString: $0) }) else { return 0 }
    exit(Verdicts.print(ofCasesIn: path) ? 0 : 3)
}
