import TernCore

/// The knowledge about the value of an expression that holds for every document that a query can
/// select, whatever is stored.
///
/// It is a set of possible outcomes, in one of three forms: listed, symbolic (a part of the
/// document or the request), or unlimited. Operations on it may only lose knowledge: a result that
/// is certain here holds for every document.
enum ProvenValue {
  /// The result of an expression for one document.
  enum Outcome {
    case value(DocumentRuleValue)
    case fault(DocumentRuleFault)
  }

  /// One of a few outcomes.
  case oneOf([Outcome])
  /// Any value or a fault.
  case anything
  /// Any value, and no fault: a part of the path that differs from document to document.
  case anyValue
  /// The document.
  case document
  /// The field of the document at a path; its data as a whole at the empty path.
  case field([ExactText])
  /// The keys of the map at a path.
  case keys([ExactText])
  /// The request.
  case request

  /// The most outcomes that are told apart.
  ///
  /// More outcomes become ``anything``, which keeps the work of a proof small.
  static let outcomeLimit = 8
  /// The most combinations of outcomes of operands that are tried.
  static let combinationLimit = 64

  /// A single value.
  static func value(_ value: DocumentRuleValue) -> ProvenValue { .oneOf([.value(value)]) }

  /// A truth value.
  static func bool(_ value: Bool) -> ProvenValue { .oneOf([.value(.bool(value))]) }

  /// A fault.
  static func fault(_ fault: DocumentRuleFault) -> ProvenValue { .oneOf([.fault(fault)]) }

  /// Several values; anything when there are too many.
  static func values(_ values: [DocumentRuleValue]) -> ProvenValue {
    outcomes(values.map { .value($0) })
  }

  /// Several outcomes; anything when there are too many. Equal truth values and faults are one.
  ///
  /// All faults count as one, because a fault of any kind makes a condition not hold.
  static func outcomes(_ all: [Outcome]) -> ProvenValue {
    var (distinct, bools, hasFault) = ([Outcome](), Set<Bool>(), false)
    for outcome in all {
      switch outcome {
      case .value(.bool(let value)):
        if bools.insert(value).inserted { distinct.append(outcome) }
      case .value: distinct.append(outcome)
      case .fault:
        if !hasFault { distinct.append(outcome) }
        hasFault = true
      }
    }
    return distinct.count > outcomeLimit ? .anything : .oneOf(distinct)
  }

  /// The only value; `nil` when there are others, or a fault.
  var onlyValue: DocumentRuleValue? {
    guard case .oneOf(let outcomes) = self, outcomes.count == 1,
      case .value(let value) = outcomes[0]
    else { return nil }
    return value
  }

  /// The truth value; `nil` when it may be another one, no truth value, or a fault.
  var truth: Bool? {
    guard case .bool(let value)? = onlyValue else { return nil }
    return value
  }

  /// The first fault, when every outcome is one.
  var certainFault: DocumentRuleFault? {
    guard case .oneOf(let outcomes) = self else { return nil }
    var first: DocumentRuleFault?
    for outcome in outcomes {
      guard case .fault(let fault) = outcome else { return nil }
      if first == nil { first = fault }
    }
    return first
  }

  /// The knowledge that holds when either of two values may be the result.
  func joined(_ other: ProvenValue) -> ProvenValue {
    guard case .oneOf(let left) = self, case .oneOf(let right) = other else { return .anything }
    return .outcomes(left + right)
  }
}
