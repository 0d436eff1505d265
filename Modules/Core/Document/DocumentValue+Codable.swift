// Values as parts of `Codable` types. A `DocumentEncoder` keeps each as the value it is; what other
// coders see of those that have a natural form is written here.

/// Other coders see an object with `seconds` and `nanoseconds`.
extension DocumentTimestamp: Codable {
  private enum CodingKeys: String, CodingKey {
    case seconds, nanoseconds
  }

  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      seconds: try members.decode(Int64.self, forKey: .seconds),
      nanoseconds: try members.decode(Int32.self, forKey: .nanoseconds))
  }

  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(seconds, forKey: .seconds)
    try members.encode(nanoseconds, forKey: .nanoseconds)
  }
}

/// Other coders see an object with `latitude` and `longitude`.
extension DocumentGeoPoint: Codable {
  private enum CodingKeys: String, CodingKey {
    case latitude, longitude
  }

  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      latitude: try members.decode(Double.self, forKey: .latitude),
      longitude: try members.decode(Double.self, forKey: .longitude))
  }

  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(latitude, forKey: .latitude)
    try members.encode(longitude, forKey: .longitude)
  }
}

/// Other coders see the resource name as a string.
extension DocumentName: Codable {
  public init(from decoder: any Decoder) throws {
    try self.init(resourceName: try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(resourceName)
  }
}

/// Only a `DocumentEncoder` can encode it, and only a `DocumentDecoder` decode it.
extension DocumentValue: Codable {
  public init(from decoder: any Decoder) throws {
    throw DecodingError.onlyDocuments(DocumentValue.self, decoder.codingPath)
  }

  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.onlyDocuments(self, encoder.codingPath)
  }
}

/// Only a `DocumentEncoder` can encode it, and only a `DocumentDecoder` decode it.
extension DocumentMap: Codable {
  public init(from decoder: any Decoder) throws {
    throw DecodingError.onlyDocuments(DocumentMap.self, decoder.codingPath)
  }

  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.onlyDocuments(self, encoder.codingPath)
  }
}

/// Only a `DocumentEncoder` can encode it.
extension DocumentInput: Encodable {
  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.onlyDocuments(self, encoder.codingPath)
  }
}

extension DecodingError {
  /// A coder knows nothing of documents.
  package static func onlyDocuments(
    _ type: Any.Type, _ codingPath: [any CodingKey]
  ) -> DecodingError {
    .typeMismatch(
      type,
      Context(codingPath: codingPath, debugDescription: "only a DocumentDecoder decodes it"))
  }
}

extension EncodingError {
  /// A coder knows nothing of documents.
  package static func onlyDocuments(
    _ value: Any, _ codingPath: [any CodingKey]
  ) -> EncodingError {
    .invalidValue(
      value,
      Context(codingPath: codingPath, debugDescription: "only a DocumentEncoder encodes it"))
  }
}
