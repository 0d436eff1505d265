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

/// `tern salvage`: gets the store of a server open again that has damaged records.
struct Salvage: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Look into a server's store that does not open, and set damaged records aside.",
    discussion: """
      The server must not be running. Without --set-aside nothing is changed. With it, damaged \
      records are written to a file, one JSON object a line, and then taken out of the store, so \
      that tern serve starts; each line says what it goes on without. Damaged data stay where they \
      are: what meets them is refused. The store is rewritten, so that its pages match their \
      checksums; a log with damaged commits is kept beside it as rows.sqlite-wal.corrupt. Where there is a backup, compare first. The folder of a \
      client has tern pending salvage instead.
      """)

  @OptionGroup
  var store: StoreFlags

  @Option(
    help: ArgumentHelp("Write damaged records to a new file, and take them out.", valueName: "file")
  )
  var setAside: String?

  @OptionGroup var output: JSONFlag

  func run() async throws {
    do {
      let configuration = try Configuration.reading(file: store.config, flags: store.given)
      _ = try configuration.requireServerStore()
      let store = try await open(configuration)
      defer { store.close() }
      // Before anything of it is written anew.
      if setAside != nil { try NodeCopy.refuse(store) }
      let found = try TernServer.damagedRecords(in: store)
      let gone = found.filter { !$0.isLeftAlone }
      if let setAside, !gone.isEmpty {
        try keep(gone, in: setAside)
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
        try TernServer.setAside(gone, in: store, now: now)
      }
      if setAside != nil { try store.compact() }
      for line in lines(found) { printLine(line) }
      if !output.json { printLine(advice(found, gone)) }
    } catch LedgerError.foreignStore {
      throw Failure.nodeCopy(in: nil)
    } catch let error as ConfigurationError {
      throw Failure(about: AssemblyError.configuration(error))
    } catch {
      throw Failure(about: error)
    }
  }

  /// The store, whose corrupt pages are read as they are.
  private func open(_ configuration: Configuration) async throws -> any OrderedStore {
    var configuration = configuration
    let integrity: StoreIntegrity = setAside == nil ? .records : .recovery
    try configuration.checkStore(integrity)
    do throws(ServerAssemblyError) {
      return try await Assembler(catalog: .standard).serverStore(from: configuration)
    } catch {
      let advice = "or go on with what is whole of it: the same command with --set-aside FILE"
      throw Failure(about: error).advising(error.isDamagedLedger ? advice : nil)
    }
  }

  private func lines(_ found: [DamagedServerRecord]) -> [String] {
    found.map { record in
      let state = setAside == nil || record.isLeftAlone ? "damaged" : "set-aside"
      let size = record.value.count
      if output.json {
        return jsonLine([
          "state": .string(state), "kind": .string(record.kind.rawValue),
          "key": .string(hex(record.key)), "bytes": .integer(Int64(size)),
          "consequence": .string(record.consequence),
        ])
      }
      return "\(state) \(record.kind.rawValue) \(hex(record.key)) \(size) bytes: "
        + record.consequence
    }
  }

  private func advice(_ found: [DamagedServerRecord], _ gone: [DamagedServerRecord]) -> String {
    switch (found.isEmpty, gone.isEmpty, setAside) {
    case (true, _, _): "the store is well"
    case (_, true, _): "a server starts with it"
    case (_, _, nil): "to go on without what is damaged: the same command with --set-aside FILE"
    case (_, _, let file?): "a server starts with it; what was taken out is in \(file)"
    }
  }

  /// Writes records to a file, and returns when it is on the disk.
  private func keep(_ records: [DamagedServerRecord], in path: String) throws {
    if FileManager.default.fileExists(atPath: path) {
      throw Failure(.usage, "\(path) is there already; name a new file")
    }
    let file = try ExportFile(path)
    do {
      for record in records {
        let (key, value) = (hex(record.key), hex(record.value))
        try file.write(
          #"{"kind":"\#(record.kind.rawValue)","key":"\#(key)","value":"\#(value)"}"# + "\n")
      }
      try file.finish()
    } catch {
      file.abandon()
      throw error
    }
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
