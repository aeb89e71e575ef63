/** Joins pieces as they come, so that bytes in pieces of one each need no more memory than in one. */
export interface ByteCollector {
  readonly length: number
  add(piece: Buffer): void
  /** All of them, a single piece as it came; it begins anew then. */
  take(): Buffer
}

const nothing = Buffer.alloc(0)

export function byteCollector(): ByteCollector {
  let block: Buffer = nothing
  let length = 0
  /** A piece that came alone is not ours to write behind. */
  let isOurs = false

  function makeRoom(bytes: number): void {
    if (isOurs && length + bytes <= block.length) return
    const larger = Buffer.allocUnsafe(2 * (length + bytes))
    block.copy(larger, 0, 0, length)
    block = larger
    isOurs = true
  }

  return {
    get length() {
      return length
    },
    add(piece) {
      if (length === 0) {
        block = piece
        isOurs = false
      } else {
        makeRoom(piece.length)
        piece.copy(block, length)
      }
      length += piece.length
    },
    take() {
      const taken = block.subarray(0, length)
      block = nothing
      length = 0
      return taken
    },
  }
}
