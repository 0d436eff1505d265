#if TCP
  import NIOCore
  import Synchronization
  import TernCore

  /// The events of frames that go to many streams, made once for all streams of a path and form.
  final class SharedEvents: Sendable {
    private struct Key: Hashable {
      let path: TreePath
      let form: TreeNode.JSONForm
    }

    private let frames: [[UInt8]]
    /// The events that were made; `nil` inside for frames that streams take one by one.
    private let made = Mutex<[Key: ByteBuffer?]>([:])

    init(_ frames: [[UInt8]]) { self.frames = frames }

    /// Returns what an open stream says for the frames; `nil` when it has to take them by itself.
    func events(at path: TreePath, _ form: TreeNode.JSONForm) -> ByteBuffer? {
      let key = Key(path: path, form: form)
      return made.withLock { made in
        if let known = made[key] { return known }
        let new = EventStream.events(frames, at: path, form).map { ByteBuffer(bytes: $0) }
        made[key] = .some(new)
        return new
      }
    }
  }
#endif
