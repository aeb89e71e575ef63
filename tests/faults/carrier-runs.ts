import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Number of accepted submissions of each process, according to the record of the simulated carrier. */
export interface CarrierRuns {
  /**
   * Reads the new lines of the record. Returns a function that maps a process id to the number of accepted submissions
   * of that process.
   */
  read(): Promise<(pid: number | undefined) => number>
}

/**
 * Reads the record of the simulated carrier by runs. A run is one life of a simulated carrier, and its references have
 * the form `<run>-…`.
 */
export function carrierRuns(carriers: string): CarrierRuns {
  const folder = join(carriers, 'simulator')
  const beganBy = new Map<string, number>()
  const counts = new Map<string, number>()
  let at = 0
  let rest = ''

  /**
   * Stores the owner of each run. A process that takes over from a dead one renames its runs, so the first process seen
   * with a run is its owner.
   */
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
