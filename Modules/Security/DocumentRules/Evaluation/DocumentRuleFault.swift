/// The reason an expression has no value.
///
/// A fault makes a condition not hold; only ``exhausted`` denies the request as a whole.
/// Source: firestore reference, sections 6.4 and 6.10.
package enum DocumentRuleFault: Error, Hashable, Sendable {
  /// A member or key that a map lacks.
  case undefinedProperty(String)
  /// A member of null.
  case nullValue
  /// Operands of types that an operator or method is not defined for.
  case unsupported(received: String, expected: String)
  /// A name that nothing in scope has; found at run time, as in the service, so the file is still
  /// valid.
  case unknownVariable(String)
  /// A function or method that does not exist, or not with that many parameters.
  case unknownFunction(String)
  /// An argument of the right type with a value that is not allowed.
  case invalidArgument(String)
  /// A number that cannot be represented, or a division by zero.
  case arithmetic(String)
  /// An index or slice outside of its value.
  case outOfRange
  /// A regular expression that is not one, with its problem.
  case invalidPattern(String)
  /// A value that an expression made too large.
  ///
  /// A string or list beyond ``DocumentRulesLimits``, or a search beyond its steps.
  case tooLarge
  /// A document that was not read: the path names none here, or too many were read.
  case documentAccess(DocumentRuleAccess, path: String)
  /// More expressions were evaluated than a request may.
  case exhausted

  /// The sentence that the emulator has for it.
  package var text: String {
    switch self {
    case .undefinedProperty(let name): "Property \(name) is undefined on object."
    case .nullValue: "Null value error."
    case .unsupported(let received, let expected):
      "Unsupported operation error. Received: \(received). Expected: \(expected)."
    case .unknownVariable(let name): "Variable not found error: Name: [\(name)]."
    case .unknownFunction(let name): "Function not found error: Name: [\(name)]."
    case .invalidArgument(let message): "Invalid argument provided to call. \(message)"
    case .arithmetic(let message): "Arithmetic error. \(message)"
    case .outOfRange: "Index out of range."
    case .invalidPattern(let message): "Invalid regular expression: \(message)."
    case .tooLarge: "The value is too large."
    case .documentAccess(let function, let path):
      "Service call error. Function: [\(function.rawValue)], Argument: [\(path)]"
    case .exhausted:
      "Unable to evaluate the expression as the maximum of \(DocumentRulesLimits.expressions) "
        + "expressions to evaluate has been reached."
    }
  }

  /// Operands of a binary operator whose types do not fit.
  static func operands(
    _ left: DocumentRuleValue, _ operation: DocumentRuleOperator, _ right: DocumentRuleValue
  ) -> DocumentRuleFault {
    .unsupported(
      received: "\(left.typeName) \(operation.rawValue) \(right.typeName)",
      expected: operation.expectation)
  }

  /// An operand where a bool belongs.
  static func notBool(_ value: DocumentRuleValue, in operation: String) -> DocumentRuleFault {
    .unsupported(received: "\(operation) \(value.typeName)", expected: "\(operation) bool")
  }

  /// The call of a method that the type lacks, or with arguments it does not accept.
  static func method(
    _ name: String, of receiver: DocumentRuleValue, _ arguments: [DocumentRuleValue]
  ) -> DocumentRuleFault {
    let types = arguments.map(\.typeName).joined(separator: ", ")
    return .unsupported(
      received: "\(receiver.typeName).\(name)(\(types))", expected: "a method of the type")
  }

  /// The call of a function with arguments it does not accept.
  static func arguments(
    of function: DocumentRuleBuiltin, _ arguments: [DocumentRuleValue]
  ) -> DocumentRuleFault {
    let types = arguments.map(\.typeName).joined(separator: ", ")
    return .unsupported(received: "\(function.rawValue)(\(types))", expected: "other types")
  }
}

extension DocumentRuleOperator {
  /// The types it is defined for, in the order of the service's texts.
  fileprivate var expectation: String {
    let types: [String]
    switch self {
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      types = ["string", "bytes", "int", "float", "duration", "timestamp"]
    case .add: types = ["string", "int", "float", "duration"]
    case .subtract: types = ["int", "float", "duration", "timestamp"]
    case .multiply, .divide, .remainder: types = ["int", "float"]
    case .isIn: return "any in list, any in set, string in map"
    case .equal, .notEqual: return "any \(rawValue) any"
    }
    var pairs = types.map { "\($0) \(rawValue) \($0)" }
    if types.contains("bytes") {
      pairs += ["constraint \(rawValue) any", "any \(rawValue) constraint"]
    }
    return pairs.joined(separator: ", ")
  }
}
