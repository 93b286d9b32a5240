#if !canImport(Darwin)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The functions of OpenSSL 3 in use, found at run time.
///
/// Nothing is linked, and a program that does not use https loads nothing.
@safe final class OpenSSLLibrary: @unchecked Sendable {
    // SAFETY: function addresses in libraries that are never unloaded; OpenSSL locks the state it shares.

    /// The names of the libraries to open.
    struct Names: Sendable, Hashable {
        var crypto = "libcrypto.so.3"
        var ssl = "libssl.so.3"
    }

    /// A pointer to an SSL_CTX, SSL, BIO, X509 and so on, all of which are opaque in OpenSSL.
    typealias Object = OpaquePointer?
    typealias Text = UnsafePointer<CChar>?
    typealias Make = @convention(c) () -> Object
    typealias Get = @convention(c) (Object) -> Object
    typealias Measure = @convention(c) (Object) -> Int32
    typealias Free = @convention(c) (Object) -> Void
    typealias Control = @convention(c) (Object, Int32, Int, UnsafeMutableRawPointer?) -> Int
    typealias Fill = @convention(c) (Object, UnsafeMutableRawPointer?, Int32) -> Int32
    typealias Take = @convention(c) (Object, UnsafeRawPointer?, Int32) -> Int32
    typealias SetText = @convention(c) (Object, Text) -> Int32

    // libcrypto
    let initialize: @convention(c) (UInt64, Object) -> Int32
    let memoryMethod: Make
    let bioNew: Get
    let bioRead: Fill
    let bioWrite: Take
    let clearErrors: @convention(c) () -> Void
    let nextError: @convention(c) () -> UInt
    let reasonText: @convention(c) (UInt) -> Text
    let setAddress: SetText
    let verifyText: @convention(c) (Int) -> Text
    let extensionOf: @convention(c) (Object, Int32, Object, Object) -> Object
    let stackCount: Measure
    let stackItem: @convention(c) (Object, Int32) -> Object
    let nameValue: @convention(c) (Object, UnsafeMutablePointer<Int32>?) -> Object
    let namesFree: Free
    let stringBytes: @convention(c) (Object) -> UnsafePointer<UInt8>?
    let stringCount: Measure
    let subject: Get
    let issuer: Get
    let nameLine: @convention(c) (Object, UnsafeMutablePointer<CChar>?, Int32) -> UnsafeMutablePointer<CChar>?
    let notBefore: Get
    let notAfter: Get
    let compareToNow: Measure
    let brokenDownTime: @convention(c) (Object, UnsafeMutablePointer<tm>?) -> Int32

    // libssl
    let clientMethod: Make
    let contextNew: Get
    let contextFree: Free
    let contextControl: Control
    let contextSetOptions: @convention(c) (Object, UInt64) -> UInt64
    let contextSetVerify: @convention(c) (Object, Int32, Object) -> Void
    let contextDefaultTrust: Measure
    let contextLoadTrust: @convention(c) (Object, Text, Text) -> Int32
    let contextSetProtocols: @convention(c) (Object, UnsafePointer<UInt8>?, UInt32) -> Int32
    let sslNew: Get
    let sslFree: Free
    let sslControl: Control
    let sslSetBIO: @convention(c) (Object, Object, Object) -> Void
    let sslSetConnecting: Free
    let sslSetHost: SetText
    let sslSetHostFlags: @convention(c) (Object, UInt32) -> Void
    let sslParameters: Get
    let sslHandshake: Measure
    let sslRead: Fill
    let sslWrite: Take
    let sslError: @convention(c) (Object, Int32) -> Int32
    let sslShutdown: Measure
    let sslVerifyResult: @convention(c) (Object) -> Int
    let sslVerifiedChain: Get
    let sslVersion: @convention(c) (Object) -> Text

    /// Opens the libraries; both stay open for the rest of the process.
    init(_ names: Names = Names()) throws(TLSError) {
        let crypto = try SharedLibrary(names.crypto, for: "https")
        let ssl = try SharedLibrary(names.ssl, for: "https")

        unsafe initialize = unsafe try crypto.function("OPENSSL_init_crypto")
        unsafe memoryMethod = unsafe try crypto.function("BIO_s_mem")
        unsafe bioNew = unsafe try crypto.function("BIO_new")
        unsafe bioRead = unsafe try crypto.function("BIO_read")
        unsafe bioWrite = unsafe try crypto.function("BIO_write")
        clearErrors = try crypto.function("ERR_clear_error")
        nextError = try crypto.function("ERR_get_error")
        unsafe reasonText = unsafe try crypto.function("ERR_reason_error_string")
        unsafe setAddress = unsafe try crypto.function("X509_VERIFY_PARAM_set1_ip_asc")
        unsafe verifyText = unsafe try crypto.function("X509_verify_cert_error_string")
        unsafe extensionOf = unsafe try crypto.function("X509_get_ext_d2i")
        unsafe stackCount = unsafe try crypto.function("OPENSSL_sk_num")
        unsafe stackItem = unsafe try crypto.function("OPENSSL_sk_value")
        unsafe nameValue = unsafe try crypto.function("GENERAL_NAME_get0_value")
        unsafe namesFree = unsafe try crypto.function("GENERAL_NAMES_free")
        unsafe stringBytes = unsafe try crypto.function("ASN1_STRING_get0_data")
        unsafe stringCount = unsafe try crypto.function("ASN1_STRING_length")
        unsafe subject = unsafe try crypto.function("X509_get_subject_name")
        unsafe issuer = unsafe try crypto.function("X509_get_issuer_name")
        unsafe nameLine = unsafe try crypto.function("X509_NAME_oneline")
        unsafe notBefore = unsafe try crypto.function("X509_get0_notBefore")
        unsafe notAfter = unsafe try crypto.function("X509_get0_notAfter")
        unsafe compareToNow = unsafe try crypto.function("X509_cmp_current_time")
        unsafe brokenDownTime = unsafe try crypto.function("ASN1_TIME_to_tm")

        unsafe clientMethod = unsafe try ssl.function("TLS_client_method")
        unsafe contextNew = unsafe try ssl.function("SSL_CTX_new")
        unsafe contextFree = unsafe try ssl.function("SSL_CTX_free")
        unsafe contextControl = unsafe try ssl.function("SSL_CTX_ctrl")
        unsafe contextSetOptions = unsafe try ssl.function("SSL_CTX_set_options")
        unsafe contextSetVerify = unsafe try ssl.function("SSL_CTX_set_verify")
        unsafe contextDefaultTrust = unsafe try ssl.function("SSL_CTX_set_default_verify_paths")
        unsafe contextLoadTrust = unsafe try ssl.function("SSL_CTX_load_verify_locations")
        unsafe contextSetProtocols = unsafe try ssl.function("SSL_CTX_set_alpn_protos")
        unsafe sslNew = unsafe try ssl.function("SSL_new")
        unsafe sslFree = unsafe try ssl.function("SSL_free")
        unsafe sslControl = unsafe try ssl.function("SSL_ctrl")
        unsafe sslSetBIO = unsafe try ssl.function("SSL_set_bio")
        unsafe sslSetConnecting = unsafe try ssl.function("SSL_set_connect_state")
        unsafe sslSetHost = unsafe try ssl.function("SSL_set1_host")
        unsafe sslSetHostFlags = unsafe try ssl.function("SSL_set_hostflags")
        unsafe sslParameters = unsafe try ssl.function("SSL_get0_param")
        unsafe sslHandshake = unsafe try ssl.function("SSL_do_handshake")
        unsafe sslRead = unsafe try ssl.function("SSL_read")
        unsafe sslWrite = unsafe try ssl.function("SSL_write")
        unsafe sslError = unsafe try ssl.function("SSL_get_error")
        unsafe sslShutdown = unsafe try ssl.function("SSL_shutdown")
        unsafe sslVerifyResult = unsafe try ssl.function("SSL_get_verify_result")
        unsafe sslVerifiedChain = unsafe try ssl.function("SSL_get0_verified_chain")
        unsafe sslVersion = unsafe try ssl.function("SSL_get_version")

        // OpenSSL's exit handler is disabled, because it frees memory that the threads of the loops may still
        // use.
        _ = unsafe initialize(Self.noExitHandler, nil)
    }

    static let noExitHandler: UInt64 = 0x0008_0000

    // MARK: Errors

    /// Removes this thread's errors from OpenSSL's queue and returns the reason of the first one as a number
    /// and a text.
    func takeError() -> (code: Int, text: String)? {
        let first = nextError()
        clearErrors()
        guard first != 0 else { return nil }
        let code = Int(first & 0x7F_FFFF)
        return (code, unsafe reasonText(first).map { unsafe String(cString: $0) } ?? "error \(code)")
    }
}
#endif
