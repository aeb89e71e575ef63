import type { Client } from './clients.ts'
import { operateJson } from './operate.ts'
import type { Environment } from './process.ts'

export interface NewAccount {
  readonly id: number
  readonly login: string
  readonly key: string
}

/** Opens an account with a key, by the command line. */
export async function openAccount(
  environment: Environment,
  login: string,
  credits: number,
  ...options: readonly string[]
): Promise<NewAccount> {
  const open = ['account', 'open', '--login', login, '--credits', String(credits), ...options]
  const { id } = await operateJson<{ id: number }>(open, environment)
  const { key } = await operateJson<{ key: string }>(['key', 'issue', String(id)], environment)
  return { id, login, key }
}

/** Reads a metric without labels from `/metrics`. */
export async function measure({ url }: Pick<Client, 'url'>, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1])
}
