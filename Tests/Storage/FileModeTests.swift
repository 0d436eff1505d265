import Foundation
import TernStorage
import Testing

/// The files of a store belong to its user alone: queues hold the tokens of signed-in users.
@Suite("permissions of a store's files") struct FileModeTests {
  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
  }

  @Test(
    "R09 folders are for their owner alone, and so is every file in them", arguments: Disk.allCases)
  func modes(disk: Disk) throws {
    let directory = TemporaryDirectory()
    let path = directory.path + "/of/ann"
    for round in 1...2 {
      let store = try disk.open(path, limitBytes: 1 << 24)
      try store.put([UInt8(round)], for: [1])
      #expect(try mode(path) == 0o700)
      #expect(try mode(directory.path) == 0o700)
      let files = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(files.contains(disk.file))
      for file in files { #expect(try mode(path + "/" + file) == 0o600, "\(file), round \(round)") }
    }
  }

  @Test("files are for their owner alone also where others may look", arguments: Disk.allCases)
  func openFolder(disk: Disk) throws {
    let directory = TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    let store = try disk.open(directory.path)
    try store.put([7], for: [1])
    #expect(try mode(directory.path) == 0o755, "it is somebody else's to decide")
    for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      #expect(try mode(directory.path + "/" + file) == 0o600, "\(file)")
    }
  }
}
