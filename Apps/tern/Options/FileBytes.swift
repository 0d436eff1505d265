#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads a whole file that a command was given.
///
/// - Throws: ``Failure`` that says why it cannot be read.
func fileBytes(at path: String) throws(Failure) -> [UInt8] {
  guard let data = FileManager.default.contents(atPath: path) else { throw unreadable(path) }
  return Array(data)
}

extension [UInt8] {
  /// The same without the byte order mark with which some editors begin every file.
  var withoutMark: [UInt8] { starts(with: [0xEF, 0xBB, 0xBF]) ? Array(self[3...]) : self }
}

/// Returns the reason a file cannot be read.
func unreadable(_ path: String) -> Failure {
  Failure(.failed, "\(path) cannot be read: \(reason(path))")
}

private func reason(_ path: String) -> String {
  guard let status = FileStatus(of: path) else { return "there is no such file" }
  return status.isFolder ? "it is a folder" : "permission denied"
}
