import { randomBytes, randomInt } from 'node:crypto'
import type { Configuration } from './configuration.ts'

/** Runs an operator's command that must succeed and returns its JSON document. */
export type Operate = (args: readonly string[]) => Promise<unknown>

interface Preparation {
  readonly operate: Operate
  /** Command line of the gateway, which the suite calls to deliver replies. */
  readonly gateway: readonly string[]
  /** Address to which replies are sent, one of SENDERS. */
  readonly replyTo: string
  /** Host and port of the SMPP server; undefined: its cases are not testable. */
  readonly smpp?: { readonly host: string; readonly port: number } | undefined
}

/** Outcomes of the simulated carrier by the ending of the number. */
const outcomes = [
  { ending: 90, statusCode: 103, refunded: false },
  { ending: 91, statusCode: 101, refunded: false },
  { ending: 92, statusCode: 107, refunded: false },
  { ending: 93, statusCode: 111, refunded: true },
  { ending: 94, statusCode: 100, refunded: false },
  { ending: 95, statusCode: 106, refunded: false },
  { ending: 98, statusCode: 0, refunded: false },
]

/**
 * Creates the accounts and keys of the suite in a gateway with the simulated carrier, by operator's commands, and
 * returns the configuration. Names and numbers have a random part, so that it can be called more than once.
 */
export async function prepare({ operate, gateway, replyTo, smpp }: Preparation): Promise<Configuration> {
  const name = `conformance-${randomBytes(4).toString('hex')}`
  const area = String(randomInt(10_000)).padStart(4, '0')
  const number = (rest: string): string => `2782${area}${rest}`
  const password = randomBytes(12).toString('base64url')
  const open = async (login: string, ...options: readonly string[]) => {
    const { id } = (await operate(['account', 'open', '--login', `${name}-${login}`, ...options])) as { id: number }
    const { key } = (await operate(['key', 'issue', String(id)])) as { key: string }
    return { id, key }
  }
  const withPassword = ['--password', password]
  const main = await open('main', '--credits', '5000', ...withPassword)
  const under = ['--parent', String(main.id)]
  const sub = await open('sub', ...under)
  const otherSub = await open('other-sub', ...under)
  const stranger = await open('stranger', '--credits', '100')
  const locked = await open('locked', ...under, '--credits', '10', ...withPassword)
  const lockedMain = await open('locked-main', '--credits', '10')
  const subOfLocked = await open('sub-of-locked', '--parent', String(lockedMain.id), '--credits', '10')
  const ownNumber = number('204')
  const trial = await open('trial', '--trial', '--own-number', ownNumber, '--credits', '10')
  const transactional = await open('transactional', '--transactional', '--credits', '10')
  const limited = await open('limited')
  const coded = await open('coded', '--credits', '10')
  const code = `31${area}`
  const revoked = (await operate(['key', 'issue', String(main.id)])) as { id: number; key: string }
  const [blacklisted, doNotContact, optedOutByHand] = [number('201'), number('202'), number('203')]
  const priced = `2783${area}`
  for (const command of [
    ['account', 'lock', String(locked.id)],
    ['account', 'lock', String(lockedMain.id)],
    ['account', 'limit', String(limited.id), '--requests', '1'],
    ['shortcode', 'assign', code, String(coded.id)],
    ['key', 'revoke', String(revoked.id)],
    ['number', 'block', blacklisted, '--reason', 'blacklisted'],
    ['number', 'block', doNotContact, '--reason', 'do-not-contact'],
    ['optout', 'add', String(main.id), optedOutByHand],
    ['price', 'set', priced, '0.5'],
  ])
    await operate(command)
  const limits = ['--binds', '10', '--window', '10', '--per-second', '1000']
  const credential =
    smpp &&
    ((await operate(['smpp', 'add', '--account', String(main.id), ...limits])) as {
      systemId: string
      password: string
    })
  return {
    ...(smpp && credential && { smpp: { ...smpp, systemId: credential.systemId, password: credential.password } }),
    accounts: {
      main: { ...main, user: `${name}-main`, password },
      sub: { ...sub, login: `${name}-sub` },
      otherSub,
      stranger,
      locked: { ...locked, user: `${name}-locked`, password },
      lockedMain: { ...lockedMain, sub: subOfLocked.id },
      trial: { ...trial, ownNumber },
      transactional,
      limited,
      coded: { ...coded, code },
    },
    keys: { revoked: revoked.key },
    numbers: {
      // The simulated carrier delivers messages to numbers with these endings.
      delivered: Array.from({ length: 60 }, (_, i) => number(String(i).padStart(3, '0'))),
      price: 1,
      outcomes: outcomes.map(({ ending, statusCode, refunded }) => ({
        number: number(`1${ending}`),
        statusCode,
        refunded,
      })),
      priced: { number: `${priced}001`, price: 0.5 },
      blacklisted,
      doNotContact,
      optedOutByHand,
    },
    replies: {
      command: [...gateway, 'simulate', 'reply', '--from', '{from}', '--to', '{to}', '--text', '{text}'],
      to: replyTo,
    },
  }
}
