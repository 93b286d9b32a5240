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

/// What this process may do by its user and its capabilities.
enum Privileges {
    /// Gives up all capabilities for good, and becomes the user if there is one.
    static func drop(to user: Sandbox.User?) throws(SandboxFailure) {
        #if os(Linux)
        mcp_drop_capability_sources()
        #endif
        if let user { try become(user) }
        #if os(Linux)
        guard mcp_clear_capabilities() == 0 else {
            throw SandboxFailure("the capabilities", IOError("capset"))
        }
        guard mcp_set_no_new_privileges() == 0 else {
            throw SandboxFailure("no_new_privs", IOError("prctl"))
        }
        #endif
    }

    /// Groups first: the user may not change them.
    private static func become(_ user: Sandbox.User) throws(SandboxFailure) {
        if getuid() == user.id, geteuid() == user.id, getuid() != 0 { return }
        var group = gid_t(user.group)
        guard unsafe setgroups(1, &group) == 0, setgid(group) == 0, setuid(uid_t(user.id)) == 0 else {
            throw SandboxFailure("the user \(user.id)", IOError("setuid"))
        }
        // A saved user or group would lead back.
        let isFinal = getuid() == user.id && geteuid() == user.id && getegid() == group
        guard isFinal, user.id == 0 || setuid(0) != 0 else {
            throw SandboxFailure("the user \(user.id)", IOError(errno: EPERM, function: "setuid"))
        }
    }
}
