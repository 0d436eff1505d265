import ArgumentParser
import TernAssembly
import TernCore
import TernLedger
import TernServer
import TernServerAssembly
import TernStandard
import TernStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern restore`: a server's store from backups.
struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a server's store of a backup and its increments.",
    discussion: """
      Every file is read to its end before anything is written, and the store appears when it is \
      whole: an end in the middle leaves nothing. There must be no store yet, unless --as names \
      databases that are added to the store of a stopped server.

      Clients that saw later commits notice it and take the restored state; writes that they still \
      hold are sent and made once. With --same-epoch they do not: only for a copy that none of them \
      will meet.

      --at takes a version or a time (2026-11-25T12:00:00Z). It needs a backup of before, and one of \
      after whose log reaches back to it. Times are exact where the server ran between the two.
      """)

  @Argument(help: "A backup, its increments, and with --at a later backup, in any order.")
  var files: [String]

  @Option(help: ArgumentHelp("The last commit to restore, or a time.", valueName: "version|time"))
  var at: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "Add one database under a new name to the store that is there; may be repeated.",
      valueName: "name=new"))
  var names: [String] = []

  @Flag(help: "Keep versions and times of the backup, for a copy that no client will meet.")
  var sameEpoch = false

  @OptionGroup var store: StoreFlags
  @OptionGroup var output: JSONFlag

  func run() async throws {
    let plan = try RestorePlan(files, at: at.map { try RestorePoint($0) })
    let renamings = try names.map { try DatabaseRenaming($0) }
    do {
      let configuration = try Configuration.reading(file: store.config, flags: store.given)
      let work = try RestoreWork(configuration, output)
      let versions = try await work.restore(plan, as: renamings, keepsEpoch: sameEpoch)
      output.print(
        "restored version \(versions.restored)\(Self.text(of: versions.time)) to \(work.folder)"
          + (renamings.isEmpty ? "" : " as \(renamings.map(\.new).joined(separator: ", "))")
          + (versions.next == versions.restored
            ? "" : "; it goes on at version \(versions.next)"),
        [
          "folder": .string(work.folder), "restored": .integer(Int64(clamping: versions.restored)),
          "version": .integer(Int64(clamping: versions.next)),
          "milliseconds": versions.time.map { .integer($0) } ?? .null,
        ])
    } catch let error as ConfigurationError {
      throw Failure(about: AssemblyError.configuration(error))
    } catch {
      throw Failure(about: error)
    }
  }

  /// The time of the last commit, for the message.
  private static func text(of time: Int64?) -> String {
    guard let time else { return "" }
    return " of \(Date(timeIntervalSince1970: TimeInterval(time) / 1_000).ISO8601Format())"
  }
}

/// A point in time to go back to.
enum RestorePoint: Equatable {
  case version(Version)
  /// In milliseconds since 1970.
  case time(Int64)

  init(_ text: String) throws(Failure) {
    if let version = Version(text) {
      self = .version(version)
    } else if let date = try? Date(text, strategy: .iso8601) {
      self = .time(Int64(date.timeIntervalSince1970 * 1_000))
    } else {
      throw Failure(
        .usage, "--at: \"\(text)\" is no version and no time; a time is: 2026-11-25T12:00:00Z")
    }
  }
}

/// A database that gets a new name.
struct DatabaseRenaming: Equatable {
  let old: String
  let new: String

  init(_ text: String) throws(Failure) {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
      parts[0].hasPrefix("projects/") == parts[1].hasPrefix("projects/")
    else {
      throw Failure(
        .usage, "--as: \"\(text)\" is not name=new, both of a tree or both projects/P/databases/D")
    }
    (old, new) = (String(parts[0]), String(parts[1]))
  }
}

/// The backups that lead to a state, in the order in which they are written.
struct RestorePlan {
  /// One file that was read to its end.
  struct Source {
    let path: String
    let header: BackupHeader
    let summary: BackupSummary
  }

  /// A whole backup and increments.
  let chain: [Source]
  /// The same for the backup whose log leads on from there; empty when it is not needed.
  let later: [Source]
  let point: RestorePoint?

  /// Reads every file, and orders them.
  init(_ files: [String], at point: RestorePoint?) throws {
    var sources: [Source] = []
    var progress = ProgressLine()
    for path in files {
      let found = try BackupFile(path).verify { bytes in
        progress.show("checked", bytes >> 20, of: nil, unit: "MiB")
      }
      sources.append(Source(path: path, header: found.header, summary: found.summary))
    }
    progress.end()
    try self.init(sources, at: point)
  }

  init(_ sources: [Source], at point: RestorePoint?) throws {
    self.point = point
    let isBefore: (Source) -> Bool = { source in
      switch point {
      case nil: true
      case .version(let version): source.header.version <= version
      case .time(let time): source.header.time <= time
      }
    }
    let order: (Source, Source) -> Bool = {
      ($0.header.version, $0.header.time) < ($1.header.version, $1.header.time)
    }
    guard let last = sources.filter(isBefore).max(by: order) else {
      throw Failure(.usage, "--at is before every backup that was given")
    }
    chain = try Self.chain(to: last, among: sources)
    if let point, point != .version(last.header.version) {
      guard let next = sources.filter({ !isBefore($0) }).min(by: order) else {
        throw Failure(.usage, "--at is behind every backup that was given; a later one is needed")
      }
      later = try Self.chain(to: next, among: sources)
    } else {
      later = []
      let unused = sources.filter { source in !chain.contains { $0.path == source.path } }
      if point == nil, let unused = unused.first {
        throw Failure(.usage, "\(unused.path) does not lead to the latest of the backups")
      }
    }
  }

  /// The increments up to a backup, behind the whole one.
  private static func chain(to last: Source, among sources: [Source]) throws -> [Source] {
    var chain = [last]
    while let base = chain.first?.header.base {
      guard let before = sources.first(where: { $0.summary.digest == base.digest }),
        chain.count <= sources.count
      else {
        throw Failure(
          .usage,
          "\(chain[0].path) is an increment; the backup of version \(base.version) that it builds "
            + "on is missing")
      }
      chain.insert(before, at: 0)
    }
    return chain
  }
}
