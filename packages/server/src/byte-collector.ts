const nothing = Buffer.alloc(0)

/**
 * Joins pieces as they come, so that bytes in pieces of one each need no more memory than in one. A class: most bodies come in one
 * piece, for which five closures would be made.
 */
export class ByteCollector {
  length = 0
  private block: Buffer = nothing
  /** A piece that came alone is not ours to write behind. */
  private isOurs = false

  add(piece: Buffer): void {
    if (this.length === 0) {
      this.block = piece
      this.isOurs = false
    } else {
      this.makeRoom(piece.length)
      piece.copy(this.block, this.length)
    }
    this.length += piece.length
  }

  /** All of them, a single piece as it came; it begins anew then. */
  take(): Buffer {
    const taken = this.block.length === this.length ? this.block : this.block.subarray(0, this.length)
    this.block = nothing
    this.length = 0
    return taken
  }

  private makeRoom(bytes: number): void {
    if (this.isOurs && this.length + bytes <= this.block.length) return
    const larger = Buffer.allocUnsafe(2 * (this.length + bytes))
    this.block.copy(larger, 0, 0, this.length)
    this.block = larger
    this.isOurs = true
  }
}
