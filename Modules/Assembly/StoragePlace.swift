import TernStorage

/// The keys of the section `storage` that the assembler reads itself, for every plugin.
struct StoragePlace: Decodable {
  static let keys = ["path", "durability"]
  /// The folder of the stores when no other is configured.
  static let standardPath = "tern-data"

  var path: String?
  var durability: Durability?

  private enum CodingKeys: String, CodingKey {
    case path, durability
  }

  init(from decoder: any Decoder) throws {
    let section = try decoder.container(keyedBy: CodingKeys.self)
    path = try section.decodeIfPresent(String.self, forKey: .path)
    durability = try section.decodeIfPresent(Durability.self, forKey: .durability)
    if path?.isEmpty == true {
      throw DecodingError.dataCorruptedError(
        forKey: .path, in: section, debugDescription: "a folder has a name, not an empty text")
    }
  }
}
