import TernCore

/// The functions of `math`, and distances on earth.
///
/// Source: firestore reference, section 6.5.
enum DocumentRuleNumbers {
  typealias Value = DocumentRuleValue

  /// The mean radius of the earth in meters.
  private static let earthRadius = 6_371_010.0

  /// Calls a function of `math`.
  ///
  /// Floats follow IEEE 754 and never fail; a result that must be an integer and does not fit is a
  /// fault.
  static func call(
    _ function: DocumentRuleBuiltin, _ arguments: [Value]
  ) throws(DocumentRuleFault) -> Value {
    guard let number = float(arguments[0]) else { throw .arguments(of: function, arguments) }
    switch function {
    case .mathAbs:
      guard case .int(let whole) = arguments[0] else { return .float(number.magnitude) }
      if whole == .min { throw .arithmetic("Integer overflow.") }
      return .int(abs(whole))
    case .mathCeil: return .float(number.rounded(.up))
    case .mathFloor: return .float(number.rounded(.down))
    case .mathRound:
      if case .int = arguments[0] { return arguments[0] }
      return .int(try rounded(number))
    case .mathSqrt: return .float(number.squareRoot())
    case .mathPow:
      guard let exponent = float(arguments[1]) else { throw .arguments(of: function, arguments) }
      return .float(RealFunctions.power(number, exponent))
    default:
      guard case .float = arguments[0] else { throw .arguments(of: function, arguments) }
      return .bool(number.isNaN)
    }
  }

  /// The nearest whole number; halves go up.
  ///
  /// Adding one half first would round the largest double below one half up to 1.
  private static func rounded(_ number: Double) throws(DocumentRuleFault) -> Int64 {
    let below = number.rounded(.down)
    let whole = number - below >= 0.5 ? below + 1 : below
    guard let result = Int64(exactly: whole) else {
      throw .arithmetic("The number is out of range.")
    }
    return result
  }

  /// The value of a number of either kind; `nil` for other values.
  static func float(_ value: Value) -> Double? {
    switch value {
    case .int(let number): Double(number)
    case .float(let number): number
    default: nil
    }
  }

  /// The text of a float: the fewest digits that name it, with at least one behind the point.
  static func text(of number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    return number.description
  }

  /// The length of the shortest way between two points on earth, in meters.
  ///
  /// The formula is that of haversines on a sphere, exact enough for small distances too. The
  /// square root is cut to 1, because rounding can exceed it for opposite points.
  static func distance(_ a: DocumentGeoPoint, _ b: DocumentGeoPoint) -> Double {
    let radians = Double.pi / 180
    let (x, y) = (a.latitude * radians, b.latitude * radians)
    let latitudes = RealFunctions.sine((y - x) / 2)
    let longitudes = RealFunctions.sine((b.longitude - a.longitude) * radians / 2)
    let cosines = RealFunctions.cosine(x) * RealFunctions.cosine(y)
    let chord = latitudes * latitudes + cosines * longitudes * longitudes
    return 2 * earthRadius * RealFunctions.arcSine(min(1, chord.squareRoot()))
  }
}
