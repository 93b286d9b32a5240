/// The names of members whose values are secrets, for everything that is written down: logs, recordings.
package enum SecretNames {
    /// Patterns for lowercase names.
    package static let patterns = [
        "*token*", "*password*", "*pass[-_ ]word*", "*passwd*", "*secret*", "*credential*",
        "*authorization*", "*api*key*", "*private*key*", "*access*key*", "cookie*", "*session*id*",
        "*passphrase*", "*pass[-_ ]phrase*", "pwd", "pin", "*[-_ ]pin", "pin[-_ ]*", "auth", "bearer", "jwt",
    ]
}
