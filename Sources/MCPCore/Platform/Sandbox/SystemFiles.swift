/// The files that programs need wherever they are used, which every sandbox with `fs` allows.
package enum SystemFiles {
    /// What may be read: the installed software, and settings in /etc that are public.
    package static let read = [
        "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store", "/gnu/store",
        "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path",
        "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/gitconfig",
        "/etc/ssl/openssl.cnf", "/etc/crypto-policies", "/dev/random", "/dev/urandom",
    ]

    /// The beginnings of names in /etc that belong to languages, and may be read as well.
    package static let languages = ["python3", "perl", "java-"]

    /// What may be read in addition where TCP or UDP is allowed: names of hosts, and certificates.
    package static let network = [
        "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
        "/etc/protocols",
        "/etc/ssl/certs", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
    ]

    /// What may also be written.
    package static let devices = ["/dev/null", "/dev/zero", "/dev/full"]

    /// Returns everything that may be read with a network.
    static func read(with network: Sandbox.Network?) -> [String] {
        let names = (try? Files.names(in: "/etc").names) ?? []
        let languages = names.filter { name in Self.languages.contains { name.hasPrefix($0) } }
        return read + languages.map { "/etc/\($0)" } + (network?.isLocal == true ? [] : Self.network)
    }
}
