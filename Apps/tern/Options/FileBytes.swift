import Foundation

/// Reads a whole file that a command was given.
///
/// - Throws: ``Failure`` that says why it cannot be read.
func fileBytes(at path: String) throws(Failure) -> [UInt8] {
  guard let data = FileManager.default.contents(atPath: path) else { throw unreadable(path) }
  return Array(data)
}

/// Why a file cannot be read.
func unreadable(_ path: String) -> Failure {
  Failure(.failed, "\(path) cannot be read: \(reason(path))")
}

private func reason(_ path: String) -> String {
  let attributes = try? FileManager.default.attributesOfItem(atPath: path)
  switch attributes?[.type] as? FileAttributeType {
  case nil: return "there is no such file"
  case FileAttributeType.typeDirectory?: return "it is a folder"
  default: return "permission denied"
  }
}
