import { execFile } from 'node:child_process'
import { appendFile, chmod, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { migrate } from '@gateway/adapters-postgres'
import { startEmbeddedPostgres } from '@gateway/embedded-postgres'

/** File system in memory. A new database takes 0.04 s of CPU there, and 0.13 to 0.25 s on a disk. */
const inMemory = '/dev/shm'
const bytesNeeded = 4 * 2 ** 30

/**
 * Makes a folder for all data of a test run. The folder is in memory if there is enough memory and PostgreSQL runs
 * there. It has an empty cluster, and a migrated cluster that tests copy but never start.
 */
export async function makeClusters() {
  if (await hasMemory()) {
    try {
      return await makeClustersIn(inMemory)
    } catch {
      // If the folder in memory did not cause the error, the attempt on the disk fails with the same error.
    }
  }
  return makeClustersIn(tmpdir())
}

async function hasMemory() {
  const room = await statfs(inMemory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return Math.min(room, freemem(), process.constrainedMemory() || Infinity) >= bytesNeeded
}

async function makeClustersIn(place) {
  const folder = await mkdtemp(join(place, 'gateway-'))
  try {
    await chmod(folder, 0o755) // for the user that PostgreSQL runs as if this process is root
    const [empty, migrated] = [join(folder, 'empty'), join(folder, 'migrated')]
    await run(empty)
    // Keeps shared memory in the folder, which is removed after the run. In /dev/shm it would stay if the server is
    // killed.
    await appendFile(join(empty, 'postgres', 'postgresql.conf'), 'dynamic_shared_memory_type = mmap\n')
    await mkdir(migrated)
    await promisify(execFile)('cp', ['-a', join(empty, 'postgres'), migrated])
    await run(migrated, migrate)
    return { folder, empty, migrated }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function run(dataDir, meanwhile = () => undefined) {
  const server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } })
  try {
    await meanwhile(server.connectionString)
  } finally {
    await server.stop()
  }
}
