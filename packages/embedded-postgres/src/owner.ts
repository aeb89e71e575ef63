import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The user that PostgreSQL runs as and that owns its files. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

export const isRoot = (): boolean => process.getuid?.() === 0

const self = (): Owner => ({ uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 })

/** What `spawn` needs to act as `owner`. Only root can change its user, and only root has to. */
export const actingAs = (owner: Owner): { uid?: number; gid?: number } => (isRoot() ? owner : {})

/**
 * The owner of a new cluster: the user of this process; for root, whom PostgreSQL refuses to run as, uid 65534, or the
 * first of a few unprivileged users if that one does not exist.
 */
export const newOwner = async (): Promise<Owner> => {
  if (!isRoot()) return self()
  const users = await knownUsers()
  for (const name of [65534, 'nobody', '_postgres', 'postgres', 'daemon']) {
    const user = users.find((known) => known.uid > 0 && (known.uid === name || known.name === name))
    if (user !== undefined) return { uid: user.uid, gid: user.gid }
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and /etc/passwd names no unprivileged user such as "nobody" to run it as. ' +
      'Start as an ordinary user, or set DATABASE_URL to a PostgreSQL 15 to 18.',
  )
}

export const knownUsers = async (): Promise<(Owner & { name: string })[]> => {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    return name === undefined || uid === undefined || gid === undefined ? [] : [{ name, uid: +uid, gid: +gid }]
  })
}

/** Whether the permission bits of `folder` and of every folder above it let `owner` pass. */
export const canEnter = async (folder: string, owner: Owner): Promise<boolean> => {
  for (let at = await realpath(folder); ; at = dirname(at)) {
    const { uid, gid, mode } = await stat(at)
    const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}
