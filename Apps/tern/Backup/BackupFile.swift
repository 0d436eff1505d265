import TernLedger
import TernStorage

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

/// A backup that appears under its name when it is on the disk, was read again and is whole.
final class BackupTarget {
  /// The name that it gets; `-` is standard output.
  let path: String
  private let aside: String?
  private let file: SystemFile
  private(set) var bytes: UInt64 = 0

  /// Begins a file beside `path`, for its owner's eyes: a backup holds everything.
  init(_ path: String) throws(Failure) {
    self.path = path
    if path == "-" {
      (aside, file) = (nil, .standardOutput())
      return
    }
    if FileStatus(of: path) != nil {
      throw Failure(.usage, "\(path) is there already; a backup is never written over another file")
    }
    // In a folder backups are named after their moments, so an earlier one has another name.
    let part = PartFiles.create(for: path, mode: 0o600, family: "." + Self.fileExtension)
    guard let part else { throw Self.cannotWrite(path) }
    aside = part.path
    file = SystemFile(descriptor: part.descriptor)
  }

  /// The file that a destination means: in a folder, one named after the moment.
  ///
  /// - Parameter time: In milliseconds since 1970.
  static func name(for destination: String, at time: Int64) -> String {
    let isFolder = FileStatus(of: destination)?.isFolder == true
    guard destination.hasSuffix("/") || isFolder else { return destination }
    let moment = Date(timeIntervalSince1970: TimeInterval(time) / 1_000)
    let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
    let folder = destination.hasSuffix("/") ? destination : destination + "/"
    return folder + "tern-\(moment.formatted(style)).\(fileExtension)"
  }

  static let fileExtension = "ternbackup"

  func write(_ piece: [UInt8]) throws(Failure) {
    bytes += UInt64(piece.count)
    do { try file.write(piece) } catch { throw Self.cannotWrite(path) }
  }

  /// Checks what was written, and gives the file its name.
  ///
  /// - Throws: ``Failure``; then there is no file.
  func finish() throws -> (header: BackupHeader, summary: BackupSummary)? {
    guard let aside else { return nil }
    do { try file.synchronize() } catch { throw Self.cannotWrite(path) }
    // The file stays open, and so locked: other programs leave it alone until it has its name.
    let found = try BackupFile(aside).verify()
    guard unsafe link(aside, path) == 0 else { throw Self.cannotWrite(path) }
    PartFiles.remove(aside)
    try? file.close()
    Self.synchronize(folderOf: path)
    return (found.header, found.summary)
  }

  /// Removes what was written.
  func abandon() {
    guard let aside else { return }
    try? file.close()
    PartFiles.remove(aside)
  }

  /// The reason is the one of the system call that has just failed.
  private static func cannotWrite(_ path: String) -> Failure {
    Failure(.failed, "cannot write \(path): \(systemText(errno))")
  }

  /// Makes a new name durable.
  static func synchronize(folderOf path: String) {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let descriptor = unsafe open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    _ = close(descriptor)
  }
}

/// A backup in a file.
struct BackupFile {
  let path: String

  init(_ path: String) { self.path = path }

  /// Lends the bytes of the file, from its beginning.
  func withBytes<R>(
    _ body: (@escaping (Int) throws(BackupError) -> [UInt8]) throws -> R
  ) throws -> R {
    guard let file = path == "-" ? SystemFile.standardInput() : SystemFile(readingAt: path) else {
      throw unreadable(path)
    }
    do {
      return try body { count throws(BackupError) in
        var bytes: [UInt8] = []
        do throws(SystemError) {
          // A pipe gives less than it is asked for.
          while bytes.count < count {
            let piece = try file.read(upTo: count - bytes.count)
            if piece.isEmpty { break }
            bytes += piece
          }
        } catch {
          throw .inaccessible(systemText(error.number))
        }
        return bytes
      }
    } catch let error as BackupError {
      throw Failure(about: error, at: path)
    }
  }

  /// Reads the whole file.
  func verify(
    onProgress: (Int) -> Void = { _ in }
  ) throws -> (header: BackupHeader, summary: BackupSummary, index: BackupIndex) {
    var bytes = 0
    return try withBytes { read in
      try BackupReader.verify(read) { section throws(BackupError) in
        if case .block(let block) = section {
          bytes += block.rows.reduce(0) { $0 + $1.key.count + $1.value.count }
          onProgress(bytes)
        }
      }
    }
  }
}

extension Failure {
  /// Puts an error about a backup into words.
  init(about error: BackupError, at path: String) {
    switch error {
    case .foreign: self.init(.usage, "\(path) is no backup")
    case .newerFormat(let found, let supported):
      self.init(
        .failed, "\(path) was written by a later version: format \(found), not \(supported)")
    case .cut(let offset):
      self.init(.failed, "\(path) is cut off at byte \(offset); take another copy")
    case .corrupt(let offset):
      self.init(.failed, "\(path) is damaged at byte \(offset); take another copy")
    case .wrongBase(let version):
      self.init(
        .usage,
        "\(path) does not build on the backup before it: it needs the one of version "
          + "\(version)")
    case .differs:
      self.init(.failed, "\(path): what was restored is not what was backed up; nothing is kept")
    case .outOfReach(let first, let last):
      self.init(
        .usage, "version \(last) is out of reach: the log of \(path) begins at version \(first)")
    case .inaccessible(let reason): self.init(.failed, "\(path): \(reason)")
    case .storage(let error): self.init(.failed, "\(path): \(error)")
    case .ledger(let error): self.init(.failed, "\(path): \(error)")
    }
  }
}

/// Spreads bytes over time.
struct Pacer {
  private let bytesPerSecond: Int?
  private let start = ContinuousClock.now
  private var bytes = 0

  init(_ bytesPerSecond: Int?) { self.bytesPerSecond = bytesPerSecond }

  /// The pause that is due once so many more bytes were handled.
  mutating func pause(after count: Int) -> Duration {
    guard let bytesPerSecond else { return .zero }
    bytes += count
    let due = Duration.seconds(Double(bytes) / Double(bytesPerSecond))
    return max(.zero, due - start.duration(to: .now))
  }
}
