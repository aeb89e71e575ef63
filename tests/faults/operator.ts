import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { operate as operateHere } from '../support/operate.ts'
import { cleanEnvironment, entryOf, type Environment } from '../support/process.ts'
import { webhookEventTypes } from '@gateway/core/webhooks'
import type { Chance } from '@gateway/core/testing'
import type { AccountUnderTest } from './load.ts'
import type { Figures } from './figures.ts'
import type { Observations } from './observations.ts'
import type { Receiver } from './receiver.ts'

export interface Said {
  readonly code: number | null
  readonly out: string
}

/** Runs the command line of a checkout. */
export type Gateway = (...args: readonly string[]) => Promise<Said>

export const gatewayOf =
  (root: string, environment: Environment): Gateway =>
  (...args) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [entryOf('operator', root), ...args], {
        cwd: root,
        env: cleanEnvironment(environment),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let out = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (out += text))
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, out }))
    })

/** Runs the command line from its sources in this process, which takes a tenth of the time. */
export const gatewayHere =
  (environment: Environment): Gateway =>
  async (...args) => {
    const { code, out, err } = await operateHere(args, environment)
    return { code, out: out + err }
  }

async function json<Result>(gateway: Gateway, ...args: readonly string[]): Promise<Result> {
  const { code, out } = await gateway(...args, '--json')
  if (code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${String(code)}: ${out}`)
  return JSON.parse(out) as Result
}

/** Opens a family of four accounts, one of them poor, and a separate rich account. */
export async function openAccounts(gateway: Gateway): Promise<readonly AccountUnderTest[]> {
  const open = async (login: string, credits: number, parent?: number): Promise<AccountUnderTest> => {
    const family = parent === undefined ? [] : ['--parent', String(parent)]
    const opening = ['account', 'open', '--login', login, '--credits', String(credits), ...family]
    const { id } = await json<{ id: number }>(gateway, ...opening)
    const { key } = await json<{ key: string }>(gateway, 'key', 'issue', String(id))
    return { id, key, related: parent !== undefined || login === 'main', poor: login === 'poor' }
  }
  const main = await open('main', 500_000)
  const subs = await Promise.all([open('sub', 20_000, main.id), open('poor', 60, main.id)])
  return [main, ...subs, ...(await Promise.all([open('other-sub', 20_000, main.id), open('stranger', 500_000)]))]
}

/** Adds endpoints for these accounts that receive every event with texts. */
export async function openEndpoints(gateway: Gateway, receiver: Receiver, accounts: readonly number[]): Promise<void> {
  for (const [i, account] of accounts.entries()) {
    const to = ['--account', String(account), '--url', receiver.urlOf(account), '--events', webhookEventTypes.join()]
    const listed = ['--list-size', String([100, 7][i] ?? 20), '--with-text']
    const { id, secret } = await json<{ id: number; secret: string }>(gateway, 'webhook', 'add', ...to, ...listed)
    receiver.expect(account, id, secret)
  }
}

export interface Operating {
  readonly chance: Chance
  readonly figures: Figures
  readonly observations: Observations
  readonly gateway: Gateway
  readonly accounts: readonly AccountUnderTest[]
  /** End of the load, by performance.now(). */
  readonly end: number
}

/**
 * Blocks numbers with waiting messages, locks and unlocks accounts, and tops up the poor one, until the end. No account
 * stays locked.
 */
export async function operate({ chance, figures, observations, gateway, accounts, end }: Operating): Promise<void> {
  const stranger = accounts.at(-1)
  const poor = accounts.find((account) => account.poor)
  const operate = async (...args: readonly string[]): Promise<void> => {
    const { code } = await gateway(...args)
    figures.count(`commands ${args.slice(0, 2).join(' ')}${code === 0 ? '' : ' (failed)'}`)
  }
  const waitingNumber = (): string | undefined => {
    const waiting = [...observations.messages.values()].filter(({ final }) => final === undefined).slice(-1000)
    return waiting.length === 0 ? undefined : chance.one(waiting).number
  }
  while (performance.now() < end) {
    const number = waitingNumber()
    if (number !== undefined) await operate('number', 'block', number, '--reason', 'blacklisted')
    if (stranger !== undefined && chance.happens(0.5)) {
      await operate('account', 'lock', String(stranger.id))
      await delay(chance.between(100, 1000))
      await operate('account', 'unlock', String(stranger.id))
    }
    if (poor !== undefined) await operate('credits', 'top-up', String(poor.id), '30', '--why', 'more')
    if (number !== undefined && chance.happens(0.5)) {
      await operate('number', 'unblock', number, '--reason', 'blacklisted')
    }
    await delay(chance.between(500, 4000))
  }
  const unlocked = async (): Promise<boolean> =>
    stranger === undefined || (await gateway('account', 'unlock', String(stranger.id))).code === 0
  while (!(await unlocked())) await delay(500)
}
