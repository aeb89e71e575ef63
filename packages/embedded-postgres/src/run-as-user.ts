import { createHash } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** User that PostgreSQL runs as and that owns its files. */
export interface RunAsUser {
  readonly uid: number
  readonly gid: number
}

export const isRoot = (): boolean => process.getuid?.() === 0

const self = (): RunAsUser => ({ uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 })

/**
 * Options for `spawn` that run a process as `runAsUser`. They are empty unless this process is root, because only root
 * can change its user and only root needs to.
 */
export const actingAs = (runAsUser: RunAsUser): { uid?: number; gid?: number } => (isRoot() ? runAsUser : {})

/** User ids that systemd reserves for dynamic users of services, so that no person's account has one. */
const ownUids = { first: 61_184, count: 4_336 }

const nobody = 65_534
const isSharedName = ({ uid, name }: RunAsUser & { name: string }): boolean =>
  uid === nobody || ['nobody', '_postgres', 'postgres', 'daemon'].includes(name)

/**
 * Returns the users that a new cluster may belong to, best first. Normally this is the user of this process. For root
 * they are an unused user id, derived from the path so that two folders get different ids, and then a shared user.
 * Throws if this process is root and /etc/passwd names no suitable user.
 */
export const newRunAsUsers = async (dataDir: string): Promise<readonly RunAsUser[]> => {
  if (!isRoot()) return [self()]
  const users = await knownUsers()
  const shared = users.filter((user) => user.uid > 0 && isSharedName(user))
  const [one] = shared.sort((a, b) => Number(b.uid === nobody) - Number(a.uid === nobody))
  if (one !== undefined) return [unusedUser(dataDir, users), { uid: one.uid, gid: one.gid }]
  throw new Error(
    'PostgreSQL refuses to run as root, and /etc/passwd names no unprivileged user such as "nobody". ' +
      'Start as an ordinary user, or set DATABASE_URL to a PostgreSQL 15 to 18.',
  )
}

const unusedUser = (dataDir: string, users: readonly RunAsUser[]): RunAsUser => {
  const start = createHash('sha256').update(dataDir).digest().readUInt32BE(0) % ownUids.count
  for (let i = 0; ; i++) {
    const uid = ownUids.first + ((start + i) % ownUids.count)
    if (i === ownUids.count || !users.some((user) => user.uid === uid)) return { uid, gid: uid }
  }
}

/** Returns true if root runs PostgreSQL as a user of other programs too, which can then read its files and end it. */
export const isShared = async ({ uid }: RunAsUser): Promise<boolean> =>
  isRoot() && (uid === nobody || (await knownUsers()).some((user) => user.uid === uid && isSharedName(user)))

export const knownUsers = async (): Promise<(RunAsUser & { name: string })[]> => {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    return name === undefined || uid === undefined || gid === undefined ? [] : [{ name, uid: +uid, gid: +gid }]
  })
}

/** Returns true if the permission bits of `folder` and of every folder above it let `runAsUser` enter it. */
export const canEnter = async (folder: string, runAsUser: RunAsUser): Promise<boolean> => {
  for (let at = await realpath(folder); ; at = dirname(at)) {
    const { uid, gid, mode } = await stat(at)
    const bit = uid === runAsUser.uid ? 0o100 : gid === runAsUser.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}
