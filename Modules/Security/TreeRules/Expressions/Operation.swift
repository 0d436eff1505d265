/// One step of a compiled expression; the numbers are indices into the ``RuleProgram``.
enum Operation: Sendable {
  case constant(Int)
  /// A literal path, parsed already; as a value it is its text.
  case path(Int)
  case auth
  case now
  case root
  case data
  case newData
  case capture(Int)
  case query(QueryMember)

  case not(Int)
  case negative(Int)
  case arithmetic(BinaryOperator, Int, Int)
  case comparison(BinaryOperator, Int, Int)
  case equality(Int, Int, isNegated: Bool)
  case all(Range<Int>)
  case any(Range<Int>)
  case choice(Int, Int, Int)

  /// A member of `auth` by the name at an index of the texts.
  case member(Int, Int)
  case element(Int, Int)
  /// The length of a string; a member of that name where `isMember` allows one.
  case length(Int, isMember: Bool)

  case inspection(Inspection, Int)
  case child(Int, Int)
  case hasChild(Int, Int)
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
