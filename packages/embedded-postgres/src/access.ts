import { randomBytes } from 'node:crypto'
import { lchown, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { unless } from './errors.ts'
import { isRoot, isShared, knownUsers, type RunAsUser } from './run-as-user.ts'

/** The one superuser, and the database that `connectionString` names. */
export const role = 'gateway'

/**
 * Says who is let in, as superuser: root and the run-as user, known by the kernel (`peer`), on the socket only. A run-as user whom other
 * programs may run as is not let in. Takes effect when the server starts.
 */
export const writeAccess = async (cluster: Cluster): Promise<void> => {
  const names = await namesOf(cluster.runAsUser)
  // PostgreSQL looks the name of whoever connects up; one that has none is kept out by the mode of the folder alone.
  const isNameless = !isRoot() && names.length === 1
  const way = isNameless ? 'trust' : 'peer map=gateway'
  await replace(cluster, 'pg_hba.conf', `local all ${role} ${way}\n`)
  await replace(cluster, 'pg_ident.conf', names.map((name) => `gateway "${name}" ${role}\n`).join(''))
}

const namesOf = async (runAsUser: RunAsUser): Promise<readonly string[]> => {
  const own = (await knownUsers()).find(({ uid }) => uid === runAsUser.uid)?.name
  return own === undefined || own === 'root' || (await isShared(runAsUser)) ? ['root'] : ['root', own]
}

const heading = '# Written by the gateway at each start.\n'

/** Moved in place whole, and not touched where it is right already. */
const replace = async ({ folder, runAsUser }: Cluster, name: string, text: string): Promise<void> => {
  const path = join(folder, name)
  if ((await unless(['ENOENT'], readFile(path, 'utf8'))) === heading + text) return
  const aside = `${path}.new-${randomBytes(6).toString('hex')}`
  // Exclusive: never through a link that another has put there.
  await writeFile(aside, heading + text, { mode: 0o600, flag: 'wx' })
  if (isRoot()) await lchown(aside, runAsUser.uid, runAsUser.gid)
  await rename(aside, path)
}
