import ArgumentParser

/// `tern doc`: collections of documents.
struct DocumentCommands: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doc",
    abstract: "Read, write and query documents.",
    discussion: """
      tern doc set cities/SF '{"name": "San Francisco", "population": 860000}'
      tern doc update cities/SF --increment population=1 --server-time counted
      tern doc query cities --where 'population > 500000' --order-by 'population desc'

      Paths are ids joined by slashes: a collection, a document in it, a collection below that, \
      and so on. Values are JSON. Types that JSON lacks are objects with one member that names the \
      type, as in REST: {"timestampValue": "2026-11-21T09:00:00Z"}, {"bytesValue": "AAE="}, \
      {"referenceValue": "cities/SF"}, {"geoPointValue": {"latitude": 37.7, "longitude": -122.4}}, \
      {"doubleValue": "NaN"}; whole numbers are integers, 1.0 is a double. --typed spells every \
      value that way: {"integerValue": "1"}. Nothing is lost either way.

      Names of fields are joined by dots; a name that holds anything else than letters, digits \
      and _ stands in backticks: address.`zip code`.
      """,
    subcommands: [
      Get.self, Set.self, Add.self, Update.self, Delete.self, Query.self, Watch.self,
      Collections.self,
      Import.self, Export.self,
    ])
}

/// The flags for the spelling of values.
struct TypedFlag: ParsableArguments {
  @Flag(help: "Spell every value with its type, as REST does.")
  var typed = false
}
