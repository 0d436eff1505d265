import Foundation

/// A page of the documentation, by its path below `Modules`, its lines joined.
func documentation(_ path: String) throws -> String {
  let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  let page = root.appendingPathComponent("Modules").appendingPathComponent(path)
  return try String(contentsOf: page, encoding: .utf8)
    .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
}
