/// A Unicode property that `\p{…}` can name.
struct ScalarProperty: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// One bit per general category, as assigned by `bit(of:)`.
        case categories(UInt32)
        case alphabetic, any, ascii, emoji, idContinue, idStart, lowercase, uppercase, whiteSpace
    }

    let kind: Kind
    let isNegated: Bool

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        let holds =
            switch kind {
            case .categories(let mask): mask & Self.bit(of: properties.generalCategory) != 0
            case .alphabetic: properties.isAlphabetic
            case .any: true
            case .ascii: scalar.value < 0x80
            case .emoji: properties.isEmoji
            case .idContinue: properties.isIDContinue
            case .idStart: properties.isIDStart
            case .lowercase: properties.isLowercase
            case .uppercase: properties.isUppercase
            case .whiteSpace: properties.isWhitespace
            }
        return holds != isNegated
    }

    /// Creates the property with an ECMA-262 name (General_Category values and a few binary properties), or
    /// returns nil.
    init?(name: String, isNegated: Bool) {
        self.isNegated = isNegated
        var value = name[...]
        for prefix in ["General_Category=", "gc="] where name.hasPrefix(prefix) {
            value = name.dropFirst(prefix.count)
        }
        if let mask = Self.mask(ofCategory: String(value)) {
            kind = .categories(mask)
            return
        }
        switch name {
        case "Alphabetic", "Alpha": kind = .alphabetic
        case "Any": kind = .any
        case "ASCII": kind = .ascii
        case "Emoji": kind = .emoji
        case "ID_Continue", "IDC": kind = .idContinue
        case "ID_Start", "IDS": kind = .idStart
        case "Lowercase", "Lower": kind = .lowercase
        case "Uppercase", "Upper": kind = .uppercase
        case "White_Space", "space": kind = .whiteSpace
        default: return nil
        }
    }

    private static func mask(ofCategory name: String) -> UInt32? {
        for (names, categories) in groups where names.contains(name) {
            return categories.reduce(0) { $0 | bit(of: $1) }
        }
        return nil
    }

    private typealias Category = Unicode.GeneralCategory

    private static let groups: [(names: [String], categories: [Category])] = [
        (["L", "Letter"], letters),
        (["LC", "Cased_Letter"], [.uppercaseLetter, .lowercaseLetter, .titlecaseLetter]),
        (["Lu", "Uppercase_Letter"], [.uppercaseLetter]), (["Ll", "Lowercase_Letter"], [.lowercaseLetter]),
        (["Lt", "Titlecase_Letter"], [.titlecaseLetter]), (["Lm", "Modifier_Letter"], [.modifierLetter]),
        (["Lo", "Other_Letter"], [.otherLetter]),
        (["M", "Mark", "Combining_Mark"], [.nonspacingMark, .spacingMark, .enclosingMark]),
        (["Mn", "Nonspacing_Mark"], [.nonspacingMark]), (["Mc", "Spacing_Mark"], [.spacingMark]),
        (["Me", "Enclosing_Mark"], [.enclosingMark]),
        (["N", "Number"], [.decimalNumber, .letterNumber, .otherNumber]),
        (["Nd", "Decimal_Number", "digit"], [.decimalNumber]), (["Nl", "Letter_Number"], [.letterNumber]),
        (["No", "Other_Number"], [.otherNumber]),
        (["P", "Punctuation", "punct"], punctuation),
        (["Pc", "Connector_Punctuation"], [.connectorPunctuation]),
        (["Pd", "Dash_Punctuation"], [.dashPunctuation]), (["Ps", "Open_Punctuation"], [.openPunctuation]),
        (["Pe", "Close_Punctuation"], [.closePunctuation]),
        (["Pi", "Initial_Punctuation"], [.initialPunctuation]),
        (["Pf", "Final_Punctuation"], [.finalPunctuation]),
        (["Po", "Other_Punctuation"], [.otherPunctuation]),
        (["S", "Symbol"], [.mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol]),
        (["Sm", "Math_Symbol"], [.mathSymbol]), (["Sc", "Currency_Symbol"], [.currencySymbol]),
        (["Sk", "Modifier_Symbol"], [.modifierSymbol]), (["So", "Other_Symbol"], [.otherSymbol]),
        (["Z", "Separator"], [.spaceSeparator, .lineSeparator, .paragraphSeparator]),
        (["Zs", "Space_Separator"], [.spaceSeparator]), (["Zl", "Line_Separator"], [.lineSeparator]),
        (["Zp", "Paragraph_Separator"], [.paragraphSeparator]),
        (["C", "Other"], [.control, .format, .surrogate, .privateUse, .unassigned]),
        (["Cc", "Control", "cntrl"], [.control]), (["Cf", "Format"], [.format]),
        (["Cs", "Surrogate"], [.surrogate]), (["Co", "Private_Use"], [.privateUse]),
        (["Cn", "Unassigned"], [.unassigned]),
    ]

    private static let letters: [Category] = [
        .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
    ]

    private static let punctuation: [Category] = [
        .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
        .finalPunctuation, .otherPunctuation,
    ]

    private static func bit(of category: Category) -> UInt32 {
        let place: UInt32 =
            switch category {
            case .uppercaseLetter: 0
            case .lowercaseLetter: 1
            case .titlecaseLetter: 2
            case .modifierLetter: 3
            case .otherLetter: 4
            case .nonspacingMark: 5
            case .spacingMark: 6
            case .enclosingMark: 7
            case .decimalNumber: 8
            case .letterNumber: 9
            case .otherNumber: 10
            case .connectorPunctuation: 11
            case .dashPunctuation: 12
            case .openPunctuation: 13
            case .closePunctuation: 14
            case .initialPunctuation: 15
            case .finalPunctuation: 16
            case .otherPunctuation: 17
            case .mathSymbol: 18
            case .currencySymbol: 19
            case .modifierSymbol: 20
            case .otherSymbol: 21
            case .spaceSeparator: 22
            case .lineSeparator: 23
            case .paragraphSeparator: 24
            case .control: 25
            case .format: 26
            case .surrogate: 27
            case .privateUse: 28
            case .unassigned: 29
            @unknown default: 29
            }
        return 1 << place
    }
}
