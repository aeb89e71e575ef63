import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BenchmarkEnvironment } from './environment.ts'

const operator = join(fileURLToPath(new URL('../..', import.meta.url)), 'apps/operator/dist/main.js')

export interface SmppLogin {
  readonly systemId: string
  readonly password: string
}

/** Adds a credential with the greatest rate to an account, by the command line. */
export async function addSmppCredential(
  { database, folder }: Pick<BenchmarkEnvironment, 'database' | 'folder'>,
  account: number,
  { binds, window }: { readonly binds: number; readonly window: number },
): Promise<SmppLogin> {
  const limits = ['--binds', String(binds), '--window', String(window), '--per-second', '100000']
  const args = [operator, 'smpp', 'add', '--account', String(account), ...limits, '--json']
  const env = { ...process.env, DATABASE_URL: database.connectionString, DATA_DIR: folder }
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return JSON.parse(stdout) as SmppLogin
}
