import ArgumentParser
import TernAssembly
import TernCore
import TernLedger
import TernServer
import TernStandard
import TernStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern verify`: reads a whole store and checks every byte that has a checksum.
struct Verify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check every page, record, key and index of a stopped store, or backups.",
    discussion: """
      Nothing may have the store open. Without --cache, the store of a server; with it, the \
      queues and caches of a client's folder. One line for each finding; the exit code is 1 when \
      there is any. A page with one wrong bit is set right, which is a finding too. Recovery of \
      more: tern salvage, tern pending salvage.

      A server's store is read as data, too: rows of trees, documents against their indexes, and the \
      log against the state. With files, those are backups: every byte of them is checked.
      """)

  @Argument(help: "Backups to check, in the place of a store.") var files: [String] = []

  @OptionGroup
  var store: StoreFlags

  @Option(help: ArgumentHelp("The folder of a client.", valueName: "folder"))
  var cache: String?

  @OptionGroup var output: JSONFlag

  func run() async throws {
    if !files.isEmpty { return try BackupVerification(files: files, output: output).run() }
    do {
      var configuration = try Configuration.reading(file: store.config, flags: store.given)
      if let cache {
        try configuration.set(.text(cache), for: "path", in: "storage", origin: "--cache")
      }
      let folder = configuration.storage.members["path"]?.stringValue ?? "tern-data"
      let names = cache == nil ? ["server"] : Self.clientStores(in: folder)
      let present = names.filter { FileManager.default.fileExists(atPath: folder + "/" + $0) }
      guard !present.isEmpty else {
        if let reason = unreadableFolder(folder) { throw Failure(.failed, reason) }
        let owner = cache == nil ? "server's" : "client's"
        throw Failure(.notFound, "there is no \(owner) store in \(folder)")
      }
      var isWell = true
      for name in present {
        if try await !verify(name, of: configuration) { isWell = false }
      }
      if !isWell { throw ExitCode(Outcome.failed.rawValue) }
    } catch let error as ConfigurationError {
      throw Failure(about: AssemblyError.configuration(error))
    } catch let code as ExitCode {
      throw code
    } catch {
      throw Failure(about: error)
    }
  }

  /// The reason for which a folder that is there cannot be looked into; `nil` when it can.
  private func unreadableFolder(_ folder: String) -> String? {
    let files = FileManager.default
    guard files.fileExists(atPath: folder) else { return nil }
    do { _ = try files.contentsOfDirectory(atPath: folder) } catch {
      return "\(folder) cannot be read; check its permissions"
    }
    return nil
  }

  /// The stores of a client's folder: those of the default tree database, of others, of documents.
  private static func clientStores(in folder: String) -> [String] {
    let trees = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/trees")) ?? []
    let folders = [""] + trees.sorted().map { "trees/\($0)/" } + ["documents/"]
    return folders.flatMap { [$0 + "queue", $0 + "cache"] }
  }

  /// Prints the findings in one store; `true` when there are none.
  private func verify(_ name: String, of configuration: Configuration) async throws -> Bool {
    let found: StoreInspection
    do {
      let store = try await Assembler(catalog: .standard).store(
        in: name, durability: name.hasSuffix("cache") ? .relaxed : nil, from: configuration)
      defer { store.close() }
      if store.isOldFormat, name == "server" { printError("tern: \(ServerNews.oldFormat)") }
      var progress = ProgressLine()
      found = try store.verify { inspection in
        progress.show("checked", inspection.bytes >> 20, of: nil, unit: "MiB")
      }
      progress.end()
      if name == "server", found.isWell, try !inspect(store, name) { return false }
    } catch AssemblyError.storage(let error, _, _) where error.isCorruption {
      tell(name, "\(error)")
      return false
    }
    for corruption in found.found { tell(name, "\(corruption)") }
    let more = found.foundCount - found.found.count
    if more > 0 { tell(name, "and \(more) more") }
    if found.isWell {
      output.print(
        "\(name): \(found.rows) rows, \(found.bytes) bytes, all well",
        [
          "store": .string(name), "rows": .integer(Int64(found.rows)),
          "bytes": .integer(Int64(found.bytes)),
        ])
    }
    return found.isWell
  }

  /// Reads a server's store as data; `true` when there are no findings.
  private func inspect(_ store: any OrderedStore, _ name: String) throws -> Bool {
    let inspection: ServerInspection
    do throws(LedgerError) { inspection = try ServerInspection(of: store) } catch {
      tell(name, "\(error)")
      return false
    }
    for finding in inspection.findings { tell(name, finding) }
    let more = inspection.findingCount - inspection.findings.count
    if more > 0 { tell(name, "and \(more) more") }
    guard inspection.isWell else { return false }
    output.print(
      "\(name): \(inspection.databases) databases, \(inspection.documents) documents with their "
        + "indexes, \(inspection.commits) commits of the log",
      [
        "store": .string(name), "databases": .integer(Int64(inspection.databases)),
        "documents": .integer(Int64(inspection.documents)),
        "commits": .integer(Int64(inspection.commits)),
      ])
    return true
  }

  private func tell(_ name: String, _ finding: String) {
    output.print("\(name): \(finding)", ["store": .string(name), "finding": .string(finding)])
  }
}
