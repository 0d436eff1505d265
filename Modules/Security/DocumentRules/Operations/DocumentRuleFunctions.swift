import TernCore

/// The functions of the language of rules.
///
/// Source: firestore reference, section 6.5.
package enum DocumentRuleFunctions {
  package typealias Value = DocumentRuleValue

  /// Calls a function with as many arguments as it has.
  ///
  /// - Parameters:
  ///   - function: A function that needs no request and no document; `get` and its sisters are
  ///     evaluated elsewhere.
  ///   - arguments: Exactly ``DocumentRuleBuiltin/arity`` values; the resolver has checked the
  ///     number.
  /// - Throws: A fault for arguments of the wrong type, or of a value that the function rejects.
  package static func call(
    _ function: DocumentRuleBuiltin, _ arguments: [Value]
  ) throws(DocumentRuleFault) -> Value {
    let first = arguments[0]
    switch function {
    case .debug: return first
    case .int: return try int(first)
    case .float: return try float(first)
    case .string:
      if case .bytes = first { throw .arguments(of: function, arguments) }
      guard let text = text(of: first) else { throw .arguments(of: function, arguments) }
      return .string(text)
    case .path:
      guard case .string(let text) = first else { throw .arguments(of: function, arguments) }
      return .path(DocumentRulePath(DocumentRulePath.split(text)))
    // The documentation lists these functions, but the service accepts no argument for them.
    case .bool, .bytes, .mathIsInfinite: throw .arguments(of: function, arguments)
    case .mathAbs, .mathCeil, .mathFloor, .mathRound, .mathSqrt, .mathPow, .mathIsNaN:
      return try DocumentRuleNumbers.call(function, arguments)
    case .timestampDate, .timestampValue, .durationValue, .durationTime, .durationAbs:
      return try time(function, arguments)
    case .latlngValue: return try latlng(arguments)
    case .hashingMD5, .hashingSHA256, .hashingCRC32, .hashingCRC32C:
      return try hash(function, first)
    }
  }

  /// The text of a value as `string()` and `join()` have it; `nil` for a type without one.
  static func text(of value: Value) -> String? {
    switch value {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .float(let value): DocumentRuleNumbers.text(of: value)
    case .string(let value): value
    case .path(let path): path.text
    default: nil
    }
  }

  /// Converts to an integer: a float is truncated toward zero, a string must be a decimal integer.
  private static func int(_ value: Value) throws(DocumentRuleFault) -> Value {
    switch value {
    case .int: return value
    case .float(let number):
      guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
        throw .arithmetic("The number is out of range.")
      }
      return .int(whole)
    case .string(let text):
      guard let number = Int64(text) else { throw .invalidArgument("Not an integer.") }
      return .int(number)
    default: throw .arguments(of: .int, [value])
    }
  }

  /// Converts to a float. The check of the characters excludes what Swift accepts beyond decimals,
  /// such as hexadecimal digits, `inf` and `nan`.
  private static func float(_ value: Value) throws(DocumentRuleFault) -> Value {
    switch value {
    case .float: return value
    case .int(let number): return .float(Double(number))
    case .string(let text):
      let isDecimal = text.utf8.allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
      }
      guard isDecimal, let number = Double(text) else { throw .invalidArgument("Not a number.") }
      return .float(number)
    default: throw .arguments(of: .float, [value])
    }
  }

  private static func latlng(_ arguments: [Value]) throws(DocumentRuleFault) -> Value {
    guard let latitude = DocumentRuleNumbers.float(arguments[0]),
      let longitude = DocumentRuleNumbers.float(arguments[1])
    else { throw .arguments(of: .latlngValue, arguments) }
    do {
      return .latlng(try DocumentGeoPoint(latitude: latitude, longitude: longitude))
    } catch {
      throw .invalidArgument("The coordinates are out of range.")
    }
  }

  /// Hashes a string as UTF-8, or bytes. The checksums are returned as four bytes, the lowest
  /// first.
  private static func hash(
    _ function: DocumentRuleBuiltin, _ value: Value
  ) throws(DocumentRuleFault) -> Value {
    let bytes: [UInt8]
    switch value {
    case .string(let text): bytes = Array(text.utf8)
    case .bytes(let value): bytes = value
    default: throw .arguments(of: function, [value])
    }
    switch function {
    case .hashingMD5: return .bytes(MD5.digest(of: bytes))
    case .hashingSHA256: return .bytes(SHA256Hash.digest(of: bytes))
    case .hashingCRC32: return .bytes(DocumentRuleBytes.littleEndian(CRC32.ieee.sum(of: bytes)))
    default: return .bytes(DocumentRuleBytes.littleEndian(CRC32.castagnoli.sum(of: bytes)))
    }
  }
}

extension DocumentRuleFunctions {
  /// Returns the arguments as integers; one of another type is a fault of the whole call.
  private static func integers(
    _ function: DocumentRuleBuiltin, _ arguments: [Value]
  ) throws(DocumentRuleFault) -> [Int64] {
    var numbers: [Int64] = []
    for argument in arguments {
      guard case .int(let number) = argument else { throw .arguments(of: function, arguments) }
      numbers.append(number)
    }
    return numbers
  }

  /// Evaluates the functions of `timestamp` and `duration`. Every result is checked against the
  /// range of its type.
  private static func time(
    _ function: DocumentRuleBuiltin, _ arguments: [Value]
  ) throws(DocumentRuleFault) -> Value {
    switch function {
    case .durationAbs:
      guard case .duration(let span) = arguments[0] else {
        throw .arguments(of: function, arguments)
      }
      guard span.seconds < 0 else { return arguments[0] }
      let zero = DocumentRuleTime(seconds: 0, nanoseconds: 0)
      return try DocumentRuleOperations.duration(zero?.subtracting(span))
    case .durationValue:
      guard case .int(let count) = arguments[0], case .string(let unit) = arguments[1] else {
        throw .arguments(of: function, arguments)
      }
      return try DocumentRuleOperations.duration(try span(count, unit: unit))
    case .durationTime:
      let parts = try integers(function, arguments)
      return try DocumentRuleOperations.duration(span(parts))
    case .timestampValue:
      let milliseconds = try integers(function, arguments)[0]
      let (seconds, rest) = DocumentRuleTime.floored(milliseconds, by: 1_000)
      return try DocumentRuleOperations.timestamp(
        DocumentRuleTime(seconds: seconds, nanoseconds: rest * 1_000_000))
    default:
      let parts = try integers(function, arguments)
      guard let day = DocumentRuleDate.valid(parts[0], parts[1], parts[2]) else {
        throw .invalidArgument("No such date.")
      }
      return try DocumentRuleOperations.timestamp(
        DocumentRuleTime(seconds: day * DocumentRuleTime.secondsPerDay, nanoseconds: 0))
    }
  }

  /// A number of units of time; `nil` when there are too many.
  private static func span(
    _ count: Int64, unit: String
  ) throws(DocumentRuleFault) -> DocumentRuleTime? {
    switch unit {
    case "w": return seconds(count, each: 7 * DocumentRuleTime.secondsPerDay)
    case "d": return seconds(count, each: DocumentRuleTime.secondsPerDay)
    case "h": return seconds(count, each: 3_600)
    case "m": return seconds(count, each: 60)
    case "s": return seconds(count, each: 1)
    case "ms":
      let (whole, rest) = DocumentRuleTime.floored(count, by: 1_000)
      return DocumentRuleTime(seconds: whole, nanoseconds: rest * 1_000_000)
    case "ns": return DocumentRuleTime(seconds: 0, nanoseconds: count)
    default: throw .invalidArgument("Unknown unit of time: \(unit).")
    }
  }

  /// Returns `count` units of `each` seconds; `nil` on overflow.
  private static func seconds(_ count: Int64, each: Int64) -> DocumentRuleTime? {
    let (seconds, overflow) = count.multipliedReportingOverflow(by: each)
    return overflow ? nil : DocumentRuleTime(seconds: seconds, nanoseconds: 0)
  }

  /// Hours, minutes, seconds and nanoseconds; `nil` when there are too many.
  private static func span(_ parts: [Int64]) -> DocumentRuleTime? {
    guard let hours = seconds(parts[0], each: 3_600), let minutes = seconds(parts[1], each: 60),
      let rest = DocumentRuleTime(seconds: parts[2], nanoseconds: parts[3])
    else { return nil }
    return hours.adding(minutes)?.adding(rest)
  }
}
