import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/*
 * A backup is a text compressed with gzip (RFC 1952), which `psql` can run on an empty schema of the same version:
 *
 *   -- gateway backup 1 {"made":…,"migrations":…,"columns":…}
 *   begin; truncate …; select add_partition(…);
 *   COPY table (columns) FROM stdin;
 *   rows, as PostgreSQL's COPY writes them as text
 *   \.
 *   select setval('sequence', 1, true);
 *   commit;
 *   -- end {"rows":…,"ledger":…,"sha256":…}
 *
 * The digest covers everything before the last line. A restore reads rows and numbers from it, and runs none of its
 * statements.
 */

export interface BackupHead {
  /** Time of the snapshot by the clock of the database, in ISO 8601. */
  readonly made: string
  /** Version of the PostgreSQL server. */
  readonly server: string
  readonly migrations: readonly { readonly version: number; readonly digest: string }[]
  /** Names and types of the columns of each table, in the order of the sections. */
  readonly columns: Readonly<Record<string, string>>
}

export interface BackupEnd {
  readonly rows: Readonly<Record<string, number>>
  /** Result of the check of the ledger, as JSON. */
  readonly ledger: string
  readonly sha256: string
}

export const headMark = '-- gateway backup 1 '
export const endMark = '-- end '

/** Error of a file that is not a whole backup. Its message is for the operator. */
export class BackupRefused extends Error {}

/** Source of a backup, which can be read several times from its beginning. */
export interface BackupSource {
  /** Name of the source in error messages. */
  readonly name: string
  readonly read: () => Readable
}

export const backupFile = (path: string): BackupSource => ({ name: path, read: () => createReadStream(path) })

export interface BackupReader {
  readonly begin: (head: BackupHead) => Promise<void> | void
  /** Receives the rows of a table, in pieces that may end within a row. */
  readonly table: (table: string, rows: AsyncIterable<Buffer>) => Promise<void>
  readonly sequence: (name: string, last: string, isCalled: boolean) => Promise<void> | void
}

/**
 * Reads a whole backup and passes it to `to`. Throws a `BackupRefused` for a file that is truncated, altered or not a
 * backup; `to` may have received a part of it before.
 */
export async function readBackup(
  { name: sourceName, read }: BackupSource,
  to: BackupReader,
  signal?: AbortSignal,
): Promise<{ head: BackupHead; end: BackupEnd }> {
  signal?.throwIfAborted()
  const refused = (why: string) => new BackupRefused(`${sourceName} ${why}`)
  const unpacked = pipeline(read(), createGunzip(), () => undefined)
  const breakOff = (): void => void unpacked.destroy(new Error('interrupted'))
  signal?.addEventListener('abort', breakOff, { once: true })
  const text = new BackupLines(unpacked, (bytesMax) =>
    refused(`is not a backup of the gateway: a line has over ${bytesMax} bytes`),
  )
  const rows: Record<string, number> = {}
  let head: BackupHead | undefined
  try {
    for (;;) {
      const line = await text.line()
      if (line === undefined) throw refused('is cut off: it has no last line')
      if (head === undefined) {
        if (!line.startsWith(headMark)) throw refused('is not a backup of the gateway, or is one of a later version')
        head = headOf(line)
        if (head === undefined) throw refused('was changed: a line of it cannot be read')
        await to.begin(head)
        continue
      }
      const [, table] = /^COPY ([a-z0-9_]+) \(.*\) FROM stdin;$/.exec(line) ?? []
      if (table !== undefined) {
        const count = { rows: 0 }
        await to.table(table, text.rows(count))
        if (!text.isBetween) throw new Error(`the rows of ${table} were not read`)
        rows[table] = count.rows
      }
      const [, name, last, called] = /^select setval\('([a-z0-9_]+)', (\d+), (true|false)\);$/.exec(line) ?? []
      if (name !== undefined && last !== undefined) await to.sequence(name, last, called === 'true')
      if (!line.startsWith(endMark)) continue
      const end = JSON.parse(line.slice(endMark.length)) as BackupEnd
      if (end.sha256 !== text.digest()) throw refused('was changed: its SHA-256 does not match')
      if (JSON.stringify(end.rows) !== JSON.stringify(rows))
        throw refused('was changed: the numbers of its rows do not match')
      if ((await text.line()) !== undefined) throw refused('was changed: something comes after its end')
      return { head, end }
    }
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code === 'Z_BUF_ERROR') throw refused('is cut off')
    if (typeof code === 'string' && code.startsWith('Z_')) throw refused('was changed, or is not a backup')
    if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) throw refused(`cannot be read (${code})`)
    if (error instanceof SyntaxError) throw refused('was changed: a line of it cannot be read')
    throw error
  } finally {
    signal?.removeEventListener('abort', breakOff)
    unpacked.destroy()
  }
}

function headOf(line: string): BackupHead | undefined {
  const head = JSON.parse(line.slice(headMark.length)) as Partial<BackupHead> | null
  return typeof head?.columns === 'object' && typeof head.made === 'string' ? (head as BackupHead) : undefined
}

/** Maximum bytes of a line other than a row. The head of a thousand tables has less than a tenth of this. */
const lineBytesMax = 4 * 2 ** 20
/** Maximum bytes of one row as COPY writes it. Rows with the largest uploads of the portal are smaller. */
const rowBytesMax = 128 * 2 ** 20

/**
 * Reads lines and, between them, the rows of a COPY. Calculates the digest of all lines except the last one read.
 * Throws the error that `tooLong` makes if a line or row exceeds its maximum, before buffering more of it.
 */
class BackupLines {
  readonly #pieces: AsyncIterator<Buffer, undefined>
  readonly #tooLong: (bytesMax: number) => Error
  readonly #hash = createHash('sha256')
  #unread: Buffer = Buffer.alloc(0)
  #lastLine: Buffer | undefined
  #isBetween = true

  constructor(stream: AsyncIterable<Buffer, undefined>, tooLong: (bytesMax: number) => Error) {
    this.#pieces = stream[Symbol.asyncIterator]()
    this.#tooLong = tooLong
  }

  /** False while rows of a COPY are read. */
  get isBetween(): boolean {
    return this.#isBetween
  }

  /** Returns the next line, or undefined at the end. Text without a line break at the end does not count as a line. */
  async line(): Promise<string | undefined> {
    for (let from = 0; ;) {
      const at = this.#unread.indexOf(10, from)
      if (at >= 0) {
        this.#account()
        const line = this.#unread.subarray(0, at + 1)
        this.#lastLine = line
        this.#unread = this.#unread.subarray(at + 1)
        return line.toString('utf8', 0, at)
      }
      from = this.#unread.length
      if (!(await this.#more(lineBytesMax))) return undefined
    }
  }

  /** Reads rows up to the line `\.`, which is never a row, and counts them. */
  async *rows(count: { rows: number }): AsyncIterable<Buffer> {
    this.#isBetween = false
    this.#account()
    for (;;) {
      // `unread` starts at the beginning of a line.
      const unread = this.#unread
      const isEnd = unread.indexOf('\\.\n') === 0 || unread.includes('\n\\.\n')
      const whole = isEnd ? unread.indexOf('\\.\n') && unread.indexOf('\n\\.\n') + 1 : unread.lastIndexOf(10) + 1
      if (whole > 0) {
        const piece = unread.subarray(0, whole)
        this.#unread = unread.subarray(whole)
        this.#hash.update(piece)
        for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) count.rows++
        yield piece
      }
      if (isEnd) break
      if (!(await this.#more(rowBytesMax)))
        throw Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR' })
    }
    await this.line()
    this.#isBetween = true
  }

  /** Returns the digest of everything before the last line read. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  /**
   * Reads until a line ends or the buffer has doubled. Appending piece by piece would copy a long line once for each
   * piece.
   */
  async #more(bytesMax: number): Promise<boolean> {
    const unread = this.#unread
    if (unread.length > bytesMax) throw this.#tooLong(bytesMax)
    const read: Buffer[] = [unread]
    let bytes = 0
    for (;;) {
      const next = await this.#pieces.next()
      if (next.done === true) break
      read.push(next.value)
      bytes += next.value.length
      if (bytes >= unread.length || unread.length + bytes > bytesMax || next.value.includes(10)) break
    }
    if (bytes > 0) this.#unread = read.length === 2 && unread.length === 0 ? (read[1] ?? unread) : Buffer.concat(read)
    return bytes > 0
  }

  #account(): void {
    if (this.#lastLine !== undefined) this.#hash.update(this.#lastLine)
    this.#lastLine = undefined
  }
}
