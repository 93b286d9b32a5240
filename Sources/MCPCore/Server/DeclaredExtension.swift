/// An extension as a server declares it, without settings (basic/versioning "Extension Negotiation").
struct DeclaredExtension: Sendable {
    let identifier: String
    /// What the revision has where the extension is declared.
    let needs: Revision.Features
    let isOffered: @Sendable (Dispatcher, Registry) -> Bool

    /// All that this library has.
    static let all: [DeclaredExtension] = [
        DeclaredExtension(identifier: TaskOptions.identifier, needs: .extensions) { dispatcher, _ in
            dispatcher.tasks != nil
        },
        // Hosts of every revision look for views.
        DeclaredExtension(identifier: UIExtension.identifier, needs: []) { _, registry in registry.offersUI },
    ]
}
