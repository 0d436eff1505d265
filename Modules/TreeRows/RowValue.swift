import TernCore

/// The bytes of a leaf or of a priority. Source: Docs/Formats/tree-rows.md, section 2.
enum RowValue {
  private static let falseTag: UInt8 = 0x01
  private static let trueTag: UInt8 = 0x02
  private static let integerTag: UInt8 = 0x03
  private static let doubleTag: UInt8 = 0x04
  private static let stringTag: UInt8 = 0x05

  /// Encodes a value whose server values are resolved.
  static func encode(_ scalar: TreeScalar) -> [UInt8] {
    switch scalar {
    case .bool(let value): [value ? trueTag : falseTag]
    case .integer(let value): encode(value)
    case .double(let value): [doubleTag] + bigEndian(value.bitPattern)
    case .string(let text): [stringTag] + text.utf8
    case .serverValue: preconditionFailure("server values are resolved before they are stored")
    }
  }

  /// Decodes a value; `nil` when the bytes are none.
  static func decode(_ bytes: Span<UInt8>) -> TreeScalar? {
    guard bytes.count > 0 else { return nil }
    let rest = bytes.extracting(droppingFirst: 1)
    switch bytes[0] {
    case falseTag: return rest.isEmpty ? .bool(false) : nil
    case trueTag: return rest.isEmpty ? .bool(true) : nil
    case integerTag: return decodeInteger(rest)
    case doubleTag:
      guard rest.count == 8 else { return nil }
      return .double(Double(bitPattern: number(rest)))
    case stringTag:
      // Safe: the buffer is only read, and only here.
      return unsafe rest.withUnsafeBufferPointer {
        unsafe .string(String(decoding: $0, as: UTF8.self))
      }
    default: return nil
    }
  }

  /// The shortest big-endian two's complement that holds the value: 1...8 bytes.
  private static func encode(_ value: Int64) -> [UInt8] {
    var bytes = bigEndian(UInt64(bitPattern: value))[...]
    while bytes.count > 1, let first = bytes.first, first == 0x00 || first == 0xFF {
      let isNegative = bytes[bytes.startIndex + 1] >= 0x80
      guard isNegative == (first == 0xFF) else { break }
      bytes.removeFirst()
    }
    return [integerTag] + bytes
  }

  private static func decodeInteger(_ bytes: Span<UInt8>) -> TreeScalar? {
    guard (1...8).contains(bytes.count) else { return nil }
    let unused = UInt64(64 - bytes.count * 8)
    return .integer(Int64(bitPattern: number(bytes) << unused) >> Int64(unused))
  }

  private static func bigEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - $0 * 8)) }
  }

  private static func number(_ bytes: Span<UInt8>) -> UInt64 {
    var number: UInt64 = 0
    for index in bytes.indices { number = number << 8 | UInt64(bytes[index]) }
    return number
  }
}
