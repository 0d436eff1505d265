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

/// The folders of a restore, and its steps.
///
/// Stores are made aside, in folders that the next restore removes, and the last step gives one of
/// them its name.
struct RestoreWork {
  private let place: StoreFolder
  private let configuration: Configuration
  private let output: JSONFlag

  private static let staging = "server.restoring"
  private static let later = "server.later"

  init(_ configuration: Configuration, _ output: JSONFlag) throws {
    guard configuration.storage.members["kind"]?.stringValue != "memory" else {
      throw Failure(.usage, "a store in memory cannot be restored; name --storage sqlite or lmdb")
    }
    place = StoreFolder(
      path: configuration.storage.members["path"]?.stringValue ?? "tern-data")
    self.configuration = configuration
    self.output = output
  }

  /// The folder of the server's store.
  var folder: String { place.server }

  /// The versions of a restore.
  struct Versions {
    /// The last commit that was restored.
    var restored: Version
    /// The version at which the store goes on.
    var next: Version
    /// The wall time of the last commit, in milliseconds since 1970; `nil` unless a time was asked
    /// for.
    var time: Int64?
  }

  /// Restores.
  func restore(
    _ plan: RestorePlan, as renamings: [DatabaseRenaming], keepsEpoch: Bool
  ) async throws -> Versions {
    let isThere = place.isOccupied
    if renamings.isEmpty, isThere {
      throw Failure(
        .usage,
        "there is a server's store in \(folder) already; name another --path, or databases with --as"
      )
    }
    if !renamings.isEmpty, !isThere {
      throw Failure(.notFound, "--as adds to a server's store, and there is none in \(folder)")
    }
    for name in [Self.staging, Self.later] { place.discard(name) }
    defer { for name in [Self.staging, Self.later] { place.discard(name) } }
    let versions = try await make(plan, keepsEpoch: keepsEpoch || !renamings.isEmpty)
    if renamings.isEmpty {
      try place.publish(Self.staging)
    } else {
      try await add(renamings, keepsEpoch: keepsEpoch)
    }
    return versions
  }

  /// Makes the store aside.
  private func make(_ plan: RestorePlan, keepsEpoch: Bool) async throws -> Versions {
    let store = try await open(Self.staging)
    defer { store.close() }
    try write(plan.chain, into: store)
    let restored = plan.chain.last?.header.version ?? 0
    var versions = Versions(restored: restored, next: restored)
    if !plan.later.isEmpty { versions = try await goOn(plan, from: versions, in: store) }
    if keepsEpoch { return versions }
    let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
    versions.next = try told { () throws(BackupError) in
      try RestoredStore(store).beginEpoch(now: now)
    }
    return versions
  }

  private func write(_ chain: [RestorePlan.Source], into store: any OrderedStore) throws {
    var progress = ProgressLine()
    defer { progress.end() }
    var restorer = try told { () throws(BackupError) in try BackupRestorer(into: store) }
    for source in chain {
      try BackupFile(source.path).withBytes { read in
        try restorer.write(read) { bytes in
          progress.show("restored", Int(bytes >> 20), of: nil, unit: "MiB")
        }
      }
    }
    try told { () throws(BackupError) in try restorer.finish() }
  }

  /// Makes the commits of a later backup's log again, up to the point that was asked for.
  ///
  /// - Returns: The last commit that is in the store then.
  private func goOn(
    _ plan: RestorePlan, from versions: Versions, in store: any OrderedStore
  ) async throws -> Versions {
    let source = try await open(Self.later)
    defer { source.close() }
    try write(plan.later, into: source)
    return try told { () throws(BackupError) in
      var versions = versions
      let end: Version
      switch plan.point {
      case .version(let version)?: end = version
      case .time(let time)?:
        do throws(LedgerError) {
          guard let commit = try commit(at: time, plan, in: source) else { return versions }
          versions.time = commit.time
          end = commit.version
        } catch {
          throw .ledger(error)
        }
      case nil: return versions
      }
      guard end > versions.restored else { return versions }
      try RestoredStore(store).replay(from: source, through: end)
      (versions.restored, versions.next) = (end, end)
      return versions
    }
  }

  /// Returns the last commit of a moment and its wall time, and warns when the times of the backups
  /// leave open which one it is.
  private func commit(
    at time: Int64, _ plan: RestorePlan, in source: any OrderedStore
  ) throws(LedgerError) -> (version: Version, time: Int64)? {
    guard let earlier = plan.chain.last?.header, let later = plan.later.last?.header else {
      return nil
    }
    let moment = RestoreMoment(time, between: earlier, and: later)
    let commit = try EmbeddedLedger.lastCommit(in: source, atLived: moment.earliest)
    let latest = try EmbeddedLedger.lastCommit(in: source, atLived: moment.latest)
    if latest.version > commit.version {
      printError(
        "tern: the server stood still between the backups; the last commit of that time is any of "
          + "versions \(commit.version) to \(latest.version). Version \(commit.version) is "
          + "restored; --at takes another one")
    }
    return (commit.version, moment.time(ofLived: commit.lived))
  }

  /// Adds databases of the store aside to the one that is there.
  private func add(_ renamings: [DatabaseRenaming], keepsEpoch: Bool) async throws {
    let source = try await open(Self.staging)
    defer { source.close() }
    let target = try await open(StoreFolder.name)
    defer { target.close() }
    do throws(LedgerError) { try NodeCopy.refuse(target) } catch {
      throw error == .foreignStore ? Failure.nodeCopy(in: folder) : Failure(about: error)
    }
    let now = keepsEpoch ? nil : Int64(Date.now.timeIntervalSince1970 * 1_000)
    for renaming in renamings {
      try told { () throws(BackupError) in
        try RestoredStore(source).copyDatabase(
          renaming.old, as: renaming.new, into: target, now: now)
      }
    }
  }

  private func open(_ name: String) async throws -> any OrderedStore {
    do throws(AssemblyError) {
      return try await Assembler(catalog: .standard).store(in: name, from: configuration)
    } catch {
      throw Failure(about: error)
    }
  }

  private func told<R>(_ body: () throws(BackupError) -> R) throws(Failure) -> R {
    do throws(BackupError) { return try body() } catch {
      throw Failure(about: error, at: folder)
    }
  }
}
