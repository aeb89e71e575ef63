import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Line in the record of the simulated carrier. */
export interface Submitted {
  /** Time in ISO 8601. */
  readonly time: string
  readonly messageId: number
  readonly number: string
  readonly from: string | null
  readonly answer: string
  /** Carrier's id; null unless it accepted the message. */
  readonly carrierId: string | null
  /** Time of the recipient's reply in ISO 8601, if there is one. */
  readonly replies?: string
}

/** Returns all submissions to the simulated carrier of these data folders. */
export async function submissions(folder: string): Promise<Submitted[]> {
  const files = await readdir(folder, { recursive: true }).catch(() => [])
  const records = files.filter((file) => /submissions[^/]*\.jsonl$/.test(file))
  const lines: Submitted[] = []
  for (const file of records) {
    for (const line of (await readFile(join(folder, file), 'utf8')).split('\n')) {
      // A kill may have truncated the last line of a run, so incomplete lines are skipped.
      if (line.endsWith('}')) lines.push(JSON.parse(line) as Submitted)
    }
  }
  return lines
}
