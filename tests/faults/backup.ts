import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { query } from '../../packages/embedded-postgres/testing/query.ts'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import type { Observations } from './observations.ts'
import { gatewayOf, type Gateway } from './operator.ts'
import { missingIds, wrongBalances, wrongScheduledCounts } from './state.ts'
import type { Environment } from '../support/process.ts'

export interface BackupOfRun {
  readonly file: string
  /** Ids that clients had received before the backup began. */
  readonly received: readonly number[]
}

interface BackingUp {
  readonly gateway: Gateway
  readonly folder: string
  readonly observations: Observations
  readonly figures: Figures
  /** End of the load, by performance.now(). */
  readonly end: number
}

/** Makes a backup during the load. Repeats this if the connection or PostgreSQL itself is lost meanwhile. */
export async function backUp({ gateway, folder, observations, figures, end }: BackingUp): Promise<BackupOfRun> {
  await delay((end - performance.now()) / 2)
  for (;;) {
    const reportedIds = [...observations.messages.keys()]
    const { code, out } = await gateway('backup', 'create', '--to', join(folder, 'backup'), '--json')
    figures.count(code === 0 ? 'backups made' : 'backups that were broken off')
    if (code === 0) return { file: (JSON.parse(out) as { readonly file: string }).file, received: reportedIds }
    await delay(500)
  }
}

interface Restoring {
  readonly root: string
  readonly database: Database
  /** Environment variables of the commands. */
  readonly environment: Environment
  readonly observations: Observations
  readonly figures: Figures
}

/**
 * Restores the backup into an empty database. Asserts that it contains the messages whose ids clients received before,
 * that its ledger adds up, and that no id is issued again.
 */
export async function judgeBackup({ file, received: reportedIds }: BackupOfRun, restoring: Restoring): Promise<void> {
  const { root, database, environment, observations, figures } = restoring
  await database.ask('create database restored')
  const there = database.connectionString.replace('/gateway?', '/restored?')
  const gateway = gatewayOf(root, { ...environment, DATABASE_URL: there })
  // The restore also verifies the ledger.
  const { code, out } = await gateway('backup', 'restore', file, '--json')
  if (code !== 0) {
    figures.broken('P-1', `a backup of the middle is not restored: ${out}`)
    return
  }
  const restored = { ask: async <Row>(text: string) => (await query(there, text)) as Row[] }
  const missing = await missingIds(restored, reportedIds)
  if (missing.length > 0) figures.broken('P-1', `the backup lacks ${missing.length} ids told before it: ${missing[0]}…`)
  for (const { id } of await wrongBalances(restored)) figures.broken('P-2', `account ${id} differs in the backup`)
  for (const { account } of await wrongScheduledCounts(restored))
    figures.broken('P-12', `account ${account} has another number of scheduled messages in the backup`)
  const { firstMessage } = JSON.parse(out) as { readonly firstMessage: number }
  const last = Math.max(...observations.messages.keys())
  if (firstMessage <= last) figures.broken('P-1', `after a restore ${firstMessage} is next, and ${last} was given out`)
  figures.count('ids told before the backup, and in it', reportedIds.length)
}
