extension LineInbox {
  /// Reads a descriptor to its end, on a thread of its own: a read that waits blocks no other work.
  func read(from descriptor: Int32) {
    SystemThread.detach { [self] in
      let file = SystemFile(descriptor: descriptor)
      while true {
        let part = (try? file.read(upTo: 64 * 1_024)) ?? []
        add(part)
        if part.isEmpty { break }
      }
      try? file.close()
    }
  }
}
