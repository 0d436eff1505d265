import TernAssembly
import TernStorage

extension Configuration {
  /// Chooses the bytes of the store that are checked when they are read, where the kind of store
  /// leaves a choice.
  mutating func checkStore(_ integrity: StoreIntegrity) throws(ConfigurationError) {
    guard storage.members["kind"]?.stringValue ?? "sqlite" == "sqlite" else { return }
    try set(.text(integrity.rawValue), for: "integrity", in: "storage", origin: "tern")
  }
}
