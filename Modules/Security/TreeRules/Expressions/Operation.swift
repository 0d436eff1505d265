/// One step of a compiled expression; the numbers are indices into the ``RuleProgram``.
///
/// Cases with several operands list them in source order: receiver first, then arguments. The first
/// `Int` of ``member(_:_:)`` and ``matches(_:_:)`` is an operation, the second an index of the
/// program's texts or patterns.
enum Operation: Sendable {
  case constant(Int)
  /// A literal path, parsed already; as a value it is its text.
  case path(Int)
  case auth
  case now
  case root
  case data
  case newData
  /// The key at a position among the captures on the way, outermost first.
  case capture(Int)
  case query(QueryMember)

  case not(Int)
  case negative(Int)
  case arithmetic(BinaryOperator, Int, Int)
  case comparison(BinaryOperator, Int, Int)
  case equality(Int, Int, isNegated: Bool)
  /// The operands of `&&`, as a range of the program's lists; the first false one ends it.
  case all(Range<Int>)
  /// The operands of `||`, likewise; the first true one ends it.
  case any(Range<Int>)
  /// The condition and the two branches, of which only one is evaluated.
  case choice(Int, Int, Int)

  /// A member of `auth` by the name at an index of the texts.
  case member(Int, Int)
  /// A member of claims by a computed name.
  case element(Int, Int)
  /// The length of a string; a member of that name where `isMember` allows one.
  case length(Int, isMember: Bool)

  case inspection(Inspection, Int)
  /// The node at a path below a snapshot; reads nothing.
  case child(Int, Int)
  case hasChild(Int, Int)
  /// The receiver, and the paths as a range of the program's lists.
  case hasChildren(Int, Range<Int>)
  case textTest(TextTest, Int, Int)
  case replace(Int, Int, Int)
  case changeCase(Int, isUpper: Bool)
  case matches(Int, Int)

  /// Methods of a snapshot that take no argument.
  enum Inspection: String, Sendable {
    case val, parent, exists, getPriority, hasChildren, isNumber, isString, isBoolean

    var result: RuleType {
      switch self {
      case .val: .value
      case .parent: .snapshot
      case .getPriority: [.null, .number, .text]
      case .exists, .hasChildren, .isNumber, .isString, .isBoolean: .bool
      }
    }
  }

  /// Questions one string asks about another.
  enum TextTest: String, Sendable {
    case contains, beginsWith, endsWith
  }

  /// A property of the query that rules can read.
  enum QueryMember: String, CaseIterable, Sendable {
    case orderByKey, orderByValue, orderByPriority, orderByChild
    case startAt, endAt, equalTo, limitToFirst, limitToLast

    var result: RuleType {
      switch self {
      case .orderByKey, .orderByValue, .orderByPriority: .bool
      case .orderByChild: [.null, .text]
      case .startAt, .endAt, .equalTo: .scalar
      case .limitToFirst, .limitToLast: [.null, .number]
      }
    }
  }
}

extension Operation {
  /// The operations whose values this one may need, in the order it asks for them.
  func operands(in program: RuleProgram) -> [Int] {
    switch self {
    case .constant, .path, .auth, .now, .root, .data, .newData, .capture, .query: []
    case .not(let a), .negative(let a), .member(let a, _), .length(let a, _),
      .inspection(_, let a), .changeCase(let a, _), .matches(let a, _):
      [a]
    case .arithmetic(_, let a, let b), .comparison(_, let a, let b), .equality(let a, let b, _),
      .element(let a, let b), .child(let a, let b), .hasChild(let a, let b),
      .textTest(_, let a, let b):
      [a, b]
    case .choice(let a, let b, let c), .replace(let a, let b, let c): [a, b, c]
    case .all(let list), .any(let list): Array(program.lists[list])
    case .hasChildren(let receiver, let list): [receiver] + program.lists[list]
    }
  }
}
