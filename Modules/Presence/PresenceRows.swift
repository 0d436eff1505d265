import TernStorage

/// The layout of the operations in a store: one row for a session's owner, then one for each write.
///
/// Keys are a prefix, the session's id in 16 bytes, and in 4 bytes 0 for the owner or the number
/// of the write counted from 1, all most significant byte first.
public struct PresenceRows: Hashable, Sendable {
  private let prefix: [UInt8]

  /// Rows below `prefix`; no other user of the store may extend it.
  public init(prefix: [UInt8]) {
    self.prefix = prefix
  }

  func owner(of session: UInt128, _ owner: [UInt8]) -> Row {
    Row(key: key(of: session, 0), value: owner)
  }

  func write(of session: UInt128, number: Int, _ write: [UInt8]) -> Row {
    Row(key: key(of: session, UInt32(clamping: number + 1)), value: write)
  }

  func range(of session: UInt128) -> KeyRange {
    KeyRange(prefix: prefix + Self.bytes(of: session))
  }

  /// The rows of a session's writes, without its owner.
  func writes(of session: UInt128) -> KeyRange {
    KeyRange(from: key(of: session, 1), to: range(of: session).upper)
  }

  /// Reads all sessions.
  ///
  /// - Complexity: O(deferred writes), whatever else is stored.
  func read(
    from view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UInt128: DisconnectOperations.PendingDisconnects] {
    var estates: [UInt128: DisconnectOperations.PendingDisconnects] = [:]
    var cursor = view.cursor(over: KeyRange(prefix: prefix))
    while try cursor.next() {
      let key = cursor.key
      guard key.count == prefix.count + 20 else {
        throw .corruptRecord(key: [UInt8](copying: key))
      }
      let value = [UInt8](copying: cursor.value)
      let session: UInt128 = number(key, at: prefix.count)
      let number: UInt32 = number(key, at: prefix.count + 16)
      if number == 0 {
        estates[session] = DisconnectOperations.PendingDisconnects(owner: value)
      } else {
        estates[session]?.append(value)
      }
    }
    return estates
  }

  private func key(of session: UInt128, _ number: UInt32) -> [UInt8] {
    prefix + Self.bytes(of: session) + Self.bytes(of: number)
  }

  private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    stride(from: number.bitWidth - 8, through: 0, by: -8).map {
      UInt8(truncatingIfNeeded: number >> $0)
    }
  }

  private func number<Number: FixedWidthInteger>(_ bytes: Span<UInt8>, at offset: Int) -> Number {
    var number: Number = 0
    for index in offset..<offset + Number.bitWidth / 8 {
      number = number << 8 | Number(bytes[index])
    }
    return number
  }
}
