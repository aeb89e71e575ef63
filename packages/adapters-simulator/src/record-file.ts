import { closeSync, fstatSync, openSync, readSync, writeSync, createReadStream } from 'node:fs'

/** A file that several processes append to at the same time. What was appended survives the end of the process. */
export interface AppendFile {
  /**
   * Appends whole lines in one write, behind a torn line on lines of their own. Throws a `NotWritten`, also once
   * closed.
   */
  append(lines: string): void
  /** Whole lines that were appended since the last call, by any process, a block at a time. */
  news(): Iterable<string>
  close(): void
}

/** `torn`: a part may be in the file all the same. */
export interface NotWritten extends Error {
  readonly torn: boolean
}

const blockBytes = 1 << 20

/** `news` begins at byte `from`. The kernel keeps writes to an O_APPEND file apart. */
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
      // The system may have given the number of a closed file to another one.
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
 * The whole lines of a file, a block at a time, and with the last block the number of bytes they take. A last line
 * without its end (a writer was killed) is left out, and so is it where somebody wrote on behind it; a file that is not
 * there is empty.
 */
export async function* linesOf(path: string): AsyncGenerator<{ lines: readonly string[]; bytes: number }> {
  let rest = ''
  let bytes = 0
  try {
    // Latin-1: one byte is one character; all lines are ASCII.
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
 * Reads the fields of a line: a flat JSON object whose values contain none of `, " { }`. Undefined if the line does not
 * end with `}`. After the rest of a torn line the last object counts. (JSON.parse took three times as long.)
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
