import Foundation
import TernTestKit
import Testing

@testable import TernLedger
@testable import tern

@Suite("backups that lead to a state") struct RestorePlanTests {
  private typealias Source = RestorePlan.Source

  /// A backup of a version, perhaps on another one; its digest is its version.
  private func source(_ version: UInt64, on base: UInt64? = nil, time: Int64? = nil) -> Source {
    let moment = time ?? Int64(version) * 10
    var header = BackupHeader(version: version, time: moment, lived: moment)
    header.base = base.map { BackupHeader.Base(digest: $0, version: $0) }
    return Source(
      path: "b\(version)", header: header,
      summary: BackupSummary(rows: 0, bytes: 0, contents: 0, digest: version))
  }

  private func plan(_ sources: [Source], at point: RestorePoint? = nil) throws -> [[String]] {
    let plan = try RestorePlan(sources, at: point)
    return [plan.chain.map(\.path), plan.later.map(\.path)]
  }

  @Test("increments come behind what they build on, in whatever order they are given")
  func chains() throws {
    let sources = [source(1), source(2, on: 1), source(3, on: 2), source(4, on: 3)]
    var random = SeededGenerator(seed: 5)
    for _ in 0..<20 {
      let shuffled = sources.shuffled(using: &random)
      #expect(try plan(shuffled) == [["b1", "b2", "b3", "b4"], []])
      #expect(try plan(shuffled, at: .version(3)) == [["b1", "b2", "b3"], []])
      #expect(try plan(shuffled, at: .version(1)) == [["b1"], []])
    }
    #expect(try plan([source(7)]) == [["b7"], []])
  }

  @Test("a point between backups needs the next one, whose log leads there")
  func between() throws {
    let sources = [source(10), source(20, on: 10), source(30)]
    #expect(try plan(sources, at: .version(15)) == [["b10"], ["b10", "b20"]])
    #expect(try plan(sources, at: .version(25)) == [["b10", "b20"], ["b30"]])
    #expect(try plan(sources, at: .time(100)) == [["b10"], ["b10", "b20"]])
    #expect(try plan(sources, at: .time(299)) == [["b10", "b20"], ["b30"]])
  }

  @Test("what does not lead there is told")
  func mistakes() {
    let cases: [([Source], RestorePoint?, String)] = [
      ([], nil, "before every backup"), ([source(5)], .version(4), "--at is before every backup"),
      ([source(5)], .time(49), "--at is before every backup"),
      ([source(5)], .version(6), "--at is behind every backup"),
      ([source(5)], .time(51), "--at is behind every backup"),
      ([source(2, on: 1)], nil, "b2 is an increment; the backup of version 1"),
      ([source(1), source(3, on: 2)], nil, "b3 is an increment; the backup of version 2"),
      ([source(1), source(2)], nil, "b1 does not lead to the latest of the backups"),
      ([source(1), source(2, on: 1), source(3, on: 1)], nil, "b2 does not lead to the latest"),
      ([source(5, on: 5)], nil, "is missing"),
    ]
    for (sources, point, message) in cases {
      let failure = failure { try RestorePlan(sources, at: point) }
      #expect(failure?.code == .usage)
      #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
    }
  }

  @Test(
    "a point is a version or a time",
    arguments: [
      ("0", .version(0)), ("7", .version(7)), ("18446744073709551615", .version(.max)),
      ("1970-01-01T00:00:01Z", .time(1_000)), ("2026-11-25T12:00:00Z", .time(1_795_608_000_000)),
      ("", nil), ("-1", nil), ("x", nil),
      ("2026-11-25", nil), ("18446744073709551616", nil), ("1970-01-01T00:00:01", nil),
    ] as [(String, RestorePoint?)])
  func points(text: String, point: RestorePoint?) {
    guard let point else {
      #expect(failure { try RestorePoint(text) }?.code == .usage)
      return
    }
    #expect((try? RestorePoint(text)) == point)
  }

  @Test(
    "a new name is one of the same model",
    arguments: [
      ("a=b", true), ("projects/p/databases/d=projects/p/databases/e", true), ("a=a", true),
      ("a", false), ("=b", false), ("a=", false), ("a=b=c", false), ("", false), ("=", false),
      ("a=projects/p/databases/d", false), ("projects/p/databases/d=a", false),
    ])
  func renamings(text: String, isFine: Bool) {
    let failure = failure {
      let renaming = try DatabaseRenaming(text)
      #expect("\(renaming.old)=\(renaming.new)" == text)
    }
    #expect((failure == nil) == isFine)
    #expect(isFine || failure?.code == .usage)
  }

  @Test("a backup in a folder is named after its moment")
  func names() throws {
    let folder = NSTemporaryDirectory() + "tern-names-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let name = "tern-20261125T120000Z.ternbackup"
    let time: Int64 = 1_795_608_000_000
    #expect(BackupTarget.name(for: folder, at: time) == "\(folder)/\(name)")
    #expect(BackupTarget.name(for: folder + "/", at: time) == "\(folder)/\(name)")
    #expect(BackupTarget.name(for: "new/", at: time) == "new/\(name)")
    #expect(BackupTarget.name(for: folder + "/x", at: time) == folder + "/x")
    #expect(BackupTarget.name(for: "-", at: time) == "-")
  }

  @Test("a backup is never written over a file, and one that is not whole leaves nothing")
  func targets() throws {
    let folder = NSTemporaryDirectory() + "tern-targets-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/b"
    let target = try BackupTarget(path)
    try target.write(Array("no backup".utf8))
    #expect(target.bytes == 9)
    #expect(failure { _ = try target.finish() }?.message.contains("is no backup") == true)
    target.abandon()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    try Data().write(to: URL(filePath: path))
    #expect(failure { try BackupTarget(path) }?.code == .usage)
    #expect(failure { try BackupTarget(folder + "/no/b") }?.code == .failed)
  }

  @Test("a folder is a server's when there is something in it")
  func storeFolders() throws {
    let folder = StoreFolder(path: NSTemporaryDirectory() + "tern-store-\(UUID().uuidString)")
    let files = FileManager.default
    defer { try? files.removeItem(atPath: folder.path) }
    #expect(!folder.isOccupied)
    try files.createDirectory(atPath: folder.server, withIntermediateDirectories: true)
    #expect(!folder.isOccupied)
    try files.createDirectory(atPath: folder.path + "/aside", withIntermediateDirectories: true)
    try Data("x".utf8).write(to: URL(filePath: folder.path + "/aside/rows"))
    try folder.publish("aside")
    #expect(folder.isOccupied)
    #expect(try files.contentsOfDirectory(atPath: folder.path) == ["server"])
    #expect(failure { try folder.publish("aside") }?.code == .failed)
    #expect(folder.isOccupied)
    folder.discard("server")
    #expect(!folder.isOccupied)
  }

  @Test("a time is exact where the server ran, and a range where it stood still")
  func moments() {
    func header(_ time: Int64, lived: Int64) -> BackupHeader {
      BackupHeader(version: 1, time: time, lived: lived)
    }
    let running = RestoreMoment(
      50_000, between: header(10_000, lived: 1_000), and: header(90_000, lived: 81_000))
    #expect(running.earliest == 41_000 && running.latest == 41_000)
    #expect(running.time(ofLived: 40_500) == 49_500)
    // It stood still for half a minute, before the moment or after it.
    let standing = RestoreMoment(
      50_000, between: header(10_000, lived: 1_000), and: header(90_000, lived: 51_000))
    #expect(standing.earliest == 11_000 && standing.latest == 41_000)
    let long = RestoreMoment(
      50_000, between: header(10_000, lived: 1_000), and: header(90_000, lived: 2_000))
    #expect(long.earliest == 0 && long.latest == 2_000)
    // It was stopped behind the earlier backup, and went on from what it had stored before.
    let stopped = RestoreMoment(
      90_000, between: header(0, lived: 600_000), and: header(1_000_000, lived: 1_290_000))
    #expect(stopped.earliest == 380_000)
  }
}
