import ArgumentParser
import Dispatch
import NIOCore
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

/// `tern backup`: everything that a server stores, as of one moment.
struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write everything a server stores to a file, as it is at one moment.",
    discussion: """
      All databases of both models, rules, settings, revocations, onDisconnect operations and the \
      outcomes of writes. A running server goes on meanwhile; it is asked with the token of an \
      administrator. With --path, --storage or --config the store of a stopped server is read.

      DEST is a file, a folder, in which the file is named after the moment, or - for standard \
      output. The file appears when it is whole and was read again. --since writes only what differs \
      from an earlier backup; restore needs that one, too. See: tern restore, tern verify.
      """)

  @Argument(help: "A new file, a folder, or - for standard output.") var destination: String

  @Option(
    help: ArgumentHelp("Write only what differs from this backup.", valueName: "file"))
  var since: String?

  @Option(help: ArgumentHelp("The most bytes a second: 30MB.", valueName: "size"))
  var rate: SizeArgument?

  @OptionGroup(title: "A running server") var admin: AdminFlags
  @OptionGroup(title: "A stopped server") var store: StoreFlags
  @OptionGroup var output: JSONFlag

  /// The slowest rate: what is sent slower than that looks like a dead connection.
  private static let leastRate = 64 << 10

  func validate() throws {
    if let rate, rate.bytes < Self.leastRate {
      throw ValidationError("--rate must be at least \(Self.leastRate) bytes a second")
    }
    if isOffline, admin.server != nil || admin.context != nil {
      throw ValidationError("--server is a running server's; --path a stopped one's: give one")
    }
  }

  private var isOffline: Bool {
    store.path != nil || store.storage != nil || store.config != nil
  }

  func run() async throws {
    let base = try since.map { try BackupFile($0).verify().index }
    let time = Int64(Date.now.timeIntervalSince1970 * 1_000)
    let target = try BackupTarget(BackupTarget.name(for: destination, at: time))
    do {
      if isOffline {
        try await copyStore(on: base, at: time, to: target)
      } else {
        try await copyServer(on: base, to: target)
      }
      if let (header, summary) = try target.finish() { tell(header, summary, target) }
    } catch {
      target.abandon()
      throw error
    }
  }

  private func copyServer(on base: BackupIndex?, to target: BackupTarget) async throws {
    var client = try admin.client()
    client.timeout = max(client.timeout, .seconds(120))
    var (pacer, progress) = (Pacer(rate?.bytes), ProgressLine())
    defer { progress.end() }
    do {
      try await client.stream(base == nil ? .get : .post, "/-/backup", body: base?.encode() ?? []) {
        piece in
        try target.write(Array(piece.readableBytesView))
        progress.show("backed up", Int(target.bytes >> 20), of: nil, unit: "MiB")
        let pause = pacer.pause(after: piece.readableBytes)
        if pause > .zero { try await ContinuousClock().sleep(for: pause) }
      }
    } catch let failure as Failure {
      guard target.bytes > 0, let reason = await Self.endingReason(of: client) else {
        throw failure
      }
      throw Failure(.failed, "\(client.address) ended the backup: \(reason)")
    }
  }

  /// An ending that the server tells of counts for this backup within so much time.
  private static let endingMilliseconds: Int64 = 60_000

  /// The reason for which a server has just ended a backup; `nil` when it knows of none.
  private static func endingReason(of client: AdminClient) async -> String? {
    guard let answer = try? await client.ask(.get, "/-/status?connections=0"),
      let status = try? JSONValue(parsing: answer.body), let ended = status["endedBackup"],
      status.count("time") - ended.count("time") < endingMilliseconds
    else { return nil }
    return ended["reason"]?.text
  }

  private func copyStore(
    on base: BackupIndex?, at time: Int64, to target: BackupTarget
  ) async throws {
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try Configuration.reading(file: store.config, flags: store.given)
    } catch {
      throw Failure(about: AssemblyError.configuration(error))
    }
    _ = try configuration.requireServerStore()
    let source: any OrderedStore
    do { source = try await Assembler(catalog: .standard).serverStore(from: configuration) } catch {
      throw Failure(about: error)
    }
    defer { source.close() }
    var (pacer, progress) = (Pacer(rate?.bytes), ProgressLine())
    defer { progress.end() }
    var failure: Failure?
    do throws(LedgerError) {
      _ = try EmbeddedLedger.backUp(source, at: time, on: base) { piece throws(StorageError) in
        do throws(Failure) { try target.write(piece) } catch {
          failure = error
          throw .abandoned
        }
        progress.show("backed up", Int(target.bytes >> 20), of: nil, unit: "MiB")
        let pause = pacer.pause(after: piece.count)
        guard pause > .zero else { return }
        let milliseconds =
          pause.components.seconds * 1_000
          + pause.components.attoseconds / 1_000_000_000_000_000
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(Int(milliseconds)))
      }
    } catch {
      throw failure ?? Failure(.failed, "the store cannot be backed up: \(error)")
    }
  }

  private func tell(_ header: BackupHeader, _ summary: BackupSummary, _ target: BackupTarget) {
    let kind = header.base.map { "increment since version \($0.version)" } ?? "whole"
    output.print(
      "\(target.path): version \(header.version), \(summary.rows) rows, \(target.bytes) bytes, "
        + kind,
      [
        "file": .string(target.path), "version": .integer(Int64(clamping: header.version)),
        "since": header.base.map { .integer(Int64(clamping: $0.version)) } ?? .null,
        "rows": .integer(Int64(clamping: summary.rows)),
        "bytes": .integer(Int64(clamping: target.bytes)),
      ])
  }
}
