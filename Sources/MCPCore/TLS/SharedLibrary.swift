#if !canImport(Darwin)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A library of OpenSSL 3 that is opened at run time and never closed.
@safe struct SharedLibrary {
    private let name: String
    private let purpose: String
    private let handle: UnsafeMutableRawPointer

    /// Opens the library `name`.
    ///
    /// - Parameter purpose: what needs OpenSSL, as the subject of an error: `https`.
    /// - Throws: `TLSError` of the kind `.unavailable` if it cannot be loaded.
    init(_ name: String, for purpose: String) throws(TLSError) {
        self.name = name
        self.purpose = purpose
        guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw TLSError(
                .unavailable, "\(purpose) requires OpenSSL 3, but \(name) cannot be loaded",
                details: unsafe dlerror().map { [unsafe String(cString: $0)] } ?? [],
                hint: "install the package libssl3 (Debian, Ubuntu, Alpine) or openssl-libs (Fedora, RHEL)")
        }
        unsafe self.handle = unsafe handle
    }

    /// Returns the function `symbol` with the type that OpenSSL declares for it.
    ///
    /// - Throws: `TLSError` of the kind `.unavailable` if the library has no such function.
    func function<F>(_ symbol: String) throws(TLSError) -> F {
        guard let address = unsafe dlsym(handle, symbol) else {
            throw TLSError(
                .unavailable, "\(purpose) requires OpenSSL 3, but \(name) does not contain \(symbol)",
                hint: "install this system's OpenSSL 3")
        }
        return unsafe unsafeBitCast(address, to: F.self)
    }
}
#endif
