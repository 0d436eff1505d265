import TernCore

/// The ids of transactions: their mode, random bytes, and a checksum of both.
///
/// Any server tells by its checksum that an id was given out, also by a run before this one: such a
/// transaction has ended, and its client tries again; ids that never were are a mistake.
///
/// Layout: mode in 1 byte (1 read-only, 2 read-write), 16 random bytes, checksum in 8 bytes. The
/// checksum is no signature: a client that makes an id up gets ABORTED instead of INVALID_ARGUMENT,
/// and nothing else.
enum TransactionID {
  private static let readOnly: UInt8 = 1
  private static let readWrite: UInt8 = 2
  private static let byteCount = 1 + 16 + 8

  /// - Parameter randomBits: Answers 64 random bits; called twice.
  static func make(isReadOnly: Bool, randomBits: () -> UInt64) -> [UInt8] {
    var id = [isReadOnly ? readOnly : readWrite]
    for _ in 0..<2 { OrderedBytes.appendBigEndian(randomBits(), to: &id) }
    OrderedBytes.appendBigEndian(checksum(id[...]), to: &id)
    return id
  }

  /// Returns the mode of a transaction; `nil` for bytes that are no id.
  static func isReadOnly(_ id: [UInt8]) -> Bool? {
    guard id.count == byteCount, id[0] == readOnly || id[0] == readWrite else { return nil }
    var check: [UInt8] = []
    OrderedBytes.appendBigEndian(checksum(id.dropLast(8)), to: &check)
    return check.elementsEqual(id.suffix(8)) ? id[0] == readOnly : nil
  }

  /// FNV-1a.
  ///
  /// It is the 64-bit variant.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}
