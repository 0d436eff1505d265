import TernCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The folder of an export of the Firestore emulator, or of a managed export that was copied here,
/// read as the lines that `tern doc import` takes.
final class EmulatorExportFolder {
  private let database: DocumentDatabase
  /// The files with entities that were not read yet, last first.
  private var files: [String]
  private var log: RecordLog?

  /// Returns true for a folder.
  static func isOne(_ path: String) -> Bool {
    FileStatus(of: path)?.isFolder == true
  }

  /// - Parameter database: The database that references are to name.
  /// - Throws: ``Failure`` for a folder without files of entities.
  init(_ path: String, for database: DocumentDatabase) throws(Failure) {
    self.database = database
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
    files = names.filter { Self.holdsEntities($0) }.sorted().reversed().map { path + "/" + $0 }
    if files.isEmpty {
      throw Failure(.usage, "\(path) holds no export: there is no file named output-0 in it")
    }
  }

  /// Returns true for `output-0`, `output-1` and so on.
  private static func holdsEntities(_ path: String) -> Bool {
    let name = path.split(separator: "/").last ?? ""
    return name.hasPrefix("output-") && Int(name.dropFirst("output-".count)) != nil
  }

  /// The next lines, empty at the end.
  func read() throws -> [UInt8] {
    while true {
      if var log {
        let record = try log.next()
        self.log = log
        if let record {
          return try ExportedDocument(record, for: database).line + [UInt8(ascii: "\n")]
        }
        self.log = nil
      }
      guard let path = files.popLast() else { return [] }
      let file = try ImportFile(path)
      log = RecordLog { try file.read() }
    }
  }
}
