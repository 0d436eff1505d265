import Foundation
import Testing

@testable import tern

@Suite("unfinished files, and keys in files") struct PartFilesTests {
  /// Lends a new empty folder, and removes it.
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = URL.temporaryDirectory.appending(path: "tern-part-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  private func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  @Test("parts of processes that are gone are removed by the next file of that name")
  func abandoned() async throws {
    try await withFolder { folder in
      let kept = [
        // Of a process that runs, of another file, and of no process at all.
        "x.1.part", "y.999999999.part", "x.part", "x.copy.part", "tern-1.ternbackup.1.part",
      ]
      let gone = ["x.999999999.part", "x.\(getpid()).part"]
      for name in kept + gone + ["tern-1.ternbackup.999999999.part"] {
        #expect(FileManager.default.createFile(atPath: folder + "/" + name, contents: nil))
      }
      let file = try ExportFile(folder + "/x")
      try file.write("new")
      try file.finish()
      let left = kept + ["tern-1.ternbackup.999999999.part", "x"]
      #expect(try names(in: folder) == left.sorted())
      // Backups in a folder have other names each time.
      let backup = try BackupTarget(folder + "/tern-2.ternbackup")
      #expect(
        try names(in: folder) == (kept + ["x", "tern-2.ternbackup.\(getpid()).part"]).sorted())
      backup.abandon()
      #expect(try names(in: folder) == (kept + ["x"]).sorted())
    }
  }

  @Test("a part that a process in another container writes is not taken for abandoned")
  func held() async throws {
    try await withFolder { folder in
      let part = folder + "/x.999999999.part"
      let descriptor = open(part, O_WRONLY | O_CREAT, 0o600)
      try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      let file = try ExportFile(folder + "/x")
      file.abandon()
      #expect(try names(in: folder) == ["x.999999999.part"])
      close(descriptor)
    }
  }

  @Test("a key that makes tokens in a file that all users can read is reported, and works")
  func openKeys() async throws {
    try await withFolder { folder in
      let path = folder + "/secret.key"
      let secret = Data(String(repeating: "k", count: 40).utf8)
      for (mode, count) in [(0o644, 1), (0o640, 0), (0o600, 0)] {
        try? FileManager.default.removeItem(atPath: path)
        _ = FileManager.default.createFile(
          atPath: path, contents: secret, attributes: [.posixPermissions: mode])
        var warnings: [String] = []
        _ = try await KeyFiles.keys(at: path) { warnings.append($0) }
        #expect(warnings.count == count, "\(mode)")
        #expect(warnings.allSatisfy { $0.contains("chmod 600 \(path)") })
      }
    }
  }
}
