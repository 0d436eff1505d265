import Foundation

/// A directory that goes when the value does.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    path =
      FileManager.default.temporaryDirectory
      .appending(path: "tern-storage-" + UUID().uuidString).path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Rewrites the file `name`.
  func edit(_ name: String, _ change: (inout Data) throws -> Void) throws {
    let url = URL(fileURLWithPath: path).appending(path: name)
    var data = try Data(contentsOf: url)
    try change(&data)
    try data.write(to: url)
  }
}
