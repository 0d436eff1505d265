import TernStorage

/// The keys of the records of one queue in its store; see `Docs/Formats/write-queue.md`.
///
/// The queue without a user lies at the top of the store, that of a user below the user's name.
struct QueueKeys: Hashable, Sendable {
  /// There while the whole store is to be forgotten; its value is empty. The key `04` is taken: a
  /// client keeps there who is signed in.
  static let wipe: [UInt8] = [5]
  /// The prefix of the users' queues.
  static let users: UInt8 = 6

  private let prefix: [UInt8]

  /// - Parameter user: Empty for the queue without a user; at most ``QueueLimits/userBytes``.
  init(user: String = "") {
    prefix = user.isEmpty ? [] : Self.prefix(Array(user.utf8))
  }

  private static func prefix(_ user: [UInt8]) -> [UInt8] {
    var prefix = [users]
    prefix.append(integer: UInt16(user.count))
    return prefix + user
  }

  /// The user in a key below ``users``; `nil` when it names none.
  static func user(inKey key: [UInt8]) -> String? {
    var reader = RecordReader(key)
    guard reader.byte() == users, let count: UInt16 = reader.integer() else { return nil }
    let rest = reader.rest()
    guard count > 0, rest.count >= Int(count) else { return nil }
    return String(validating: rest.prefix(Int(count)), as: UTF8.self)
  }

  /// All that belongs to this queue; only for that of a user.
  var everything: KeyRange { KeyRange(prefix: prefix) }
  var header: [UInt8] { prefix + [1] }
  var rows: KeyRange { KeyRange(prefix: prefix + [2]) }
  /// Damaged rows, under what followed the first byte of their key.
  var setAside: KeyRange { KeyRange(prefix: prefix + [3]) }
  /// Both of them.
  var records: KeyRange { KeyRange(from: prefix + [2], to: prefix + [4]) }

  func row(_ id: UInt64) -> [UInt8] {
    var key = prefix + [2]
    key.append(integer: id)
    return key
  }

  /// The id in the key of a row; `nil` when it is none.
  func id(fromKey key: [UInt8]) -> UInt64? { id(key, kind: 2) }

  /// The key under which a damaged row is set aside.
  func setAside(_ key: [UInt8]) -> [UInt8] { prefix + [3] + key.dropFirst(prefix.count + 1) }

  /// The id in the key of a row, set aside or not; 0 when there is none.
  func anyID(fromKey key: [UInt8]) -> UInt64 { id(key, kind: 2) ?? id(key, kind: 3) ?? 0 }

  private func id(_ key: [UInt8], kind: UInt8) -> UInt64? {
    guard key.starts(with: prefix) else { return nil }
    var reader = RecordReader(Array(key.dropFirst(prefix.count)))
    guard reader.byte() == kind, let id: UInt64 = reader.integer(), reader.isAtEnd else {
      return nil
    }
    return id
  }
}
