import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Ownership of runs: the owner of a run sends its outstanding receipts. A run is the lifetime of one simulated carrier,
 * represented by an empty file `owners/<run>.<process>`. A run of a dead process is taken over by renaming the file,
 * which succeeds for only one of several processes.
 */
export interface Owners {
  /** Makes this process the owner of a run. */
  own(run: string): void
  /** Takes over the runs of dead processes. */
  takeOver(): void
  /** Returns true if another living process owns this run. */
  isForeign(run: string): boolean
  /** Returns true if another living process uses the folder. */
  isShared(): boolean
  /** Deletes the owner file of every run of this process except `runs`, which still have outstanding receipts. */
  releaseExcept(runs: ReadonlySet<string>): void
  /** Ends the ownership of all runs of this process, so that another process can take them over. */
  release(): void
}

const nobody = '0-0'

export function owners(folder: string): Owners {
  const home = join(folder, 'owners')
  const me = identityOf(process.pid) ?? `${process.pid}-0`
  mkdirSync(home, { recursive: true, mode: 0o700 })

  const all = () =>
    readdirSync(home).flatMap((name) => {
      const [run, owner] = name.split('.')
      return run === undefined || owner === undefined ? [] : [{ name, run, owner }]
    })
  const mine = new Set<string>()
  let foreign: ReadonlySet<string> = new Set()
  const rename = (name: string, to: string): boolean => {
    try {
      renameSync(join(home, name), join(home, to))
      return true
    } catch {
      return false // Another process has renamed it first.
    }
  }

  return {
    own(run) {
      writeFileSync(join(home, `${run}.${me}`), '', { mode: 0o600 })
      mine.add(run)
    },
    takeOver() {
      for (const { name, run, owner } of all()) {
        if (!mine.has(run) && !isAlive(owner) && rename(name, `${run}.${me}`)) mine.add(run)
      }
      foreign = new Set(all().flatMap(({ run }) => (mine.has(run) ? [] : [run])))
    },
    isForeign: (run) => foreign.has(run),
    isShared: () => all().some(({ run }) => !mine.has(run)),
    releaseExcept(runs) {
      for (const run of mine) {
        if (runs.has(run)) continue
        rmSync(join(home, `${run}.${me}`), { force: true })
        mine.delete(run)
      }
    },
    release() {
      for (const run of mine) rename(`${run}.${me}`, `${run}.${nobody}`)
      mine.clear()
    },
  }
}

const isAlive = (owner: string): boolean => identityOf(Number(owner.split('-')[0])) === owner

/**
 * Identifies a process by its number and start time, because numbers are reused. Without /proc, every other process
 * counts as dead. A receipt may then be sent twice, which is harmless (P-7).
 */
function identityOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, started] = [fields[0], fields[19]]
    return state === 'Z' || started === undefined ? undefined : `${pid}-${started}`
  } catch {
    return undefined
  }
}
