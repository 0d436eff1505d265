import Foundation
import TernCore

extension TreeScalar {
  /// Reads a leaf; `nil` for anything that is not a string, a number or a boolean.
  ///
  /// A Swift `Bool` casts to `NSNumber` and an `NSNumber` to `Bool`, so the dynamic type is asked
  /// first. Whole numbers beyond 64 bits become doubles, as in JavaScript.
  init?(foundation value: Any) {
    if type(of: value) == Bool.self, let flag = value as? Bool {
      self = .bool(flag)
    } else if let integer = value as? any BinaryInteger {
      self = Int64(exactly: integer).map { .integer($0) } ?? .double(Double(integer))
    } else if let number = value as? NSNumber {
      self.init(number)
    } else if let text = value as? String {
      self = .string(text)
    } else {
      return nil
    }
  }

  /// A `NSNumber` made from a boolean stays one; integers that fit 64 bits stay exact.
  ///
  /// `objCType` tells how the number was made, which is the only difference between `true` and 1.
  init(_ number: NSNumber) {
    switch unsafe UInt8(bitPattern: number.objCType.pointee) {
    // A boolean has the type of an integer of 8 bits.
    case UInt8(ascii: "c") where !(0...1 ~= number.int8Value):
      self = .integer(number.int64Value)
    case UInt8(ascii: "c"), UInt8(ascii: "B"):
      self = .bool(number.boolValue)
    case UInt8(ascii: "f"), UInt8(ascii: "d"):
      self = .double(number.doubleValue)
    case UInt8(ascii: "Q"), UInt8(ascii: "L"):
      let value = number.uint64Value
      self = Int64(exactly: value).map { .integer($0) } ?? .double(Double(value))
    default:
      self = .integer(number.int64Value)
    }
  }

  /// Reads what stands behind `.sv`: `"timestamp"` or `{"increment": number}`.
  init?(serverValue placeholder: Any) {
    if let name = placeholder as? String, name == "timestamp" {
      self = .serverValue(.timestamp)
      return
    }
    guard let members = placeholder as? [String: Any], members.count == 1,
      let delta = members["increment"], let scalar = TreeScalar(foundation: delta),
      scalar.number != nil
    else { return nil }
    self = .serverValue(.increment(scalar))
  }

  /// Reads a priority: a string, a finite number or a server value.
  init(priority value: Any, at path: TreePath) throws(DatabaseValueError) {
    if let members = value as? [String: Any], let placeholder = members[".sv"],
      let scalar = TreeScalar(serverValue: placeholder)
    {
      self = scalar
      return
    }
    guard let scalar = TreeScalar(foundation: value), scalar.isValidPriority else {
      throw .invalidPriority(path: path.description)
    }
    self = scalar
  }

  /// The scalar as a Foundation object, which casts to every Swift type that fits.
  var foundation: Any {
    switch self {
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .string(let value): value as NSString
    case .serverValue(.timestamp): [".sv": "timestamp"] as NSDictionary
    case .serverValue(.increment(let delta)):
      [".sv": ["increment": delta.foundation]] as NSDictionary
    }
  }
}
