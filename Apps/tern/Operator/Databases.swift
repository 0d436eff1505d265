import ArgumentParser
import TernCore
import TernSecurity

/// `tern databases`: the databases of a running server.
struct Databases: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List, create and delete the databases of a running server.",
    discussion: "Asked with the token of an administrator.",
    subcommands: [List.self, Create.self, Delete.self], defaultSubcommand: List.self)

  /// `tern databases list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List databases of both models, with their sizes.")

    @Flag(help: "Leave out sizes, which are counted.") var namesOnly = false
    @OptionGroup var admin: AdminFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let query = namesOnly ? "?sizes=false" : ""
      let found = try await admin.client().object("/-/databases" + query).list("databases")
      if output.json {
        for one in found { printLine(one.json) }
        return
      }
      let rows = found.map { database -> [String] in
        let isWhole = database["isWhole"] != .bool(false)
        let most = isWhole ? "" : "+"
        return [
          database["name"]?.text ?? "", database["model"]?.text ?? "",
          "\(database.count("sessions"))", database["rows"]?.integer.map { "\($0)\(most)" } ?? "-",
          database["bytes"]?.integer.map { StatusText.size($0) + most } ?? "-",
        ]
      }
      for line in TextTable.lines([["NAME", "MODEL", "SESSIONS", "ROWS", "SIZE"]] + rows) {
        printLine(line)
      }
    }
  }

  /// `tern databases create`.
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Give a database of the tree rules of its own.",
      discussion: """
        A database needs no making: the first write makes it, where rules allow that. Its own rules \
        are what tells it from others; without a file they allow nothing until others are deployed.
        """)

    @Argument(help: "The name of the database.") var name: String
    @Option(help: ArgumentHelp("Its rules: JSON with comments.", valueName: "file"))
    var rules: String?
    @OptionGroup var admin: AdminFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let text = try rules.map { try fileBytes(at: $0) } ?? Array(#"{"rules": {}}"#.utf8)
      let path = "/.settings/rules.json?ns=\(name.percentEncoded)"
      _ = try await admin.client().ask(.put, path, body: text)
      output.print("created \(name)", ["created": .string(name)])
    }
  }

  /// `tern databases delete`.
  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete a database: its data, its rules and its settings.",
      discussion: """
        Documents are named projects/P/databases/D; rules that were deployed for their whole \
        project, projects/P, stay. Listeners are told. There is no way back but a \
        backup.
        """)

    @Argument(help: "The name of the database.") var name: String
    @OptionGroup var confirmation: ConfirmationFlag
    @OptionGroup var admin: AdminFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      try confirmation.confirm("delete the database \(name)", at: .root)
      let isDocuments = name.hasPrefix("projects/")
      let path = "/-/databases/\(name.percentEncoded)" + (isDocuments ? "?model=documents" : "")
      _ = try await admin.client().ask(.delete, path)
      output.print("deleted \(name)", ["deleted": .string(name)])
    }
  }
}
