/// Security rules for documents, checked and ready to judge.
///
/// The language is that of `firestore.rules`, versions 1 and 2: see
/// `Docs/Formats/document-rules.md`.
/// Source: firestore reference, section 6.
///
/// A value is immutable apart from the counts of its coverage, and may judge on any thread.
/// The work of compiling is bounded by ``DocumentRulesLimits``.
public struct DocumentRules: Sendable {
  /// The service whose rules count; blocks of other services are checked and ignored.
  public static let serviceName = "cloud.firestore"

  /// The version of the language, 1 or 2.
  public let version: Int
  /// The things that are allowed but probably meant otherwise, in the order of the file.
  public let warnings: [DocumentRulesIssue]
  /// The outermost `match` blocks, in the order of the file.
  package let matches: [DocumentRuleMatch]
  /// All functions; calls name them by their position.
  package let functions: [DocumentRuleFunction]
  /// The source, in UTF-8.
  package let source: [UInt8]
  /// The results of expressions so far; `nil` when they are not counted.
  package private(set) var coverage: DocumentRulesCoverage?
  private let text: RulesSource

  /// Compiles rules.
  ///
  /// - Parameter source: The file, in UTF-8, at most ``DocumentRulesLimits/sourceBytes``.
  /// - Throws: The problems of the file; it cannot be used then.
  public init(source: [UInt8]) throws(DocumentRulesError) {
    let text = RulesSource(bytes: source)
    if source.count > DocumentRulesLimits.sourceBytes {
      let message = "The file has more than \(DocumentRulesLimits.sourceBytes) bytes."
      throw DocumentRulesError([DocumentRulesIssue(message, at: text.position(at: 0))])
    }
    guard String(validating: source, as: UTF8.self) != nil else {
      throw DocumentRulesError([
        DocumentRulesIssue("The file is not UTF-8.", at: text.position(at: 0))
      ])
    }
    let syntax: DocumentRulesetSyntax
    do {
      syntax = try DocumentRulesetParser.parse(source)
    } catch {
      throw DocumentRulesError([
        DocumentRulesIssue(error.message, at: text.position(at: error.offset))
      ])
    }
    var resolver = DocumentRuleResolver(text, version: syntax.version)
    matches = resolver.resolve(syntax)
    if !resolver.problems.isEmpty { throw DocumentRulesError(resolver.issues(resolver.problems)) }
    functions = resolver.compiled
    warnings = resolver.issues(resolver.warnings)
    version = syntax.version
    self.source = source
    self.text = text
  }

  /// Compiles rules given as text.
  ///
  /// - Throws: The problems of the file; it cannot be used then.
  public init(source: String) throws(DocumentRulesError) {
    try self.init(source: Array(source.utf8))
  }

  /// Returns the rules with a count of the results of every expression, from zero: for development.
  package func recordingCoverage() -> DocumentRules {
    var rules = self
    rules.coverage = DocumentRulesCoverage()
    return rules
  }

  /// The number of `allow` statements.
  public var allowCount: Int {
    func count(_ matches: [DocumentRuleMatch]) -> Int {
      matches.reduce(0) { $0 + $1.allows.count + count($1.matches) }
    }
    return count(matches)
  }

  /// Returns true when a file reads as rules for documents rather than for a tree, which are JSON.
  public static func recognizes(_ source: [UInt8]) -> Bool {
    var lexer = DocumentRuleLexer(source)
    guard let token = try? lexer.next(), case .name = token.kind else { return false }
    return true
  }

  /// The line and column of an offset in the source.
  package func position(at offset: Int) -> RulesPosition { text.position(at: offset) }
}

/// One `match` block with everything that it contains.
///
/// Blocks form a tree. Paths are relative, so the path of a document is matched block by block from
/// the outside.
package final class DocumentRuleMatch: Sendable {
  /// One segment of a path, with the name that it binds.
  package enum Segment: Sendable {
    case literal(String)
    /// `{name}`: one segment.
    case capture(String)
    /// `{name=**}`: any number of segments; in version 1 at least one.
    case recursive(String)
  }

  /// The segments, relative to the block around.
  package let segments: [Segment]
  /// The captures of the blocks around.
  ///
  /// Captures are numbered from the outermost block on, so the first of this block has this number.
  package let outerCaptures: Int
  /// The statements of the block itself.
  package let allows: [DocumentRuleAllow]
  /// The blocks inside.
  package let matches: [DocumentRuleMatch]

  init(
    segments: [Segment], outerCaptures: Int, allows: [DocumentRuleAllow],
    matches: [DocumentRuleMatch]
  ) {
    self.segments = segments
    self.outerCaptures = outerCaptures
    self.allows = allows
    self.matches = matches
  }
}

/// The methods of a request, and of an `allow` statement.
///
/// A request has exactly one method, a statement any number.
package struct DocumentRuleMethods: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let get = DocumentRuleMethods(rawValue: 1)
  package static let list = DocumentRuleMethods(rawValue: 2)
  package static let create = DocumentRuleMethods(rawValue: 4)
  package static let update = DocumentRuleMethods(rawValue: 8)
  package static let delete = DocumentRuleMethods(rawValue: 16)
  package static let read: DocumentRuleMethods = [.get, .list]
  package static let write: DocumentRuleMethods = [.create, .update, .delete]

  /// The methods by their names; none for an unknown name.
  init(name: String) {
    self =
      switch name {
      case "get": .get
      case "list": .list
      case "create": .create
      case "update": .update
      case "delete": .delete
      case "read": .read
      case "write": .write
      default: []
      }
  }
}

/// One `allow` statement.
package struct DocumentRuleAllow: Sendable {
  /// The methods it is about; none when all of its names are unknown.
  package let methods: DocumentRuleMethods
  /// The condition; `nil`: always.
  package let condition: DocumentRuleExpression?
  /// The position of the statement.
  package let position: RulesPosition
  /// The position of the condition; that of the statement when there is none.
  package let conditionPosition: RulesPosition
}

/// One function.
package struct DocumentRuleFunction: Sendable {
  /// The name.
  package let name: String
  /// The number of parameters: the first locals.
  package let parameterCount: Int
  /// The values of the `let` bindings: the locals behind the parameters.
  package let bindings: [DocumentRuleExpression]
  /// The expression that is returned.
  package let body: DocumentRuleExpression
}
