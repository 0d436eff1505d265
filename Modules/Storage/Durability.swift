/// The moment at which a write of a store returns.
public enum Durability: String, Decodable, Sendable {
  /// After the write is safe from a crash of the program and a loss of power.
  case durable
  /// As soon as it is visible. A loss of power may take the last writes, never part of one.
  case relaxed
}
