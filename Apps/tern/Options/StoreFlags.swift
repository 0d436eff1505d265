import ArgumentParser

/// The place of a server's data.
struct StoreFlags: ParsableArguments {
  @Option(help: ArgumentHelp("A configuration file.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("sqlite, lmdb or memory.", valueName: "kind"))
  var storage: String?

  @Option(help: ArgumentHelp("The folder of the data.", valueName: "folder"))
  var path: String?

  /// The flags given for the section "storage".
  var given: [(section: String, key: String, text: String)] {
    [("kind", storage), ("path", path)].compactMap { key, text in
      text.map { ("storage", key, $0) }
    }
  }
}
