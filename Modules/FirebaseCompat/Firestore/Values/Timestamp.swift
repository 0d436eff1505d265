public import Foundation
import TernCore
import TernSync

/// A point in time, in seconds since 1970 and nanoseconds; documents keep microseconds.
public struct Timestamp: Hashable, Codable, Sendable {
  /// Whole seconds since 1970, rounded down.
  public let seconds: Int64
  /// Nanoseconds beyond ``seconds``, 0..<1,000,000,000.
  public let nanoseconds: Int32

  /// A time.
  ///
  /// - Precondition: It lies in the years 1 to 9999, and `nanoseconds` in 0..<1,000,000,000.
  public init(seconds: Int64, nanoseconds: Int32) {
    do throws(DocumentError) {
      _ = try DocumentTimestamp(seconds: seconds, nanoseconds: nanoseconds)
    } catch {
      preconditionFailure("This is no time: \(error)")
    }
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// The time of a date.
  ///
  /// - Precondition: It lies in the years 1 to 9999.
  public init(date: Date) {
    let since = date.timeIntervalSince1970
    let whole = since.rounded(.down)
    let rest = Int32(((since - whole) * 1e9).rounded(.down))
    self.init(seconds: Int64(whole), nanoseconds: min(max(rest, 0), 999_999_999))
  }

  /// The time of a date; `nil` outside of the years 1 to 9999.
  init?(exactly date: Date) {
    let since = date.timeIntervalSince1970
    guard let whole = Int64(exactly: since.rounded(.down)) else { return nil }
    let rest = Int32(((since - Double(whole)) * 1e9).rounded(.down))
    guard
      let time = try? DocumentTimestamp(
        seconds: whole, nanoseconds: min(max(rest, 0), 999_999_999))
    else { return nil }
    seconds = time.seconds
    nanoseconds = min(max(rest, 0), 999_999_999)
  }

  /// The present, by the clock of this device.
  public init() {
    let milliseconds = RuntimeEnvironment.system.millisecondsSinceEpoch()
    self.init(DocumentTimestamp(uncheckedMicroseconds: milliseconds * 1_000))
  }

  init(_ time: DocumentTimestamp) {
    seconds = time.seconds
    nanoseconds = time.nanoseconds
  }

  /// The time as a date.
  public func dateValue() -> Date {
    Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
  }

  /// The order of two times, as Foundation tells it.
  public func compare(_ other: Timestamp) -> ComparisonResult {
    self < other ? .orderedAscending : self == other ? .orderedSame : .orderedDescending
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let seconds = try container.decode(Int64.self, forKey: .seconds)
    let nanoseconds = try container.decode(Int32.self, forKey: .nanoseconds)
    do throws(DocumentError) {
      _ = try DocumentTimestamp(seconds: seconds, nanoseconds: nanoseconds)
    } catch {
      throw DecodingError.dataCorruptedError(
        forKey: .seconds, in: container, debugDescription: "\(error)")
    }
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// The time as documents keep it.
  var kept: DocumentTimestamp {
    DocumentTimestamp(uncheckedMicroseconds: seconds * 1_000_000 + Int64(nanoseconds / 1_000))
  }
}

extension Timestamp: Comparable, CustomStringConvertible {
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  public var description: String { "Timestamp(seconds: \(seconds), nanoseconds: \(nanoseconds))" }
}
