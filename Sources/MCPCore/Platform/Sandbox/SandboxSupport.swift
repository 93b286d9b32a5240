#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What the running kernel can enforce.
package struct SandboxSupport: Sendable, Hashable {
    /// The version of Landlock's ABI; 0 where it is missing, switched off, or hidden by a container.
    package var landlock: Int
    /// Whether filters for system calls exist, and this program has one for this processor.
    package var hasSyscallFilter: Bool

    package init(landlock: Int, hasSyscallFilter: Bool) {
        (self.landlock, self.hasSyscallFilter) = (landlock, hasSyscallFilter)
    }

    /// Asks the kernel.
    package static var current: SandboxSupport {
        #if os(Linux)
        // Without a filter, the kernel finds a bad address where it has seccomp.
        let hasSeccomp = mcp_seccomp_install(nil, 0) < 0 && errno == EFAULT
        return SandboxSupport(
            landlock: max(0, Int(mcp_landlock_version())),
            hasSyscallFilter: hasSeccomp && SyscallFilter.isAvailable)
        #else
        return SandboxSupport(landlock: 0, hasSyscallFilter: false)
        #endif
    }

    /// A text such as `landlock v7, seccomp`.
    package var description: String {
        let parts = (landlock > 0 ? ["landlock v\(landlock)"] : []) + (hasSyscallFilter ? ["seccomp"] : [])
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    /// The versions of Landlock with which the parts of a sandbox began, and the kernels that have them.
    private static let (files, ports, devices, signals) = (
        (3, "Linux 6.2"), (4, "Linux 6.7"), (5, "Linux 6.10"), (6, "Linux 6.12")
    )

    /// Returns what a sandbox asks for and the kernel cannot enforce, each with what would be needed.
    package func missing(for sandbox: Sandbox) -> [String] {
        var missing: [String] = []
        if sandbox.files != nil, landlock < Self.files.0 { missing.append(need("fs needs", Self.files)) }
        guard let network = sandbox.network else { return missing }
        if network.isTCPAllowed, landlock < Self.ports.0 {
            missing.append(need("TCP ports need", Self.ports))
        }
        if !hasSyscallFilter { missing.append("net needs seccomp on x86_64 or arm64") }
        return missing
    }

    /// Returns what every sandbox adds where the kernel can, and this one cannot.
    package func weaknesses(of sandbox: Sandbox) -> [String] {
        var texts: [String] = []
        if !hasSyscallFilter { texts.append("system calls are not filtered (no seccomp)") }
        // Rules of any kind separate a process from others; here there would be none.
        let hasRules =
            landlock >= Self.signals.0 || (landlock > 0 && sandbox.files != nil)
            || (landlock >= Self.ports.0 && sandbox.network != nil)
        if !hasRules {
            texts.append("/proc shows the environment of other processes of the user (\(Self.signals.1))")
        }
        if landlock < Self.signals.0 {
            texts.append("signals to other processes of the user are allowed (\(Self.signals.1))")
            if sandbox.network?.isUnixAllowed == true {
                texts.append("abstract unix sockets are allowed (\(Self.signals.1))")
            }
        }
        if sandbox.files != nil, landlock < Self.devices.0 {
            texts.append("device files that may be opened may be controlled (\(Self.devices.1))")
        }
        return texts
    }

    private func need(_ subject: String, _ version: (Int, String)) -> String {
        "\(subject) Landlock \(version.0) (\(version.1)), "
            + (landlock == 0 ? "and this system has none" : "and this system has \(landlock)")
    }
}
