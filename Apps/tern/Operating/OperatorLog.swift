import Logging
import Synchronization
import TernCore

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

/// The log of a server's operator: levels, and lines of text or of JSON, on standard error.
///
/// It writes through ``LogWriter``, which loses lines rather than stop a server. Tokens, keys and
/// data are never part of a line's metadata.
enum OperatorLog {
  /// The forms of a line.
  enum Format: String, Sendable {
    case text, json
  }

  private struct Settings {
    var level = Logger.Level.info
    var format = Format.text
  }

  private static let settings = Mutex(Settings())

  /// The level below which nothing is told. May change while the server runs.
  static var level: Logger.Level {
    get { settings.withLock { $0.level } }
    set { settings.withLock { $0.level = newValue } }
  }

  /// The form of the lines.
  static var format: Format {
    get { settings.withLock { $0.format } }
    set {
      settings.withLock { $0.format = newValue }
      LogWriter.standardError.usesJSON = newValue == .json
    }
  }

  /// The log of this process.
  static let logger = Logger(label: "tern") { _ in OperatorLogHandler() }

  /// Adds a line, or several that belong together.
  static func tell(
    _ text: String, _ level: Logger.Level = .notice, _ metadata: Logger.Metadata = [:]
  ) {
    logger.log(level: level, "\(text)", metadata: metadata)
  }
}

/// Puts the records of swift-log into the operator's log.
struct OperatorLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  private let writer: LogWriter
  private let now: @Sendable () -> Date

  init(
    writer: LogWriter = .standardError, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.writer = writer
    self.now = now
  }

  /// The level of the whole log; setting it here does nothing.
  var logLevel: Logger.Level {
    get { OperatorLog.level }
    set {}
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    writer.write(
      Self.line(
        "\(event.message)", event.level, all, at: LogTime.text(now()), OperatorLog.format))
  }

  /// One record as a line, or as text of several.
  static func line(
    _ message: String, _ level: Logger.Level, _ metadata: Logger.Metadata, at time: String,
    _ format: OperatorLog.Format
  ) -> String {
    let entries = metadata.sorted { $0.key < $1.key }
    switch format {
    case .text:
      let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
      let extra = entries.map { " \($0.key)=\($0.value)" }.joined()
      let first = "\(time) \(level.rawValue) tern: \(lines.first ?? "")\(extra)"
      return ([first] + lines.dropFirst().map { "tern: \($0)" }).joined(separator: "\n")
    case .json:
      let known = ["time", "level", "message"]
      let members: [JSONValue.Member] = [
        .init("time", .string(time)), .init("level", .string(level.rawValue)),
        .init("message", .string(message)),
      ]
      let rest = entries.filter { !known.contains($0.key) }.map {
        JSONValue.Member($0.key, .string("\($0.value)"))
      }
      return String(decoding: JSONValue.object(members + rest).bytes, as: UTF8.self)
    }
  }
}

/// The time of a line: UTC, with milliseconds.
enum LogTime {
  /// Returns a time as RFC 3339 has it: `2026-11-25T21:04:05.123Z`.
  static func text(_ date: Date) -> String {
    let milliseconds = Int64((date.timeIntervalSince1970 * 1_000).rounded(.down))
    var (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
    if rest < 0 { (seconds, rest) = (seconds - 1, rest + 1_000) }
    var time = time_t(seconds)
    var parts = tm()
    // Safe: the call uses both during the call only.
    guard unsafe gmtime_r(&time, &parts) != nil else { return "-" }
    return "\(padded(Int(parts.tm_year) + 1_900, 4))-\(padded(Int(parts.tm_mon) + 1, 2))-"
      + "\(padded(Int(parts.tm_mday), 2))T\(padded(Int(parts.tm_hour), 2)):"
      + "\(padded(Int(parts.tm_min), 2)):\(padded(Int(parts.tm_sec), 2))."
      + "\(padded(Int(rest), 3))Z"
  }

  private static func padded(_ number: Int, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
