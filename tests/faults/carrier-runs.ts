import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** What of the simulated carrier's record tells who submitted. */
export interface CarrierRuns {
  /** Reads on, and returns how many submissions of a process were accepted. */
  read(): Promise<(pid: number | undefined) => number>
}

/** One life of a simulated carrier is a run, and names its references `<run>-…`. */
export function carrierRuns(carriers: string): CarrierRuns {
  const folder = join(carriers, 'simulator')
  const beganBy = new Map<string, number>()
  const counts = new Map<string, number>()
  let at = 0
  let rest = ''

  /** Who takes over from a dead process renames its runs: whoever was seen first has begun it. */
  async function readOwners(): Promise<void> {
    for (const name of await readdir(join(folder, 'owners')).catch(() => [])) {
      const [run = '', owner = ''] = name.split('.')
      if (!beganBy.has(run)) beganBy.set(run, Number(owner.split('-')[0]))
    }
  }

  async function readRecord(): Promise<void> {
    const file = await open(join(folder, 'submissions.jsonl')).catch(() => undefined)
    if (file === undefined) return
    try {
      const { size } = await file.stat()
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - at), 0, size - at, at)
      at += bytesRead
      const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const run = /"carrierId":"([^"-]+)-/.exec(line)?.[1]
        if (run !== undefined) counts.set(run, (counts.get(run) ?? 0) + 1)
      }
    } finally {
      await file.close()
    }
  }

  return {
    async read() {
      await readOwners()
      await readRecord()
      return (pid) => [...beganBy].reduce((sum, [run, by]) => (by === pid ? sum + (counts.get(run) ?? 0) : sum), 0)
    },
  }
}
