import TernCore

/// A place on earth in degrees.
public struct GeoPoint: Hashable, Codable, Sendable {
  /// Degrees north of the equator, -90...90.
  public let latitude: Double
  /// Degrees east of Greenwich, -180...180.
  public let longitude: Double

  /// A place.
  ///
  /// - Precondition: `latitude` is in -90...90, `longitude` in -180...180.
  public init(latitude: Double, longitude: Double) {
    precondition(-90...90 ~= latitude, "\(latitude) is no latitude; it is in -90...90")
    precondition(-180...180 ~= longitude, "\(longitude) is no longitude; it is in -180...180")
    self.latitude = latitude
    self.longitude = longitude
  }

  init(_ point: DocumentGeoPoint) {
    latitude = point.latitude
    longitude = point.longitude
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let latitude = try container.decode(Double.self, forKey: .latitude)
    let longitude = try container.decode(Double.self, forKey: .longitude)
    do throws(DocumentError) {
      self.init(try DocumentGeoPoint(latitude: latitude, longitude: longitude))
    } catch {
      throw DecodingError.dataCorruptedError(
        forKey: .latitude, in: container, debugDescription: "\(error)")
    }
  }

  /// The place as documents keep it.
  var kept: DocumentGeoPoint {
    DocumentGeoPoint(uncheckedLatitude: latitude, longitude: longitude)
  }
}

/// Numbers in order, for search by likeness.
public struct VectorValue: Hashable, Codable, Sendable {
  /// The numbers.
  public let array: [Double]

  /// A vector of numbers.
  public init(_ array: [Double]) { self.array = array }
}
