import { readdir, readFile } from 'node:fs/promises'

/** Kernel clock ticks per second, the same on every architecture that Node supports. */
const ticksPerSecond = 100
const microsecondsPerTick = 1e6 / ticksPerSecond

interface Stat {
  readonly name: string
  readonly parent: number
  /** User and system time of the process itself, in µs. */
  readonly own: number
  /** User and system time of its ended children that were waited for, in µs. */
  readonly ended: number
}

/** Reads the CPU time of a process. Returns undefined if the process does not exist, or the system has no /proc. */
async function statOf(pid: number | string): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const close = text.lastIndexOf(')')
  const fields = text.slice(close + 2).split(' ')
  const ticks = (...places: number[]): number =>
    places.reduce((sum, place) => sum + Number(fields[place] ?? NaN), 0) * microsecondsPerTick
  return {
    name: text.slice(text.indexOf('(') + 1, close),
    parent: Number(fields[1]),
    own: ticks(11, 12),
    ended: ticks(13, 14),
  }
}

/**
 * Returns the CPU time of a process with all its threads since its start, in µs, counted in steps of 10 ms. NaN if it
 * is not known.
 */
export const cpuOf = async (pid: number): Promise<number> => (await statOf(pid))?.own ?? NaN

/** Returns the CPU time of this process and of its ended children, in µs. */
export async function ownCpu(): Promise<number> {
  const stat = await statOf(process.pid)
  return stat === undefined ? NaN : stat.own + stat.ended
}

/** Returns the CPU time of the whole machine, in µs, including time stolen by its host. NaN if it is not known. */
export async function machineCpu(): Promise<number> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => '')
  const [user = NaN, nice = NaN, system = NaN, , , irq = NaN, softIrq = NaN, stolen = NaN] =
    /^cpu +(.*)/.exec(text)?.[1]?.split(' ').map(Number) ?? []
  return (user + nice + system + irq + softIrq + stolen) * microsecondsPerTick
}

export interface Memory {
  readonly residentMegabytes: number
  /** Largest resident memory since the start. */
  readonly peakMegabytes: number
}

export async function memoryOf(pid: number): Promise<Memory> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? NaN) / 1024
  return { residentMegabytes: megabytes('VmRSS'), peakMegabytes: megabytes('VmHWM') }
}

/** Returns the parent of a backend, if both are processes of PostgreSQL on this machine. */
export async function postmasterOf(backend: number): Promise<number | undefined> {
  const own = await statOf(backend)
  const parent = own === undefined ? undefined : await statOf(own.parent)
  return own?.name === 'postgres' && parent?.name === 'postgres' ? own.parent : undefined
}

/**
 * Returns the CPU time of a whole PostgreSQL since its start, in µs: the postmaster, its living children, and its ended
 * children, whose time the postmaster inherits when it waits for them. Reads again if a child ended meanwhile, so that
 * none is missed or counted twice.
 */
export async function postgresCpu(postmaster: number | undefined): Promise<number> {
  if (postmaster === undefined) return NaN
  for (let attempt = 1; ; attempt++) {
    const before = await statOf(postmaster)
    const children = await childrenOf(postmaster)
    const living = (await Promise.all(children.map(preciseCpu))).reduce((sum, cpu) => sum + cpu, 0)
    const after = await statOf(postmaster)
    if (before === undefined || after === undefined) return NaN
    if (before.ended === after.ended || attempt === 20) return after.own + after.ended + living
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map(async (pid) => ({ pid: Number(pid), stat: await statOf(pid) })))
  return stats.flatMap(({ pid, stat }) => (stat?.parent === parent ? [pid] : []))
}

/**
 * Returns the CPU time with a precision of nanoseconds if the kernel reports it (a process of PostgreSQL has one
 * thread), else in steps of 10 ms.
 */
async function preciseCpu(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => undefined)
  const nanoseconds = Number(text?.split(' ')[0] ?? 0)
  return nanoseconds > 0 ? nanoseconds / 1000 : ((await statOf(pid))?.own ?? 0)
}
