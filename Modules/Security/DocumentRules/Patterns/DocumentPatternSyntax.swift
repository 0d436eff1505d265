/// The parts of a regular expression as written.
indirect enum DocumentPatternSyntax {
  /// A condition on a position.
  enum Assertion: Sendable {
    case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary
  }

  case character(DocumentPatternClass)
  case assertion(Assertion)
  case sequence([DocumentPatternSyntax])
  case alternatives([DocumentPatternSyntax])
  /// A group that is kept, counted from 1.
  case group(Int, DocumentPatternSyntax)
  /// `most` is `nil` when there is no upper bound.
  case repeated(DocumentPatternSyntax, least: Int, most: Int?, isGreedy: Bool)
}

/// A set of characters that one position of a pattern accepts.
///
/// It extends ``CharacterClass`` by Unicode categories. The whole class is negated at the end,
/// behind the folding of case.
struct DocumentPatternClass: Sendable {
  /// Characters by a property of Unicode.
  ///
  /// ``names`` are two-letter names of general categories; a one-letter name stands for all that
  /// begin with it.
  private struct Category: Sendable {
    let names: Set<String>
    let isNegated: Bool
  }

  private var characters = CharacterClass()
  private var categories: [Category] = []
  var isNegated = false

  init() {}

  init(_ scalar: Unicode.Scalar) { characters.insert(scalar.value...scalar.value) }

  init(_ ranges: [ClosedRange<UInt32>]) {
    for range in ranges { characters.insert(range) }
  }

  /// The class of `\d`, `\w`, `\s` and their capitals.
  init?(shorthand: Unicode.Scalar) {
    guard let known = CharacterClass.shorthand(shorthand) else { return nil }
    characters.insert(known)
  }

  /// The class of a general category of Unicode, such as `L` or `Lu`; `nil` for an unknown one.
  init?(category name: String, isNegated: Bool) {
    let all = Set(DocumentPatternClass.categoryNames)
    let names: Set<String>
    if name == "Any" {
      names = all
    } else if all.contains(name) {
      names = [name]
    } else {
      names = name.utf8.count == 1 ? all.filter { $0.hasPrefix(name) } : []
    }
    if names.isEmpty { return nil }
    categories = [Category(names: names, isNegated: isNegated)]
  }

  mutating func insert(_ range: ClosedRange<UInt32>) { characters.insert(range) }

  mutating func insert(_ other: DocumentPatternClass) {
    characters.insert(other.characters)
    categories += other.categories
  }

  /// Adds everything outside of some ranges.
  mutating func insert(outside ranges: [ClosedRange<UInt32>]) {
    var inner = CharacterClass()
    for range in ranges { inner.insert(range) }
    inner.isNegated = true
    characters.insert(inner)
  }

  /// Accepts letters in either case.
  mutating func ignoreCase() { characters.ignoresCase = true }

  /// The code of the only character; `nil` when there are others, or none.
  ///
  /// Only such a class can be an end of a range in brackets.
  var onlyCode: UInt32? {
    guard categories.isEmpty, !isNegated, characters.ranges.count == 1,
      let range = characters.ranges.first, range.count == 1
    else { return nil }
    return range.lowerBound
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    var isMember = characters.contains(scalar)
    if !isMember, !categories.isEmpty {
      let name = DocumentPatternClass.categoryName(of: scalar)
      isMember = categories.contains { $0.names.contains(name) != $0.isNegated }
    }
    return isMember != isNegated
  }

  /// Everything but a line feed.
  static let dot: DocumentPatternClass = {
    var result = DocumentPatternClass("\n")
    result.isNegated = true
    return result
  }()

  /// Everything.
  static let any = DocumentPatternClass([0...0x10FFFF])

  static let word = DocumentPatternClass([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])

  /// The ranges of the class in `[[:name:]]`; `nil` for an unknown name.
  static func posix(_ name: String) -> [ClosedRange<UInt32>]? {
    switch name {
    case "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A]
    case "alpha": [0x41...0x5A, 0x61...0x7A]
    case "ascii": [0...0x7F]
    case "blank": [0x09...0x09, 0x20...0x20]
    case "cntrl": [0...0x1F, 0x7F...0x7F]
    case "digit": [0x30...0x39]
    case "graph": [0x21...0x7E]
    case "lower": [0x61...0x7A]
    case "print": [0x20...0x7E]
    case "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]
    case "space": [0x09...0x0D, 0x20...0x20]
    case "upper": [0x41...0x5A]
    case "word": [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
    case "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66]
    default: nil
    }
  }

  private static let categoryNames = [
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
  ]

  private static func categoryName(of scalar: Unicode.Scalar) -> String {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    case .unassigned: "Cn"
    @unknown default: "Cn"
    }
  }
}
