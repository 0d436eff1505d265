public import TernCore
public import TernQuery
public import TernStorage
public import TernSync
public import TernTransport

/// Something a developer wants to read in a log; nothing has failed.
public enum ClientNotice: Hashable, Sendable {
  /// The server's rules declare no index for a query, so it has to look at every child at `path`.
  /// Declare one in the rules there. Told once for each.
  case missingIndex(at: TreePath, for: TreeOrder)
  /// A cache cannot be opened, or not be stored any more: what the server says is kept in memory,
  /// until the end of the program. What waits to be sent is safe, for it lies in the queue. Mend
  /// the store, or remove it: the cache is filled again. The tree's cache tries again now and then.
  case cacheUnusable(ClientCache, StorageError)
  /// The signed-in user's write queue cannot be read, or there is no space for one, so that this
  /// user's writes to the tree are rejected. The way out of damage is
  /// ``TernDatabase/setDamagedAside(queue:of:ambient:)``.
  case queueUnusable(user: String, QueueError)
  /// The same for documents; see ``TernDatabase/setDamagedAside(documentQueue:of:user:ambient:)``.
  case documentQueueUnusable(user: String, QueueError)
  /// Records of a user's write queue break a rule of what may be written, which an earlier version
  /// did not check. They were set aside and are not sent; the queue goes on with the rest. Their
  /// bytes are kept, see ``TreeSalvage/setAside``.
  case writesSetAside(user: String, [DamagedRecord])
  /// The same for documents; see ``DocumentSalvage/setAside``.
  case documentWritesSetAside(user: String, [DamagedRecord])
  /// These paths had transactions of the present user, given as closures, when the program ended:
  /// they cannot be computed again.
  case transactionsLost(user: String, at: [TreePath])
  /// There is no connection, for this reason. Reported when it is another one than before at the
  /// same address; writes wait, and the client tries again by itself, at the next address if it
  /// knows several. `TransportError.notSecure` and
  /// `TransportError.invalidOption` stay until they are corrected.
  case notConnected(TransportError)
  /// The server says why it ends a connection, or takes no writes now: its disk is full, for
  /// example. What is written waits, and is sent again by itself; after the words of a server that
  /// takes no further connections, once the application calls `goOnline()`. Told once for each
  /// text.
  case serverSays(String)
  /// A message is longer than the limit of this client's transport, which ends the connection. A
  /// write that is too large is tried on every connection, and holds back those behind it: raise
  /// the limit, at the server as well, or purge the queue. Told once for each message.
  case frameTooLarge(bytes: Int, limitBytes: Int)
}

/// The cache of a client for data of a server.
public enum ClientCache: String, Hashable, Sendable {
  /// The tree, ``ClientParts/cache``.
  case tree
  /// The documents, ``DocumentParts/cache``.
  case documents
}

extension ClientNotice: CustomStringConvertible {
  /// One sentence, with what to do.
  public var description: String {
    switch self {
    case .cacheUnusable(let cache, let error):
      "the cache of the \(cache.rawValue) is kept in memory for now: \(error). A cache may also be "
        + "removed: it is filled again"
    case .queueUnusable(let user, let error):
      "the writes of \(user.isEmpty ? "no user" : user) to the tree cannot be read: \(error)"
    case .documentQueueUnusable(let user, let error):
      "the writes of \(user.isEmpty ? "no user" : user) to documents cannot be read: \(error)"
    case .writesSetAside(let user, let records):
      "writes of \(user.isEmpty ? "no user" : user) to the tree that cannot be read are not sent: "
        + "\(records.count). They are kept, see: tern pending salvage"
    case .documentWritesSetAside(let user, let records):
      "writes of \(user.isEmpty ? "no user" : user) to documents that cannot be read are not "
        + "sent: \(records.count). They are kept, see: tern pending salvage"
    case .transactionsLost(let user, let paths):
      "transactions of \(user.isEmpty ? "no user" : user) are lost: "
        + paths.map { "/\($0)" }.joined(separator: ", ")
    case .notConnected(let error): "no connection: \(error)"
    case .serverSays(let text): "the server says: \(text)"
    case .frameTooLarge(let bytes, let limit):
      "a message of \(bytes) bytes is over the limit of \(limit) and ends each connection: raise "
        + "the limit of the transport, or give up the write"
    case .missingIndex(let path, let order):
      "the server looks at every child of /\(path): add \(order.declaration) to its rules there"
    }
  }
}

extension TreeOrder {
  /// The declaration of an index for it.
  fileprivate var declaration: String {
    switch self {
    case .key: #"".indexOn": ".key""#
    case .priority: #"".indexOn": ".priority""#
    case .value: #"".indexOn": ".value""#
    case .child(let path): "\".indexOn\": \"\(path)\""
    }
  }
}
