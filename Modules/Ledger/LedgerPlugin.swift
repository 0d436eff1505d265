public import TernStorage

/// A ledger the assembler can open by name.
public protocol LedgerPlugin: SendableMetatype {
  /// This ledger's options in the section `ledger` of a configuration, beside `kind`.
  associatedtype Options: Decodable & Sendable

  /// The `ledger.kind` in the configuration that selects this ledger.
  static var kind: String { get }

  /// The durability of the server's store when the configuration names none. Default: durable.
  static var storeDurability: Durability { get }

  /// Opens the ledger, or begins one.
  ///
  /// - Throws: ``LedgerError``; what the resources have opened until then is closed.
  static func open(
    _ options: Options, with resources: LedgerResources
  ) async throws(LedgerError) -> any Ledger
}

extension LedgerPlugin {
  public static var storeDurability: Durability { .durable }
}

/// The parts of a program that a ledger may use.
public struct LedgerResources: Sendable {
  /// Opens the server's store, as the section `storage` describes it. Called at most once, by
  /// ledgers that keep rows on this machine; the store is closed after the server has stopped.
  public let openStore: @Sendable () async throws(StorageError) -> any OrderedStore
  /// The bytes past which the server's store does not grow; `nil` where only the disk limits it.
  public let storeLimitBytes: Int?
  /// Milliseconds on a clock that does not jump, since any moment.
  public let uptime: @Sendable () -> Int64
  /// The time on this machine's clock, in milliseconds since 1970; `nil` for a ledger that does not
  /// compare it with others.
  public let time: (@Sendable () -> Int64)?
  /// The clock that a ledger's pauses are measured on.
  public let clock: any Clock<Duration>
  /// Draws 64 random bits.
  public let randomBits: @Sendable () -> UInt64
  /// Registers work for the end, such as closing a connection: it runs after the server has
  /// stopped, in the reverse order of the registrations.
  public let whenClosed: @Sendable (_ close: @escaping @Sendable () async -> Void) -> Void

  /// Resources, as an assembler or a test supplies them.
  public init(
    openStore: @escaping @Sendable () async throws(StorageError) -> any OrderedStore,
    storeLimitBytes: Int? = nil,
    uptime: @escaping @Sendable () -> Int64, time: (@Sendable () -> Int64)? = nil,
    clock: any Clock<Duration>, randomBits: @escaping @Sendable () -> UInt64,
    whenClosed: @escaping @Sendable (_ close: @escaping @Sendable () async -> Void) -> Void
  ) {
    self.openStore = openStore
    self.storeLimitBytes = storeLimitBytes
    self.uptime = uptime
    self.time = time
    self.clock = clock
    self.randomBits = randomBits
    self.whenClosed = whenClosed
  }
}
