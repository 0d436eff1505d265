import TernCore

// Numbers, strings and claims.
extension RuleEvaluator {
  /// Evaluates the operations that read no node.
  ///
  /// Work on strings costs steps by the bytes it touches, so that few operations over large strings
  /// end as well as many over small ones.
  mutating func computeScalar(
    _ operation: Operation, at index: Int
  ) throws(RuleEvaluationError) -> RuleValue {
    switch operation {
    case .negative(let operand): return try negated(operand)
    case .arithmetic(let operation, let left, let right):
      return try arithmetic(operation, left, right, at: index)
    case .comparison(let operation, let left, let right):
      return .bool(try comparison(operation, left, right, at: index))
    case .equality(let left, let right, let isNegated):
      return .bool(try equality(left, right, at: index) != isNegated)
    case .member(let receiver, let name):
      return try evaluate(receiver).member(rules.program.texts[name])
    case .element(let receiver, let name): return try element(receiver, name)
    case .length(let receiver, let isMember): return try length(receiver, isMember, at: index)
    case .textTest(let test, let receiver, let argument):
      return .bool(try textTest(test, receiver, argument, at: index))
    case .replace(let receiver, let old, let new):
      return .text(try replacement(receiver, old, new, at: index))
    case .changeCase(let receiver, let isUpper):
      let text = try text(receiver)
      try spend(text.utf8.count / 4, at: index)
      return .text(try limited(isUpper ? text.uppercased() : text.lowercased(), at: index))
    case .matches(let receiver, let pattern):
      let text = try text(receiver)
      let verdict = rules.program.patterns[pattern].matches(text, steps: &steps)
      try spend(0, at: index)
      return .bool(verdict)
    default: preconditionFailure("the operation is computed elsewhere")
    }
  }

  /// Evaluates an order.
  ///
  /// - Throws: ``RuleError/notOrdered`` unless both are numbers or both are strings; a comparison
  ///   with NaN is false.
  mutating func comparison(
    _ operation: BinaryOperator, _ left: Int, _ right: Int, at index: Int
  ) throws(RuleEvaluationError) -> Bool {
    let (a, b) = (try evaluate(left), try evaluate(right))
    guard let verdict = RuleValue.comparison(operation, a, b) else {
      throw .mistake(.notOrdered, operation: index)
    }
    return verdict
  }

  /// Evaluates an equality. Two objects are a mistake, an object and a scalar are unequal.
  mutating func equality(
    _ left: Int, _ right: Int, at index: Int
  ) throws(RuleEvaluationError) -> Bool {
    let (a, b) = (try evaluate(left), try evaluate(right))
    guard let isEqual = RuleValue.equality(a, b) else {
      throw .mistake(.notComparable, operation: index)
    }
    return isEqual
  }

  private mutating func negated(_ operand: Int) throws(RuleEvaluationError) -> RuleValue {
    switch try evaluate(operand) {
    // The negative of the least 64-bit integer does not fit 64 bits.
    case .integer(let value) where value != .min: return .integer(-value)
    case .integer(let value): return .double(-Double(value))
    case .double(let value): return .double(-value)
    default: throw .mistake(.notNumber, operation: operand)
    }
  }

  /// Evaluates arithmetic on numbers, and `+` as concatenation where an operand is a string.
  ///
  /// The steps and the size limit are checked before the strings are joined.
  private mutating func arithmetic(
    _ operation: BinaryOperator, _ left: Int, _ right: Int, at index: Int
  ) throws(RuleEvaluationError) -> RuleValue {
    let (a, b) = (try evaluate(left), try evaluate(right))
    if let result = RuleValue.arithmetic(operation, a, b) { return result }
    guard operation == .add else {
      throw .mistake(.notNumber, operation: a.number == nil ? left : right)
    }
    guard let first = a.addend, let second = b.addend else {
      throw .mistake(.notAddable, operation: index)
    }
    try spend((first.utf8.count + second.utf8.count) / 16, at: index)
    return .text(try limited(first + second, at: index))
  }

  /// Returns a member of claims by a computed name; a number counts as its text, as in JavaScript.
  private mutating func element(_ receiver: Int, _ name: Int) throws(RuleEvaluationError)
    -> RuleValue
  {
    let value = try evaluate(receiver)
    let name =
      switch try evaluate(name) {
      case .text(let text): text
      case .integer(let number): "\(number)"
      case .double(let number): number.ruleText
      default: throw RuleEvaluationError.mistake(.notString, operation: name)
      }
    return value.member(name)
  }

  /// Returns the length of a string in UTF-16 units, or the member `length` of claims.
  private mutating func length(
    _ receiver: Int, _ isMember: Bool, at index: Int
  ) throws(RuleEvaluationError) -> RuleValue {
    switch try evaluate(receiver) {
    case .text(let text):
      try spend(text.utf8.count / 16, at: index)
      return .integer(Int64(text.utf16.count))
    case .claims(let claims) where isMember: return RuleValue.claims(claims).member("length")
    default: throw .mistake(.noLength, operation: receiver)
    }
  }

  private mutating func textTest(
    _ test: Operation.TextTest, _ receiver: Int, _ argument: Int, at index: Int
  ) throws(RuleEvaluationError) -> Bool {
    let text = try text(receiver)
    let part = try self.text(argument)
    try spend((text.utf8.count + part.utf8.count) / 8, at: index)
    switch test {
    case .contains: return !ByteSearch(part).occurrences(in: text, most: 1).isEmpty
    case .beginsWith: return text.utf8.starts(with: part.utf8)
    case .endsWith: return text.utf8.reversed().starts(with: part.utf8.reversed())
    }
  }

  /// Replaces every occurrence of `old`; an empty `old` leaves the text as it is.
  ///
  /// The size of the result is known before it is built, so an oversized one costs no memory.
  private mutating func replacement(
    _ receiver: Int, _ old: Int, _ new: Int, at index: Int
  ) throws(RuleEvaluationError) -> String {
    let text = try text(receiver)
    let (old, new) = (try self.text(old), try self.text(new))
    try spend((text.utf8.count + old.utf8.count) / 8, at: index)
    if old.isEmpty { return text }
    let places = ByteSearch(old).occurrences(in: text, most: .max)
    let growth = places.count * (new.utf8.count - old.utf8.count)
    guard text.utf8.count + growth <= limits.stringBytes else {
      throw .exhausted(.string, operation: index)
    }
    try spend((text.utf8.count + growth) / 16, at: index)
    var result: [UInt8] = []
    let bytes = Array(text.utf8)
    var next = 0
    for place in places {
      result += bytes[next..<place]
      result += new.utf8
      next = place + old.utf8.count
    }
    return String(decoding: result + bytes[next...], as: UTF8.self)
  }

  /// - Throws: ``RulesBudget/string`` for a text above ``RulesLimits/stringBytes``.
  private func limited(_ text: String, at index: Int) throws(RuleEvaluationError) -> String {
    guard text.utf8.count <= limits.stringBytes else {
      throw .exhausted(.string, operation: index)
    }
    return text
  }
}

extension RuleValue {
  /// The operand of `+` as text: a string as it is, a number in its text form.
  fileprivate var addend: String? {
    switch self {
    case .text(let text): text
    case .integer(let number): "\(number)"
    case .double(let number): number.ruleText
    case .null, .bool, .object, .claims, .snapshot: nil
    }
  }
}
