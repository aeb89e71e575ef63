import { isUtf8 } from 'node:buffer'
import { decodeWindows1252 } from '@gateway/wire'

/**
 * What a name or value of a query or form stands for (ruling 3.1): `+` is a space, `%XX` a byte, a malformed `%` stays as
 * it is; the bytes are UTF-8, or else windows-1252. `raw` has one character for each byte (latin1), as node hands over a
 * request line.
 */
export function decodePercent(raw: string): string {
  if (!/[%+\u0080-\u00ff]/.test(raw)) return raw
  const bytes = bytesOf(raw)
  return isUtf8(bytes) ? bytes.toString() : decodeWindows1252(bytes)
}

function bytesOf(raw: string): Buffer {
  const bytes = Buffer.allocUnsafe(raw.length)
  let length = 0
  for (let i = 0; i < raw.length; i++) {
    const unit = raw.charCodeAt(i)
    const byte = unit === percent ? byteAt(raw, i + 1) : undefined
    if (byte !== undefined) i += 2
    bytes[length++] = byte ?? (unit === plus ? space : unit)
  }
  return bytes.subarray(0, length)
}

const [percent, plus, space] = [0x25, 0x2b, 0x20]

/** The byte that two hexadecimal digits at `i` stand for; undefined if they are not there. */
function byteAt(raw: string, i: number): number | undefined {
  const high = hexadecimal(raw.charCodeAt(i))
  const low = hexadecimal(raw.charCodeAt(i + 1))
  return high === undefined || low === undefined ? undefined : high * 16 + low
}

/** NaN, behind the end of the text, is no digit either. */
function hexadecimal(unit: number): number | undefined {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30
  const letter = unit | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : undefined
}
