import TernCore

/// The limit on one write's change, counted in the time that it is estimated to take.
///
/// Source: realtime reference, sections 11.2 and 11.6.
package enum WriteSizeLimit: String, Sendable {
  case tiny, small, medium, large, unlimited

  /// The time a write may be reckoned to take, in seconds; `nil` for any.
  private var seconds: Int? {
    switch self {
    case .tiny: 1
    case .small: 10
    case .medium: 30
    case .large: 60
    case .unlimited: nil
    }
  }

  /// The estimated bytes written or removed in a second: less than slow disks do.
  private static let bytesPerSecond = 10 << 20

  /// The most bytes of rows that are written and removed together; `nil` for any number.
  var bytes: Int? { seconds.map { $0 * Self.bytesPerSecond } }

  /// The message to a client that asks for more.
  static let excess =
    "Data to write exceeds the maximum size that can be modified with a single request."
}

/// The settings of a database for administrators, besides its rules. Stored as a JSON object.
package struct DatabaseSettings: Equatable, Sendable {
  /// The limit for writes that have none of their own; `nil` for any amount.
  private(set) var writeSizeLimit: WriteSizeLimit?
  /// Kept for those who ask; there are no triggers here.
  private(set) var validatesTriggers = false

  /// Names the settings.
  package enum Name: String, Sendable {
    case defaultWriteSizeLimit, strictTriggerValidation
  }

  init() {}

  /// Reads what ``json`` wrote; what cannot be read is as it is without settings.
  init(_ json: JSONValue) {
    for name in [Name.defaultWriteSizeLimit, .strictTriggerValidation] {
      if let value = json[name.rawValue] { set(name, to: value) }
    }
  }

  var json: JSONValue {
    .object([
      .init(Name.defaultWriteSizeLimit.rawValue, self[.defaultWriteSizeLimit]),
      .init(Name.strictTriggerValidation.rawValue, self[.strictTriggerValidation]),
    ])
  }

  subscript(name: Name) -> JSONValue {
    switch name {
    case .defaultWriteSizeLimit: .string((writeSizeLimit ?? .unlimited).rawValue)
    case .strictTriggerValidation: .bool(validatesTriggers)
    }
  }

  /// Changes a setting; `false` when it has no such value.
  @discardableResult
  mutating func set(_ name: Name, to value: JSONValue) -> Bool {
    switch (name, value) {
    case (.defaultWriteSizeLimit, .string(let text)):
      // Under the least limit a database would be of little use.
      guard let limit = WriteSizeLimit(rawValue: text), limit != .tiny else { return false }
      writeSizeLimit = limit == .unlimited ? nil : limit
    case (.strictTriggerValidation, .bool(let isOn)): validatesTriggers = isOn
    default: return false
    }
    return true
  }
}
