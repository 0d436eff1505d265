#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of a server's store, and the stores that are made aside before one of them takes its
/// name.
struct StoreFolder {
  /// The folder that the configuration names for data.
  let path: String
  /// The name of the server's store in it.
  static let name = "server"

  /// The folder of the server's store.
  var server: String { path + "/" + Self.name }

  /// True when there is a server's store.
  var isOccupied: Bool {
    let contents = try? FileManager.default.contentsOfDirectory(atPath: server)
    return contents?.isEmpty == false
  }

  /// Removes a store that was made aside.
  func discard(_ name: String) {
    try? FileManager.default.removeItem(atPath: path + "/" + name)
  }

  /// Gives the store that was made aside under `name` the name of the server's.
  func publish(_ name: String) throws {
    // An empty folder is in the way; one with files was refused.
    _ = unsafe rmdir(server)
    guard unsafe rename(path + "/" + name, server) == 0 else {
      throw Failure(.failed, "cannot rename to \(server): \(systemText(errno))")
    }
    BackupTarget.synchronize(folderOf: server)
  }
}
