/// The use of something limited that all callers share, of which one has at most its share.
struct FairUse {
    /// What is used up.
    enum Lack {
        /// The share of the caller.
        case share
        /// Everything.
        case all
    }

    let limit: Int
    private(set) var total = 0
    /// What each caller uses.
    private(set) var amounts: [String: Int] = [:]

    init(limit: Int) { self.limit = limit }

    /// Takes some of it; returns nil if there was enough.
    mutating func take(_ amount: Int, for principal: String) -> Lack? {
        let own = amounts[principal, default: 0]
        guard amount <= TaskOptions.share(of: limit, for: principal) - own else { return .share }
        guard amount <= limit - total else { return .all }
        total += amount
        amounts[principal] = own + amount
        return nil
    }

    /// Returns some of it.
    mutating func give(_ amount: Int, of principal: String) {
        total -= amount
        let rest = amounts[principal, default: 0] - amount
        amounts[principal] = rest > 0 ? rest : nil
    }
}
