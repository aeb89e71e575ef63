import { setImmediate as nextTurn } from 'node:timers/promises'
import sax from 'sax'
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl'
import type { RecordsProblem } from '../csv-records.ts'

export type WorkbookProblem =
  RecordsProblem | 'not-a-workbook' | 'damaged-workbook' /** Too large once it is unpacked. */ | 'large-workbook'

/** Ends the reading of a workbook, wherever the problem was found. */
export class WorkbookError extends Error {
  readonly problem: WorkbookProblem

  constructor(problem: WorkbookProblem, options?: ErrorOptions) {
    super(problem, options)
    this.problem = problem
  }
}

/** Maximum size of all parts of a workbook that are read, once unpacked, in bytes. */
const unpackedBytesMax = 128 * 1024 * 1024
const entriesMax = 5000

/** Handlers of the elements of a part. Names have no prefix of a namespace. */
export interface PartHandler {
  open?(name: string, attributes: Readonly<Record<string, string>>): void
  text?(text: string): void
  close?(name: string): void
}

/** Reads the parts of a workbook, a ZIP archive of XML files. Macros and all other parts are never unpacked. */
export class WorkbookParts {
  readonly #archive: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>
  #unpackedBytes = 0

  private constructor(archive: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#archive = archive
    this.#entries = entries
  }

  /** Reads the directory of the archive. */
  static async open(bytes: Buffer): Promise<WorkbookParts> {
    return asDamaged(async () => {
      const archive = await fromBufferPromise(bytes, { lazyEntries: true })
      const entries = new Map<string, Entry>()
      for await (const entry of archive.eachEntry()) {
        entries.set(entry.fileName.toLowerCase(), entry)
        if (entries.size > entriesMax) throw new WorkbookError('not-a-workbook')
      }
      return new WorkbookParts(archive, entries)
    })
  }

  has(path: string): boolean {
    return this.#entries.has(path.toLowerCase())
  }

  /**
   * Unpacks and parses a part piece by piece, yielding to other requests. Does nothing if there is no such part. An
   * archive that claims a smaller size than its data has is damaged, so the claimed size bounds the work.
   */
  async read(path: string, handler: PartHandler): Promise<void> {
    const entry = this.#entries.get(path.toLowerCase())
    if (entry === undefined) return
    this.#unpackedBytes += entry.uncompressedSize
    if (this.#unpackedBytes > unpackedBytesMax) throw new WorkbookError('large-workbook')
    await asDamaged(async () => {
      const parser = parserOf(handler)
      let decoder: TextDecoder | undefined
      for await (const piece of await this.#archive.openReadStreamPromise(entry)) {
        const bytes = piece as Buffer
        decoder ??= decoderOf(bytes)
        parser.write(decoder.decode(bytes, { stream: true }))
        await nextTurn()
      }
      parser.close()
    })
  }
}

/** XML is UTF-8 unless a byte order mark says otherwise. */
function decoderOf([first, second]: Buffer): TextDecoder {
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le', { fatal: true })
  return new TextDecoder(first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8', { fatal: true })
}

function parserOf(handler: PartHandler): sax.SAXParser {
  const parser = sax.parser(true)
  parser.onopentag = ({ name, attributes }) => handler.open?.(localName(name), attributes as Record<string, string>)
  parser.ontext = (value) => handler.text?.(value)
  parser.oncdata = (value) => handler.text?.(value)
  parser.onclosetag = (name) => handler.close?.(localName(name))
  parser.onerror = (error) => {
    throw error
  }
  return parser
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** Runs `work`. Its errors, which the archive and the XML of a damaged file cause, become `damaged-workbook`. */
async function asDamaged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof WorkbookError ? error : new WorkbookError('damaged-workbook', { cause: error })
  }
}
