import TernKit

/// The cities of the world: documents named after them, with a country and a population.
struct Cities: Sendable {
  private let documents: Documents
  private let cities: DocumentCollection

  /// The cities of a database.
  init(_ documents: Documents) {
    self.documents = documents
    cities = documents.collection("cities")
  }

  /// Writes cities down, all or none.
  ///
  /// Returns when they are safe on this device.
  @discardableResult
  func add(_ added: [City]) async throws -> DocumentWrite {
    var batch = documents.batch()
    for city in added {
      guard let name = city.name else { continue }
      try batch.set(cities.document(name), from: city)
    }
    return try await batch.commit()
  }

  /// Lets a city grow.
  ///
  /// The addition happens on the server, so that residents who move on several devices at once, or
  /// while they are offline, all count, and each only once.
  @discardableResult
  func grow(_ name: String, by people: Int) async throws -> DocumentWrite {
    try await cities.document(name).update(["population": .increment(people)])
  }

  /// The largest cities of a country, the largest first: a query, to be read or watched.
  func largest(_ count: Int, in country: String) -> DocumentQueryReference {
    cities.where("country", .equals, .string(country))
      .order(by: "population", isDescending: true)
      .first(count)
  }

  /// The largest cities of a country as lines, now and whenever that changes.
  ///
  /// The first line says where they come from; a `*` marks what the server has not confirmed yet.
  func board(_ count: Int, in country: String) -> some AsyncSequence<[String], DocumentsError> {
    largest(count, in: country).snapshots(includingMetadata: true).map { result in
      [result.metadata.isFromCache ? "from the cache" : "from the server"]
        + result.documents.map { city in
          let people = city["population"].map { " \($0)" } ?? ""
          return city.id + people + (city.metadata.hasPendingWrites ? " *" : "")
        }
    }
  }
}

/// A city to be written down.
struct City: Codable, Sendable {
  /// The id of its document.
  @DocumentID var name: String? = nil
  var country: String
  var population: Int
}
