public import Dispatch
import Synchronization
public import TernClient
import TernCore
import TernQuery
package import TernSync
import TernTreeReplica

/// A realtime tree under Firebase's names.
///
/// Settings can be changed until the first reference is made; that opens the database.
public final class Database: Sendable {
  /// A cache without a limit.
  public static let cacheSizeUnlimited = UInt.max
  /// The smallest limit of a cache, in bytes.
  public static let smallestCacheSizeBytes: UInt = 1024 * 1024

  package typealias Opening = @Sendable (DatabaseSettings) async throws -> TernDatabase

  private struct State {
    var settings = DatabaseSettings()
    var isFrozen = false
    var pushIDs = PushIDGenerator()
    var serverTimeOffset: Int64 = 0
    var tern: TernDatabase?
  }

  let calls = CallBuffer<TreeSession> { DatabaseError.tooManyWaiting(limit: $0) }
  let observers = Observers()
  let address: String
  /// The database on the server.
  let namespace: String
  private let owner: FirebaseApp?
  private let ambient: RuntimeEnvironment
  private let opening: Opening
  private let state = Mutex(State())

  /// Makes a database that `opening` opens at its first use.
  package init(
    address: String, namespace: String = ClientOptions.defaultNamespace,
    ambient: RuntimeEnvironment = .system, owner: FirebaseApp? = nil, opening: @escaping Opening
  ) {
    self.address = address
    self.namespace = namespace
    self.owner = owner
    self.ambient = ambient
    self.opening = opening
  }

  /// The app that the database belongs to.
  public var app: FirebaseApp { owner ?? FirebaseApp.standard }

  /// The top of the tree.
  public func reference() -> DatabaseReference {
    open()
    return DatabaseReference(database: self, path: .root)
  }

  /// The location at a path.
  ///
  /// - Precondition: `path` follows the rules of keys.
  public func reference(withPath path: String) -> DatabaseReference {
    reference().child(path)
  }

  /// The location at an address, such as ``DatabaseReference/url``.
  ///
  /// An address of another server or database is no location: every use of it fails with
  /// ``DatabaseError/invalid(_:)``. Firebase's own SDK ends the program.
  public func reference(fromURL databaseUrl: String) -> DatabaseReference {
    open()
    let root = DatabaseReference(database: self, path: .root)
    guard let address = DatabaseAddress(databaseUrl) else {
      return root.refused("\"\(databaseUrl)\" is not an address of a database.").ref
    }
    let own = DatabaseAddress(self.address)
    let isHere =
      address.isGoogles
      || (address.host == own?.host && address.port == own?.port
        && address.isEncrypted == own?.isEncrypted)
    guard isHere, address.namespace.map({ $0 == namespace }) ?? true else {
      return root.refused("\"\(databaseUrl)\" is not an address of \(self.address).").ref
    }
    return address.path.isEmpty ? root : root.child(address.path)
  }

  /// Notes on standard error when the connections of databases that are opened from now on come and
  /// go; off unless asked for.
  public static func setLoggingEnabled(_ enabled: Bool) {
    DebugLog.setEnabled(enabled, for: .tree)
  }

  /// The version of this library.
  public static func sdkVersion() -> String { "0.1.0" }

  /// Ends the connection and stays without one; the server carries out the deferred writes.
  public func goOffline() {
    open()
    calls.submit { $0.goOffline() }
  }

  /// Allows a connection again, and tries at once.
  public func goOnline() {
    open()
    calls.submit { $0.goOnline() }
  }

  /// Gives up every write the server has not answered; their completions hear `write_canceled`.
  public func purgeOutstandingWrites() {
    open()
    calls.submit { $0.purge { _ in } }
  }

  /// Ends the database. Queued writes stay on the device for the next start.
  public func close() async {
    guard state.withLock({ $0.isFrozen }) else { return }
    // One that is being opened is closed when it is open.
    guard (try? await calls.session()) != nil else { return }
    await state.withLock { $0.tern }?.close()
  }

  /// The native client underneath; it has what Firebase's names do not.
  public func native() async throws -> TernDatabase {
    open()
    _ = try await calls.session()
    guard let tern = state.withLock({ $0.tern }) else {
      throw DatabaseError.closed("the database was closed")
    }
    return tern
  }
}

// MARK: - Settings

extension Database {
  /// Changes settings.
  ///
  /// - Throws: ``DatabaseError/settingsFrozen(_:)`` after the first use,
  ///   ``DatabaseError/cacheSizeTooSmall(_:minimum:)``; nothing is changed then.
  public func configure(_ change: (inout DatabaseSettings) -> Void) throws(DatabaseError) {
    let problem: DatabaseError? = state.withLock { state in
      var settings = state.settings
      change(&settings)
      if state.isFrozen { return .settingsFrozen(Self.difference(state.settings, settings)) }
      let size = settings.persistenceCacheSizeBytes
      if size < Self.smallestCacheSizeBytes {
        return .cacheSizeTooSmall(size, minimum: Self.smallestCacheSizeBytes)
      }
      state.settings = settings
      return nil
    }
    if let problem { throw problem }
  }

  /// True when data and queued writes outlive the program; off by default.
  ///
  /// - Precondition: Set before the first reference is made.
  public var isPersistenceEnabled: Bool {
    get { settings.isPersistenceEnabled }
    set { require { $0.isPersistenceEnabled = newValue } }
  }

  /// The limit on cached server data, in bytes; 10 MiB by default, at least 1 MiB.
  ///
  /// - Precondition: Set before the first reference is made.
  public var persistenceCacheSizeBytes: UInt {
    get { settings.persistenceCacheSizeBytes }
    set { require { $0.persistenceCacheSizeBytes = newValue } }
  }

  /// The queue on which observers and completions are called; the main queue by default.
  ///
  /// - Precondition: Set before the first reference is made.
  public var callbackQueue: DispatchQueue {
    get { settings.callbackQueue }
    set { require { $0.callbackQueue = newValue } }
  }

  /// Talks to a server on this host and port in place of the configured one.
  ///
  /// - Precondition: Called before the first reference is made.
  public func useEmulator(withHost host: String, port: Int) {
    require { $0.emulator = .init(host: host, port: port) }
  }

  private var settings: DatabaseSettings { state.withLock { $0.settings } }

  private func require(_ change: (inout DatabaseSettings) -> Void) {
    do throws(DatabaseError) {
      try configure(change)
    } catch {
      preconditionFailure("A setting was refused: \(error)")
    }
  }

  private static func difference(_ old: DatabaseSettings, _ new: DatabaseSettings) -> String {
    if old.isPersistenceEnabled != new.isPersistenceEnabled { return "isPersistenceEnabled" }
    if old.persistenceCacheSizeBytes != new.persistenceCacheSizeBytes {
      return "persistenceCacheSizeBytes"
    }
    return old.callbackQueue === new.callbackQueue ? "useEmulator" : "callbackQueue"
  }
}

// MARK: - What references need

extension Database {
  /// A key for a new child: unique, and after those made before it.
  func nextKey() -> TreeKey {
    state.withLock { state in
      state.pushIDs.next(
        milliseconds: ambient.millisecondsSinceEpoch() + state.serverTimeOffset,
        randomBits: ambient.randomBits)
    }
  }

  /// Calls the application back, in order.
  func call(_ block: @escaping @Sendable () -> Void) {
    settings.callbackQueue.async(execute: block)
  }

  func snapshot(of event: TreeEvent, query: TreeQuery) -> DataSnapshot {
    let place = DatabaseReference(database: self, path: event.path)
    guard let key = event.change.key else {
      return DataSnapshot(ref: place, node: event.change.node, query: query)
    }
    return DataSnapshot(
      ref: place.descendant(TreePath.root.appending(key)), node: event.change.node)
  }

  /// Ends registrations in the session.
  func stop(_ observers: [Observers.Observer]) {
    calls.submit { session in
      for observer in observers {
        if let listener = observer.listener { session.unlisten(listener) }
      }
    }
  }

  private func open() {
    let isFirst = state.withLock { state in
      guard !state.isFrozen else { return false }
      state.isFrozen = true
      let (opening, settings) = (opening, state.settings)
      // In the lock: a call of another thread that finds it frozen finds the buffer opened.
      calls.open { [self] in
        let tern = try await opening(settings)
        self.state.withLock { $0.tern = tern }
        return tern.tree.session
      }
      return true
    }
    guard isFirst else { return }
    calls.submit { [weak self] session in
      guard let self else { return }
      _ = session.listen(
        at: TreePath(unchecked: [".info", "serverTimeOffset"].map(TreeKey.init(unchecked:))),
        query: .all, for: .value,
        heard: { [weak self] event in
          let offset = Int64(event.change.node.scalar?.number ?? 0)
          self?.state.withLock { $0.serverTimeOffset = offset }
        }, ended: { _ in })
      if !DebugLog.isEnabled(.tree) { return }
      _ = session.listen(
        at: TreePath(unchecked: [".info", "connected"].map(TreeKey.init(unchecked:))),
        query: .all, for: .value,
        heard: { [address] event in
          let isConnected = event.change.node.scalar == .bool(true)
          DebugLog.note(.tree, "\(isConnected ? "connected to" : "no connection to") \(address)")
        }, ended: { _ in })
    }
  }
}
