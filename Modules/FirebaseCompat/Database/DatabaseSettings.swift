public import Dispatch

/// The settings that can be changed before the first use of a database.
public struct DatabaseSettings: Sendable {
  /// True when data and queued writes outlive the program; off unless set.
  public var isPersistenceEnabled = false
  /// The limit on cached server data, in bytes: 1 MiB or more, or ``Database/cacheSizeUnlimited``.
  public var persistenceCacheSizeBytes: UInt = 10 * 1024 * 1024
  /// The queue on which observers and completions are called.
  public var callbackQueue: DispatchQueue = .main
  /// The server, when it is not the one of the configuration.
  var emulator: Emulator?

  struct Emulator: Sendable {
    let host: String
    let port: Int
  }

  init() {}
}
