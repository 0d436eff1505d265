#if TCP
  import NIOCore
  import NIOWebSocket

  /// Frames as they lie on the wire. Source: RFC 6455, section 5.2.
  ///
  /// The library's encoder masks byte by byte, which takes most of a client's time for large
  /// frames.
  enum WebSocketFrames {
    /// The bytes before the payload of a whole, unfragmented frame, its masking key included.
    ///
    /// Layout: FIN and opcode in one byte; the mask bit and a length of 7 bits; for 126 a
    /// length of 16 bits, for 127 one of 64, most significant byte first; then the 4 bytes of
    /// the key.
    ///
    /// - Parameters:
    ///   - opcode: The kind of frame; the FIN bit is always set.
    ///   - count: The bytes of the payload.
    ///   - key: The masking key of a client; `nil` for a server, which sends none.
    static func head(
      _ opcode: WebSocketOpcode, count: Int, key: WebSocketMaskingKey?
    ) -> ByteBuffer {
      var head = ByteBuffer()
      head.reserveCapacity(14)
      head.writeInteger(0x80 | UInt8(webSocketOpcode: opcode))
      let masked: UInt8 = key == nil ? 0 : 0x80
      switch count {
      case ..<126: head.writeInteger(masked | UInt8(count))
      case ..<(1 << 16):
        head.writeInteger(masked | 126)
        head.writeInteger(UInt16(count))
      default:
        head.writeInteger(masked | 127)
        head.writeInteger(UInt64(count))
      }
      if let key { head.writeBytes(key) }
      return head
    }

    /// Masks a payload, or unmasks a masked one, eight bytes at a time.
    ///
    /// The buffer is changed in place, from its reader index on. Masking is its own inverse.
    static func mask(_ payload: inout ByteBuffer, with key: WebSocketMaskingKey) {
      let bytes = Array(key)
      // The key twice, as it lies in memory.
      var wide: UInt64 = 0
      for index in 0..<8 {
        let byte = UInt64(bytes[index & 3])
        wide |= byte << (8 * index)
      }
      // Bytes are combined by their place in memory, so the word is stored in that order on any
      // machine.
      wide = wide.littleEndian
      unsafe payload.withUnsafeMutableReadableBytes { raw in
        var index = 0
        while index + 8 <= raw.count {
          let word = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
          unsafe raw.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
          index += 8
        }
        while index < raw.count {
          unsafe raw[index] ^= bytes[index & 3]
          index += 1
        }
      }
    }
  }
#endif
