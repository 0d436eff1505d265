import TernTransport

/// Constants of a machine that its parts share.
struct ServerContext {
  let options: ServerOptions
  /// Bounds the memory that clients hold: what they listen to is charged here.
  let budget: MemoryBudget
  /// Draws 64 random bits.
  let randomBits: @Sendable () -> UInt64
  /// Counts what is decided.
  let metrics: ServerMetrics
  /// True at a node that follows: nothing is committed here.
  let follows: Bool
  /// The databases that belong here.
  let places: DatabasePlaces

  /// Returns true when the server serves the database of that name.
  func serves(database name: String) -> Bool {
    options.limits.allows(database: name) && places.holds(name)
  }

  /// Draws an id that is unique for all practical purposes.
  func nextID() -> UInt128 { UInt128(randomBits()) << 64 | UInt128(randomBits()) }
}
