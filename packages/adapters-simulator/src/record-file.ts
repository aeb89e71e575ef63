import { closeSync, fstatSync, openSync, readSync, writeSync, createReadStream } from 'node:fs'

/** File that several processes append to at the same time. Appended lines survive the end of the process. */
export interface AppendFile {
  /**
   * Appends whole lines in one write. If the file ends with a torn line, the appended lines begin on a new line. Throws
   * a `NotWritten` if the write fails or the file was closed.
   */
  append(lines: string): void
  /** Returns the whole lines that any process has appended since the last call, one block at a time. */
  news(): Iterable<string>
  close(): void
}

/** Failure to append. `torn` is true if a part of the lines may be in the file. */
export interface NotWritten extends Error {
  readonly torn: boolean
}

const blockBytes = 1 << 20

/** Opens a file. `news` begins at byte `from`. The kernel does not mix writes to an O_APPEND file. */
export function appendFile(path: string, from: number): AppendFile {
  const file = openSync(path, 'a+', 0o600)
  const lastByte = Buffer.alloc(1)
  let block: Buffer | undefined
  let position = from
  let isOpen = true

  function endsInLine(): boolean {
    const { size } = fstatSync(file)
    if (size === 0) return true
    readSync(file, lastByte, 0, 1, size - 1)
    return lastByte[0] === 10
  }

  return {
    append(lines) {
      // Writing could change another file, because the system may have reused the descriptor of the closed file.
      if (!isOpen) throw notWritten('it is closed', false)
      const bytes = Buffer.from(endsInLine() ? lines : `\n${lines}`, 'latin1')
      for (let written = 0; written < bytes.length;) {
        try {
          written += writeSync(file, bytes, written)
        } catch (cause) {
          throw notWritten(cause, written > 0)
        }
      }
    },
    *news() {
      const bytes = (block ??= Buffer.allocUnsafe(blockBytes))
      for (;;) {
        const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, blockBytes, position))
        const whole = text.slice(0, text.lastIndexOf('\n') + 1)
        if (whole === '') return
        position += whole.length
        yield whole
      }
    },
    close() {
      if (isOpen) closeSync(file)
      isOpen = false
    },
  }
}

const notWritten = (cause: unknown, torn: boolean): NotWritten =>
  Object.assign(new Error('the record cannot be written', { cause }), { torn })

/**
 * Reads the whole lines of a file, one block at a time, with the number of bytes read so far. Omits a last line that
 * has no end because its writer was killed. A missing file counts as empty.
 */
export async function* linesOf(path: string): AsyncGenerator<{ lines: readonly string[]; bytes: number }> {
  let rest = ''
  let bytes = 0
  try {
    // Latin-1, because one byte is then one character; all lines are ASCII.
    for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
      const lines = (rest + (chunk as string)).split('\n')
      bytes += (chunk as string).length
      rest = lines.pop() ?? ''
      yield { lines, bytes: bytes - rest.length }
    }
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== 'ENOENT') throw problem
  }
}

/**
 * Returns a function that reads the fields of a line. The line is a flat JSON object whose values contain none of `, "
 * { }`. Returns undefined if the line does not end with `}`. If a torn line precedes the object on the same line, the
 * last object is read. (JSON.parse takes three times as long.)
 */
export function fieldsOf(line: string): ((name: string) => string | undefined) | undefined {
  const start = line.lastIndexOf('{')
  if (start < 0 || !line.endsWith('}')) return undefined
  return (name) => {
    const key = line.indexOf(`"${name}":`, start)
    if (key < 0) return undefined
    const from = key + name.length + 3
    const comma = line.indexOf(',', from)
    const value = line.slice(from, comma < 0 ? line.length - 1 : comma)
    return value.startsWith('"') ? value.slice(1, -1) : value
  }
}
