import Foundation
import TernCore

extension DocumentValue {
  /// Reads a value that holds no others; `nil` for what is not one.
  init?(plain value: Any) throws(FirestoreArgumentError) {
    // By exact type first: a cast would take `true` for a number, and is slow.
    if type(of: value) == Bool.self, let flag = value as? Bool {
      self = .boolean(flag)
    } else if let text = value as? String {
      self = .string(text)
    } else if value is NSNull {
      self = .null
    } else if let integer = value as? any BinaryInteger {
      self = try DocumentValue.whole(integer)
    } else if let number = value as? any BinaryFloatingPoint {
      self = .double(Double(number))
    } else if let number = value as? NSNumber {
      self = try DocumentValue.number(number)
    } else if let bytes = value as? Data {
      self = .bytes(Array(bytes))
    } else if let date = value as? Date {
      self = .timestamp(try DocumentValue.time(date))
    } else if let value = DocumentValue(own: value) {
      self = value
    } else {
      return nil
    }
  }

  /// The types of this module.
  private init?(own value: Any) {
    switch value {
    case let time as Timestamp: self = .timestamp(time.kept)
    case let point as GeoPoint: self = .geoPoint(point.kept)
    case let vector as VectorValue: self = .vector(vector.array)
    default: return nil
    }
  }

  private static func whole(
    _ integer: some BinaryInteger
  ) throws(FirestoreArgumentError) -> DocumentValue {
    guard let exact = Int64(exactly: integer) else {
      throw .numberTooLarge("\(integer)", field: "")
    }
    return .integer(exact)
  }

  /// A `NSNumber` made from a boolean stays one.
  private static func number(_ number: NSNumber) throws(FirestoreArgumentError) -> DocumentValue {
    switch unsafe UInt8(bitPattern: number.objCType.pointee) {
    // A boolean has the type of an integer of 8 bits.
    case UInt8(ascii: "c") where !(0...1 ~= number.int8Value): .integer(number.int64Value)
    case UInt8(ascii: "c"), UInt8(ascii: "B"): .boolean(number.boolValue)
    case UInt8(ascii: "f"), UInt8(ascii: "d"): .double(number.doubleValue)
    case UInt8(ascii: "Q"), UInt8(ascii: "L"): try whole(number.uint64Value)
    default: .integer(number.int64Value)
    }
  }

  private static func time(_ date: Date) throws(FirestoreArgumentError) -> DocumentTimestamp {
    let since = date.timeIntervalSince1970
    let whole = since.rounded(.down)
    // A date may be infinite, or not a number.
    let seconds = Int64(exactly: whole) ?? (since < 0 ? .min : .max)
    let rest = Int32(exactly: ((since - whole) * 1e9).rounded(.down)) ?? 0
    return try FirestoreArgumentError.naming { () throws(DocumentError) in
      try DocumentTimestamp(seconds: seconds, nanoseconds: min(max(rest, 0), 999_999_999))
    }
  }
}

extension DocumentValue {
  /// The value as Firebase code expects it: numbers as `NSNumber`, bytes as `Data`.
  ///
  /// - Parameters:
  ///   - firestore: Whose documents references lead to; `nil` where there are none.
  ///   - behavior: What stands for times that the server has not set yet.
  func foundation(_ firestore: Firestore?, _ behavior: ServerTimestampBehavior) -> Any {
    switch self {
    case .null: NSNull()
    case .boolean(let flag): NSNumber(value: flag)
    case .integer(let number): NSNumber(value: number)
    case .double(let number): NSNumber(value: number)
    case .timestamp(let time): Timestamp(time)
    case .string(let text): text
    case .bytes(let bytes): Data(bytes)
    case .reference(let name): firestore.map { $0.document(named: name) } ?? NSNull()
    case .geoPoint(let point): GeoPoint(point)
    case .array(let elements): elements.map { $0.foundation(firestore, behavior) }
    case .vector(let numbers): VectorValue(numbers)
    case .map(let map): map.foundation(firestore, behavior)
    case .pendingTimestamp: displayed(behavior.display).foundation(firestore, behavior)
    }
  }
}

extension DocumentMap {
  /// The fields as Firebase code expects them.
  func foundation(_ firestore: Firestore?, _ behavior: ServerTimestampBehavior) -> [String: Any] {
    var members: [String: Any] = [:]
    members.reserveCapacity(count)
    for entry in entries { members[entry.name] = entry.value.foundation(firestore, behavior) }
    return members
  }
}

/// The value of a server timestamp that the server has not set yet.
public enum ServerTimestampBehavior: Int, Sendable {
  /// Nothing: `NSNull`.
  case none = 0
  /// The time of the write, by the clock of this device.
  case estimate = 1
  /// The value of the field before, or `NSNull`.
  case previous = 2

  var display: DocumentPendingTimestamp.Display {
    switch self {
    case .none: .none
    case .estimate: .estimate
    case .previous: .previous
    }
  }
}
