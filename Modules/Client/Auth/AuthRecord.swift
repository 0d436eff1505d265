import TernStorage
import TernSync

/// The token of the signed-in user, as the store of the queue keeps it. Source:
/// Docs/Formats/client-store.md, section on who is signed in.
enum AuthRecord {
  static let key: [UInt8] = [4]
  private static let version: UInt8 = 1

  /// Reads the stored token; `nil` when no user is signed in, or the row is not understood.
  static func token(in store: any OrderedStore) throws(StorageError) -> String? {
    let bytes: [UInt8]?
    do throws(StorageError) {
      bytes = try store.read { view throws(StorageError) in try view.get(key) }
    } catch {
      // A damaged token is no token: its user signs in again.
      guard case .corruptRecord = error else { throw error }
      return nil
    }
    guard let bytes, bytes.first == version else { return nil }
    return String(validating: bytes.dropFirst(), as: UTF8.self)
  }

  /// Keeps a token, or none; durable when it returns.
  static func store(_ token: String?, in store: any OrderedStore) throws(StorageError) {
    try store.write { transaction throws(StorageError) in
      if let token {
        try transaction.put([version] + token.utf8, for: key)
      } else {
        try transaction.remove(key)
      }
    }
  }
}
