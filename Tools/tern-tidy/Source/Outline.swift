/// The declarations of one file and the bodies of its functions, properties and closures.
///
/// Declarations inside bodies are not part of it.
struct Outline: Sendable {
  enum Kind: Equatable, Sendable {
    case type, `extension`, `protocol`
    case function, property
    /// A closure or a statement with braces that belongs to no declaration.
    case block
    /// A declaration without braces of its own: an enum case, a type alias, a stored property.
    case plain

    var isContainer: Bool { self == .type || self == .extension || self == .protocol }
  }

  struct Declaration: Sendable {
    let kind: Kind
    /// `enum`, `func`, `case` and so on; empty for a block.
    let keyword: String
    /// Without argument labels; an extension has the name of the type it extends.
    let name: String
    /// The argument labels of a function or initializer, as in `(_:for:)`; otherwise empty.
    var labels = ""
    /// `public`, `package` and so on, as written; `nil` when nothing is written.
    let access: String?
    let modifiers: Set<String>
    /// Last components of the names in the inheritance clause.
    var inherited: [String] = []
    /// 0-based, the first line of its attributes and modifiers.
    let start: Int
    /// 0-based, the line of its keyword.
    let line: Int
    /// 0-based, the line of the brace that closes it.
    var end: Int
    /// The index of the type, extension or protocol around it.
    let parent: Int?

    var length: Int { end - line + 1 }
    var isPublic: Bool { access == "public" || access == "open" }
  }

  /// In the order in which they begin.
  private(set) var declarations: [Declaration] = []

  init(_ tokens: [Token]) {
    var parser = OutlineParser(tokens)
    declarations = parser.run()
  }

  /// The names of the types around `index`, outermost first, and its own.
  func path(of index: Int) -> [String] {
    let declaration = declarations[index]
    return (declaration.parent.map(path) ?? []) + [declaration.name]
  }

  /// Tells whether other modules can use `index`, as far as this file shows.
  ///
  /// Requirements of a protocol and cases of an enum have the access of their container.
  func isPublic(_ index: Int) -> Bool {
    let declaration = declarations[index]
    guard let parent = declaration.parent.map({ declarations[$0] }) else {
      return declaration.isPublic
    }
    guard declaration.access != "private", declaration.access != "fileprivate" else { return false }
    let inherits =
      parent.kind == .protocol || declaration.keyword == "case"
      || (parent.kind == .extension && parent.isPublic && declaration.access == nil)
    guard declaration.isPublic || inherits else { return false }
    return parent.kind == .extension || isPublic(declaration.parent ?? 0)
  }
}
