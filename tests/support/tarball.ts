import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const block = 512

/**
 * Packs the files below a folder as npm does. Does not use `tar`, because files of pnpm with the same content are hard
 * links, which `tar` would pack as links.
 */
export async function tarball(folder: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path)
    const padding = Buffer.alloc((block - (content.length % block)) % block)
    pieces.push(
      header(
        `package${path.slice(folder.length)}`,
        content.length,
        (await stat(path)).mode & 0o100 ? '0000755\0' : '0000644\0',
      ),
      content,
      padding,
    )
  }
  return gzipSync(Buffer.concat([...pieces, Buffer.alloc(2 * block)]), { level: 1 })
}

/** Returns a header in the POSIX format (ustar). Divides a path of more than 100 bytes at a slash. */
function header(path: string, size: number, mode: string): Buffer {
  const cut = path.length <= 100 ? -1 : path.indexOf('/', path.length - 101)
  const bytes = Buffer.alloc(block)
  const put = (text: string, at: number) => bytes.write(text, at, 'utf8')
  put(path.slice(cut + 1), 0)
  put(mode, 100)
  put(`${size.toString(8).padStart(11, '0')}\0`, 124)
  put('00000000000\0', 136)
  put(' '.repeat(8), 148) // The checksum is computed with blanks in its place.
  put('0', 156)
  put('ustar\x0000', 257)
  put(cut === -1 ? '' : path.slice(0, cut), 345)
  const sum = bytes.reduce((total, byte) => total + byte, 0)
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return bytes
}
