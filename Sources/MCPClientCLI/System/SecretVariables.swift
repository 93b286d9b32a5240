import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Environment variables that contain secrets.
///
/// Once a variable is read, it is removed from the environment, so that a program that is started does not
/// receive a secret that is only for a server or a model.
final class SecretVariables: Sendable {
    private let known = Mutex<[String: String]>([:])

    func value(_ name: String) -> String? {
        known.withLock { known in
            if let value = known[name] { return value }
            guard let value = SystemFile.variable(name) else { return nil }
            known[name] = value
            unsafe unsetenv(name)
            return value
        }
    }
}
