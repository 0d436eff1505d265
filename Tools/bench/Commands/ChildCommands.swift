import ArgumentParser

/// The commands of processes that sections start; they are not listed.
enum ChildCommands {
  static var all: [any ParsableCommand.Type] {
    let all: [any ParsableCommand.Type] = [LoadCachedNode.self]
    #if TCP
      let servers: [any ParsableCommand.Type] = [
        FanOutRelayCommand.self, ServeTree.self, ServeConstant.self, ServeConstantHTTP2.self,
      ]
      #if os(Linux)
        return all + servers + [ServeBare.self]
      #else
        return all + servers
      #endif
    #else
      return all
    #endif
  }

  /// A client with nothing in its memory, started by the section `cached-node`.
  struct LoadCachedNode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: CachedNode.command, shouldDisplay: false)

    @Argument var folder: String
    @Argument var name: String

    func run() async throws { try await CachedNode.load(name, from: folder) }
  }

  #if TCP
    struct FanOutRelayCommand: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: FanOutRelay.command, shouldDisplay: false)

      func run() async throws { try await FanOutRelay.serve() }
    }

    struct ServeTree: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: ServedTree.command, shouldDisplay: false)

      @Argument var path: String
      @Argument var words: [String] = []

      func run() async throws { try await ServedTree.serve(path, words) }
    }

    struct ServeConstant: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: BareHTTPServer.command, shouldDisplay: false)

      func run() async throws { try await BareHTTPServer.serve() }
    }

    struct ServeConstantHTTP2: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: BareHTTP2Server.command, shouldDisplay: false)

      @Argument var bytes: Int

      func run() async throws { try await BareHTTP2Server.serve(bytes: bytes) }
    }

    #if os(Linux)
      struct ServeBare: ParsableCommand {
        static let configuration = CommandConfiguration(
          commandName: BareServer.command, shouldDisplay: false)

        @Argument var path: String

        func run() throws { try BareServer.serve(path) }
      }
    #endif
  #endif
}
