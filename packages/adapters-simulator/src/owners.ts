import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Which process owes the receipts of which run. A run is one life of a simulated carrier; it is an empty file
 * `owners/<run>.<process>`, and taking over from a dead process is a rename, in which only one of several succeeds.
 */
export interface Owners {
  /** Assigns a run to this process. */
  own(run: string): void
  /** Takes over the runs of dead processes. */
  takeOver(): void
  /** Whether another living process owes what this run owes. */
  isForeign(run: string): boolean
  /** Whether any other living process uses the folder. */
  isShared(): boolean
  /** Releases every run of this process except these, which still owe receipts. */
  keep(runs: ReadonlySet<string>): void
  /** Releases the runs of this process to the next one. */
  leave(): void
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
  const pass = (name: string, to: string): boolean => {
    try {
      renameSync(join(home, name), join(home, to))
      return true
    } catch {
      return false // another one was faster
    }
  }

  return {
    own(run) {
      writeFileSync(join(home, `${run}.${me}`), '', { mode: 0o600 })
      mine.add(run)
    },
    takeOver() {
      for (const { name, run, owner } of all()) {
        if (!mine.has(run) && !isAlive(owner) && pass(name, `${run}.${me}`)) mine.add(run)
      }
      foreign = new Set(all().flatMap(({ run }) => (mine.has(run) ? [] : [run])))
    },
    isForeign: (run) => foreign.has(run),
    isShared: () => all().some(({ run }) => !mine.has(run)),
    keep(runs) {
      for (const run of mine) {
        if (runs.has(run)) continue
        rmSync(join(home, `${run}.${me}`), { force: true })
        mine.delete(run)
      }
    },
    leave() {
      for (const run of mine) pass(`${run}.${me}`, `${run}.${nobody}`)
      mine.clear()
    },
  }
}

const isAlive = (owner: string): boolean => identityOf(Number(owner.split('-')[0])) === owner

/**
 * A process by its number and when it started, so that a number that is used again is not taken for it. Where that
 * cannot be told (no /proc) every other process counts as dead: then a receipt may be sent twice, which is harmless
 * (P-7).
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
