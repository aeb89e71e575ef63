import { createReadStream } from 'node:fs'

/**
 * The whole lines of a file, a block at a time, and with the last block the number of bytes they take. A last line without its end
 * (a writer was killed) is left out, and so is it where somebody wrote on behind it; a file that is not there is empty.
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
 * Reads the fields of a line: a flat JSON object whose values contain none of `, " { }`. Undefined if the line does not end with `}`.
 * After the rest of a torn line the last object counts. (JSON.parse took three times as long.)
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
