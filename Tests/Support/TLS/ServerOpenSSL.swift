#if !canImport(Darwin)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// OpenSSL as a server uses it, found at run time.
@safe package struct ServerOpenSSL: @unchecked Sendable {
    // SAFETY: addresses of functions of libraries that stay open.
    package typealias Object = OpaquePointer?
    package typealias Get = @convention(c) (Object) -> Object
    package typealias Control = @convention(c) (Object, Int32, Int, UnsafeMutableRawPointer?) -> Int
    package typealias ReadPEM = @convention(c) (Object, Object, Object, Object) -> Object
    package typealias Use = @convention(c) (Object, Object) -> Int32
    package typealias Do = @convention(c) (Object) -> Int32
    package typealias Release = @convention(c) (Object) -> Void
    package typealias GetText = @convention(c) (Object) -> UnsafePointer<CChar>?
    package typealias Choose =
        @convention(c) (
            Object, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
        ) -> Int32

    package let method: @convention(c) () -> Object
    package let contextNew: Get
    package let contextFree: Release
    package let contextControl: Control
    package let useCertificate: Use
    package let useKey: Use
    package let setChoice: @convention(c) (Object, Choose?, UnsafeMutableRawPointer?) -> Void
    package let new: Get
    package let free: Release
    package let setDescriptor: @convention(c) (Object, Int32) -> Int32
    package let accept: Do
    package let read: @convention(c) (Object, UnsafeMutableRawPointer?, Int32) -> Int32
    package let write: @convention(c) (Object, UnsafeRawPointer?, Int32) -> Int32
    package let error: @convention(c) (Object, Int32) -> Int32
    package let pending: Do
    package let shutdown: Do
    package let serverName: @convention(c) (Object, Int32) -> UnsafePointer<CChar>?
    package let version: GetText
    package let chosen:
        @convention(c) (
            Object, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt32>?
        ) -> Void
    package let updateKey: @convention(c) (Object, Int32) -> Int32
    package let renegotiate: Do
    package let handshake: Do
    package let memory: @convention(c) (UnsafeRawPointer?, Int32) -> Object
    package let readCertificate: ReadPEM
    package let readKey: ReadPEM
    package let freeMemory: Do
    package let freeCertificate: Release
    package let freeKey: Release
    package let clearErrors: @convention(c) () -> Void

    /// Nil where OpenSSL 3 is not installed.
    package static let shared: ServerOpenSSL? = {
        guard let crypto = unsafe dlopen("libcrypto.so.3", RTLD_NOW),
            let ssl = unsafe dlopen("libssl.so.3", RTLD_NOW)
        else { return nil }
        return unsafe ServerOpenSSL(crypto, ssl)
    }()

    private init?(_ crypto: UnsafeMutableRawPointer, _ ssl: UnsafeMutableRawPointer) {
        func find<F>(_ library: UnsafeMutableRawPointer, _ name: String) -> F {
            guard let address = unsafe dlsym(library, name) else { fatalError("no \(name)") }
            return unsafe unsafeBitCast(address, to: F.self)
        }
        unsafe method = unsafe find(ssl, "TLS_server_method")
        unsafe contextNew = unsafe find(ssl, "SSL_CTX_new")
        unsafe contextFree = unsafe find(ssl, "SSL_CTX_free")
        unsafe contextControl = unsafe find(ssl, "SSL_CTX_ctrl")
        unsafe useCertificate = unsafe find(ssl, "SSL_CTX_use_certificate")
        unsafe useKey = unsafe find(ssl, "SSL_CTX_use_PrivateKey")
        unsafe setChoice = unsafe find(ssl, "SSL_CTX_set_alpn_select_cb")
        unsafe new = unsafe find(ssl, "SSL_new")
        unsafe free = unsafe find(ssl, "SSL_free")
        unsafe setDescriptor = unsafe find(ssl, "SSL_set_fd")
        unsafe accept = unsafe find(ssl, "SSL_accept")
        unsafe read = unsafe find(ssl, "SSL_read")
        unsafe write = unsafe find(ssl, "SSL_write")
        unsafe error = unsafe find(ssl, "SSL_get_error")
        unsafe pending = unsafe find(ssl, "SSL_pending")
        unsafe shutdown = unsafe find(ssl, "SSL_shutdown")
        unsafe serverName = unsafe find(ssl, "SSL_get_servername")
        unsafe version = unsafe find(ssl, "SSL_get_version")
        unsafe chosen = unsafe find(ssl, "SSL_get0_alpn_selected")
        unsafe updateKey = unsafe find(ssl, "SSL_key_update")
        unsafe renegotiate = unsafe find(ssl, "SSL_renegotiate")
        unsafe handshake = unsafe find(ssl, "SSL_do_handshake")
        unsafe memory = unsafe find(crypto, "BIO_new_mem_buf")
        unsafe readCertificate = unsafe find(crypto, "PEM_read_bio_X509")
        unsafe readKey = unsafe find(crypto, "PEM_read_bio_PrivateKey")
        unsafe freeMemory = unsafe find(crypto, "BIO_free")
        unsafe freeCertificate = unsafe find(crypto, "X509_free")
        unsafe freeKey = unsafe find(crypto, "EVP_PKEY_free")
        clearErrors = unsafe find(crypto, "ERR_clear_error")
    }
}
#endif
