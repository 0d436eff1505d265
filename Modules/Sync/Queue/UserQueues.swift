package import TernStorage

/// The users with a queue in a store, beside the queue without a user.
package enum UserQueues {
  /// The users who have a queue there, in the order of their names' bytes.
  ///
  /// - Complexity: O(users), however much waits in their queues.
  package static func users(in store: any OrderedStore) throws(StorageError) -> [String] {
    try store.read { view throws(StorageError) in try users(in: view) }
  }

  private static func users(in view: borrowing Snapshot) throws(StorageError) -> [String] {
    var users: [String] = []
    var rest = KeyRange(prefix: [QueueKeys.users])
    while let key = try firstKey(of: rest, in: view) {
      guard let user = QueueKeys.user(inKey: key) else {
        rest.lower = key + [0]
        continue
      }
      users.append(user)
      guard let next = QueueKeys(user: user).everything.upper else { break }
      rest.lower = next
    }
    return users
  }

  /// Returns the permanent name of a store, independent of its users: the first stream of the queue
  /// without a user.
  package static func origin(
    in store: any OrderedStore, newClient: UInt128
  ) throws(QueueError) -> UInt128 {
    let keys = QueueKeys()
    do {
      let known = try store.read { view throws(StorageError) in
        Result { () throws(QueueError) in try QueueCodec.header(keys, in: view) }
      }.get()
      if let known { return known.origin }
      try store.write { transaction throws(StorageError) in
        let fresh = QueueCodec.Header(client: newClient)
        try transaction.put(QueueCodec.encode(fresh), for: keys.header)
      }
      return newClient
    } catch let error as QueueError {
      throw error
    } catch let error as StorageError {
      throw .storage(error)
    } catch {
      throw .unreadable(reason: "\(error)")
    }
  }

  /// The first key of a range, also that of a damaged record.
  private static func firstKey(
    of range: KeyRange, in view: borrowing Snapshot
  ) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) { return try view.scan(range, limit: 1).first?.key } catch {
      guard case .corruptRecord(let key) = error, range.contains(key.span) else { throw error }
      return key
    }
  }

  /// Sees whether another user may have a queue.
  ///
  /// - Returns: Whose queue has to go for that: one in which nothing is, so that nothing is lost.
  ///   Its user gets another stream later, which is as good: the old one is answered to its end.
  static func makeRoom(
    for user: String, in store: any OrderedStore, _ limits: QueueLimits
  ) throws(QueueError) -> String? {
    if user.isEmpty { return nil }
    let bytes = user.utf8.count
    guard bytes <= QueueLimits.userBytes else {
      throw .userTooLong(bytes: bytes, limitBytes: QueueLimits.userBytes)
    }
    let (count, idle): (Int, String?)
    do throws(StorageError) {
      (count, idle) = try store.read { view throws(StorageError) in
        let users = try users(in: view)
        guard users.count >= limits.userCount else { return (users.count, nil) }
        for user in users {
          let records = QueueKeys(user: user).records
          if try firstKey(of: records, in: view) == nil { return (users.count, user) }
        }
        return (users.count, nil)
      }
    } catch {
      throw .storage(error)
    }
    guard count < limits.userCount || idle != nil else {
      throw .tooManyUsers(limit: limits.userCount)
    }
    return idle
  }
}
