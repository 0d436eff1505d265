/// A rules file as written: its services, with names still to be resolved.
///
/// The parser's output, which ``DocumentRuleResolver`` consumes. Offsets count bytes of the file.
struct DocumentRulesetSyntax {
  /// One function.
  struct Function {
    let name: String
    let parameters: [String]
    let bindings: [(name: String, value: DocumentRuleExpression)]
    let body: DocumentRuleExpression
    let offset: Int
  }

  /// One segment of the path of a `match` block.
  enum Segment {
    case literal(String)
    case capture(String)
    case recursive(String)
  }

  /// One `allow` statement.
  struct Allow {
    let methods: [String]
    /// `nil`: always.
    let condition: DocumentRuleExpression?
    let offset: Int
  }

  /// One `match` block.
  struct Match {
    let path: [Segment]
    let offset: Int
    var functions: [Function] = []
    var allows: [Allow] = []
    var matches: [Match] = []
  }

  /// The number behind `rules_version`; 1 when the file names none.
  var version = 1
  /// The functions before the services.
  var functions: [Function] = []
  /// The service `cloud.firestore`: its functions and its blocks.
  var serviceFunctions: [Function] = []
  var matches: [Match] = []
}
