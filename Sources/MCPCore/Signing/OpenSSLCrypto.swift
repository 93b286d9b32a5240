#if !canImport(Darwin)
/// The functions of OpenSSL's libcrypto that signatures need, found at run time.
///
/// libssl is not opened, and a program that neither makes nor verifies signatures loads nothing.
@safe final class OpenSSLCrypto: @unchecked Sendable {
    // SAFETY: function addresses in a library that is never unloaded, and a digest that is never changed;
    // OpenSSL locks the state it shares.

    /// A pointer to an EVP_PKEY, EVP_MD_CTX, BIO and so on, all of which are opaque in OpenSSL.
    typealias Object = OpaquePointer?
    typealias Place = UnsafeMutablePointer<OpaquePointer?>?
    typealias Make = @convention(c) () -> Object
    typealias Free = @convention(c) (Object) -> Void
    typealias Set = @convention(c) (Object, Int32) -> Int32
    typealias Begin = @convention(c) (Object, Place, Object, Object, Object) -> Int32
    typealias Parse = @convention(c) (Place, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) -> Object
    typealias Encode = @convention(c) (Object, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    typealias Password =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32

    let clearErrors: @convention(c) () -> Void
    let parsePublic: Parse
    let parsePrivate: Parse
    let encodePublic: Encode
    let encodePrivate: Encode
    let readPEM: @convention(c) (Object, Place, Password?, UnsafeMutableRawPointer?) -> Object
    let memory: @convention(c) (UnsafeRawPointer?, Int32) -> Object
    let memoryFree: @convention(c) (Object) -> Int32
    let keyFree: Free
    let contextNew: Make
    let contextFree: Free
    let beginVerify: Begin
    let beginSign: Begin
    let verify: @convention(c) (Object, UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int) -> Int32
    let sign:
        @convention(c) (
            Object, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, UnsafePointer<UInt8>?, Int
        ) -> Int32
    let setPadding: Set
    let setSaltLength: Set
    let generatorNew: @convention(c) (Int32, Object) -> Object
    let generatorFree: Free
    let beginGenerate: @convention(c) (Object) -> Int32
    let setCurve: Set
    let generate: @convention(c) (Object, Place) -> Int32
    /// SHA-256. Looked up once, because a look-up costs more than hashing a token.
    let sha256: OpaquePointer

    /// Opens the library, which stays open for the rest of the process.
    init(_ name: String = OpenSSLLibrary.Names().crypto) throws(TLSError) {
        let crypto = try SharedLibrary(name, for: "a signature")
        let initialize: @convention(c) (UInt64, Object) -> Int32 =
            unsafe try crypto.function("OPENSSL_init_crypto")
        clearErrors = try crypto.function("ERR_clear_error")
        unsafe parsePublic = unsafe try crypto.function("d2i_PUBKEY")
        unsafe parsePrivate = unsafe try crypto.function("d2i_AutoPrivateKey")
        unsafe encodePublic = unsafe try crypto.function("i2d_PUBKEY")
        unsafe encodePrivate = unsafe try crypto.function("i2d_PrivateKey")
        unsafe readPEM = unsafe try crypto.function("PEM_read_bio_PrivateKey")
        unsafe memory = unsafe try crypto.function("BIO_new_mem_buf")
        unsafe memoryFree = unsafe try crypto.function("BIO_free")
        unsafe keyFree = unsafe try crypto.function("EVP_PKEY_free")
        unsafe contextNew = unsafe try crypto.function("EVP_MD_CTX_new")
        unsafe contextFree = unsafe try crypto.function("EVP_MD_CTX_free")
        unsafe beginVerify = unsafe try crypto.function("EVP_DigestVerifyInit")
        unsafe beginSign = unsafe try crypto.function("EVP_DigestSignInit")
        unsafe verify = unsafe try crypto.function("EVP_DigestVerify")
        unsafe sign = unsafe try crypto.function("EVP_DigestSign")
        unsafe setPadding = unsafe try crypto.function("EVP_PKEY_CTX_set_rsa_padding")
        unsafe setSaltLength = unsafe try crypto.function("EVP_PKEY_CTX_set_rsa_pss_saltlen")
        unsafe generatorNew = unsafe try crypto.function("EVP_PKEY_CTX_new_id")
        unsafe generatorFree = unsafe try crypto.function("EVP_PKEY_CTX_free")
        unsafe beginGenerate = unsafe try crypto.function("EVP_PKEY_keygen_init")
        unsafe setCurve = unsafe try crypto.function("EVP_PKEY_CTX_set_ec_paramgen_curve_nid")
        unsafe generate = unsafe try crypto.function("EVP_PKEY_generate")
        let fetch: @convention(c) (Object, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Object =
            unsafe try crypto.function("EVP_MD_fetch")
        // See OpenSSLLibrary: memory that other threads use must not be freed at exit.
        _ = initialize(OpenSSLLibrary.noExitHandler, nil)
        guard let sha256 = unsafe fetch(nil, "SHA2-256", nil) else {
            clearErrors()
            throw TLSError(.unavailable, "a signature needs SHA-256, which OpenSSL does not have here")
        }
        unsafe self.sha256 = unsafe sha256
    }
}
#endif
