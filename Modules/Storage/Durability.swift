/// When a write of a store returns.
public enum Durability: String, Decodable, Sendable {
  /// When it survives a crash of the program and a loss of power.
  case durable
  /// As soon as it is visible. A loss of power may take the last writes, never part of one.
  case relaxed
}
