import ArgumentParser
import TernClient
import TernCore

extension DocumentCommands {
  /// `tern doc set`: replaces, or merges.
  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a document, or replace it.",
      discussion: """
        tern doc set cities/SF '{"name": "San Francisco", "regions": ["west"]}'
        tern doc set cities/SF '{"mayor": "ann"}' --merge     # the other fields stay
        tern doc set cities/SF '{}' --if-missing               # only if there is none
        Names in the JSON are names, not paths. With --cache, a write made without a server is \
        queued: exit code 0, and a line about it.
        """)

    @Argument(help: "Which document, such as cities/SF.") var path: String
    @Argument(help: "Its fields, a JSON object; - reads standard input.") var fields: String

    @Flag(help: "Keep the fields that are not named.")
    var merge = false

    @OptionGroup(title: "Computed by the server") var transforms: TransformFlags
    @OptionGroup(title: "Only if") var condition: PreconditionFlags
    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func run() async throws {
      try client.checkDocuments()
      let key = try documentKey(path)
      let content = try standardInput(or: fields)
      try await client.withClient { run in
        let text = DocumentText(run.tern.documents.database, isTyped: form.typed)
        var inputs = try text.fields(content).entries.map {
          DocumentInput.Field($0.name, .value($0.value))
        }
        for (path, input) in try transforms.inputs(text) {
          inputs = inputs.placing(input, at: path.names[...])
        }
        let mutation = try written { () throws(DocumentError) in
          try merge ? .merge(key, with: inputs) : .set(key, to: inputs)
        }
        try await run.make(try condition.applied(to: mutation), asJSON: client.json)
      }
    }
  }

  /// `tern doc add`: a document with an id of its own.
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a document under a new id, and print its path.",
      discussion: "tern doc add cities '{\"name\": \"San Francisco\"}'")

    @Argument(help: "Which collection, such as cities.") var collection: String
    @Argument(help: "Its fields, a JSON object; - reads standard input.") var fields: String

    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func run() async throws {
      try client.checkDocuments()
      let collection = try collectionPath(collection)
      let content = try standardInput(or: fields)
      try await client.withClient { run in
        let documents = run.tern.documents
        let text = DocumentText(documents.database, isTyped: form.typed)
        let inputs = try text.fields(content).entries.map {
          DocumentInput.Field($0.name, .value($0.value))
        }
        let key = try documentKey(documents.collection(collection.text).document().path)
        let mutation = try written { () throws(DocumentError) in try .set(key, to: inputs) }
        if !client.json { printLine(key.text) }
        try await run.make(mutation.requiring(.exists(false)), asJSON: client.json)
      }
    }
  }

  /// `tern doc update`: single fields.
  struct Update: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write single fields of a document that exists.",
      discussion: """
        tern doc update cities/SF '{"address.street": "Main", "open": true}'
        tern doc update cities/SF --increment visits=1 --delete draft --server-time seen
        tern doc update cities/SF --array-union 'tags=["sea", "hills"]'
        Names in the JSON are paths.
        """)

    @Argument(help: "Which document, such as cities/SF.") var path: String
    @Argument(help: "A JSON object of paths and values; - reads standard input.")
    var fields: String = "{}"

    @OptionGroup(title: "Computed by the server") var transforms: TransformFlags
    @OptionGroup(title: "Only if") var condition: PreconditionFlags
    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func run() async throws {
      try client.checkDocuments()
      let key = try documentKey(path)
      let content = try standardInput(or: fields)
      try await client.withClient { run in
        let text = DocumentText(run.tern.documents.database, isTyped: form.typed)
        var assignments: [(path: DocumentFieldPath, input: DocumentInput)] = []
        for entry in try text.fields(content).entries {
          assignments.append((try fieldPath(entry.name), .value(entry.value)))
        }
        assignments += try transforms.inputs(text)
        guard !assignments.isEmpty else { throw Failure(.usage, "update names no field") }
        let mutation = try written { () throws(DocumentError) in try .update(key, assignments) }
        try await run.make(try condition.applied(to: mutation), asJSON: client.json)
      }
    }
  }

  /// `tern doc delete`: removes.
  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete a document; collections below it stay.")

    @Argument(help: "Which document, such as cities/SF.") var path: String
    @OptionGroup(title: "Only if") var condition: PreconditionFlags
    @OptionGroup var client: ClientFlags

    func run() async throws {
      try client.checkDocuments()
      let mutation = try condition.applied(to: .delete(try documentKey(path)))
      try await client.withClient { run in
        try await run.make(mutation, asJSON: client.json)
      }
    }
  }
}

/// A write, or which rule it breaks.
func written(
  _ make: () throws(DocumentError) -> DocumentMutation
) throws(Failure) -> DocumentMutation {
  do throws(DocumentError) { return try make() } catch {
    throw Failure(.usage, "\(DocumentsError.invalid(error))")
  }
}

extension [DocumentInput.Field] {
  /// The same with something at a path, in maps on the way.
  func placing(_ input: DocumentInput, at names: ArraySlice<String>) -> [DocumentInput.Field] {
    guard let name = names.first else { return self }
    var placed = input
    if names.count > 1 {
      let inner = last { $0.name == name }?.input.members ?? []
      placed = .map(inner.placing(input, at: names.dropFirst()))
    }
    return filter { $0.name != name } + [DocumentInput.Field(name, placed)]
  }
}

extension DocumentInput {
  /// The fields of a map; what is none has none.
  fileprivate var members: [Field] {
    switch self {
    case .map(let fields): fields
    case .value(.map(let map)): map.entries.map { Field($0.name, .value($0.value)) }
    case .value, .array, .delete, .transform: []
    }
  }
}
