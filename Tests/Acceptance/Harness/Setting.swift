import Testing

/// One combination of the parts a row can depend on.
struct Setting: Sendable, CustomTestStringConvertible {
  var storage: String
  var transport: String

  var testDescription: String { "\(storage) over \(transport)" }

  static let all = ["memory", "sqlite", "lmdb"].flatMap { storage in
    transportKinds.map { Setting(storage: storage, transport: $0) }
  }

  /// Every storage, over the transport without a network.
  static let storages = all.filter { $0.transport == "loopback" }

  /// Every transport, without a disk.
  static let transports = all.filter { $0.storage == "memory" }

  #if TCP
    private static let transportKinds = ["loopback", "tcp"]
  #else
    private static let transportKinds = ["loopback"]
  #endif
}
