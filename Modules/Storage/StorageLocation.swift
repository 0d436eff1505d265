/// The identity of one store of a program: its name, its folder and its durability.
///
/// The parts of a program keep their rows in stores of different names: a server in `server`, a
/// client in `queue` and `cache`. A plugin must open a different store for each name, or one part
/// reads the rows of another.
public struct StorageLocation: Hashable, Sendable {
  /// The store's name, such as `server` or `documents/cache`: parts of at least one byte,
  /// separated by slashes. Empty for the only store of a program.
  public let name: String
  /// The folder for the files of this store alone: the configured folder, then the name. It need
  /// not exist; folders of other stores may lie in it.
  public let folder: String
  /// The moment at which a write of the store must return.
  public let durability: Durability

  /// The store `name` of a program that keeps its files in `path`.
  public init(name: String = "", in path: String, durability: Durability = .durable) {
    self.name = name
    folder = name.isEmpty ? path : path + "/" + name
    self.durability = durability
  }
}
