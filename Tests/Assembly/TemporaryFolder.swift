import Foundation

/// Lends a new empty folder, and removes it.
func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
  let folder = URL.temporaryDirectory.appending(path: "tern-assembly-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder.path)
}
