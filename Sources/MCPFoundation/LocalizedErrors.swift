public import Foundation
public import MCPCore

// `localizedDescription`, and with it an alert, says what `description` says.

extension MCPError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension ToolError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension ClientError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension AuthorizationError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension TLSError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension ListenError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SchemaError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension RegistrationError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension JSONError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SignatureError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension ServerAuthorizationError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension StaticTokenError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension RedisStore.AddressError: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension HeaderFields.InvalidField: LocalizedError {
    /// The same as `description`.
    public var errorDescription: String? { description }
}
