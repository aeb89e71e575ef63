import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { postgresPorts } from '@gateway/adapters-postgres'
import type { createProcessing } from '@gateway/core'
import type { CarrierId } from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { aCarrierId, type Chance } from '@gateway/core/testing'
import type { Figures } from './figures.ts'
import type { Gateway } from './operator.ts'
import { optOutText, type DeliveredReply, type Observations } from './observations.ts'

export interface Replies {
  readonly chance: Chance
  readonly figures: Figures
  readonly observations: Observations
  readonly connectionString: string
  /** Checkout whose build stores the replies. */
  readonly root: string
  /** Name of the carrier that delivers the replies. */
  readonly carrier: string
  readonly codes: readonly Code[]
  /** End of the load, by performance.now(). */
  readonly end: number
}

/** Short code with the account to which it belongs. */
export interface Code {
  readonly code: string
  readonly account: number
}

const togetherMax = 60
const insistMilliseconds = 60_000

export async function assignCodes(gateway: Gateway, accounts: readonly number[]): Promise<readonly Code[]> {
  const codes = accounts.map((account) => ({ code: `4040${account}`, account }))
  for (const { code, account } of codes) {
    const { code: ended, out } = await gateway('shortcode', 'assign', code, String(account))
    if (ended !== 0) throw new Error(out)
  }
  return codes
}

/**
 * Delivers inbound messages until the end, as a link to a carrier does. They go to short codes, or come from numbers
 * that the accounts wrote to. A message that was not acknowledged is delivered again under the same reference, and so
 * are some acknowledged ones.
 */
export async function bringReplies(replies: Replies): Promise<void> {
  const { chance, connectionString, figures, observations } = replies
  const build = await buildOf(replies.root)
  const settings = { hotConnectionsMax: 1, ordinaryConnectionsMax: 1 }
  const postgres = build.postgresPorts({ connectionString, settings })
  const processing = build.createProcessing({ ...postgres.ports, clock: postgres.clock })
  let count = 0
  try {
    while (performance.now() < replies.end) {
      const newReplies = Array.from({ length: 1 + chance.below(togetherMax) }, () => next(replies, count++))
      const carrier = aCarrierId(replies.carrier)
      const arrivals = newReplies.flatMap((one) => arrivalsOf(one, carrier, chance))
      const accept = () => processing.acceptInboundMessages(carrier, arrivals)
      if (await insist(accept)) {
        observations.deliveredReplies.push(...newReplies)
        figures.count('replies delivered', newReplies.length)
      } else figures.broken('P-7', `${arrivals.length} replies were not taken within ${insistMilliseconds} ms`)
      if (chance.happens(0.2)) await accept().catch(() => undefined)
      await delay(chance.between(20, 400))
    }
  } finally {
    await postgres.close()
  }
}

interface Build {
  readonly postgresPorts: typeof postgresPorts
  readonly createProcessing: typeof createProcessing
}

/** Loads the build under test, in which a bug may be planted, instead of the build of this driver. */
async function buildOf(root: string): Promise<Build> {
  const entries = ['adapters-postgres', 'core'].map((name) => join(root, 'packages', name, 'dist/index.js'))
  const [adapters, core] = await Promise.all(
    entries.map(async (entry) => (await import(pathToFileURL(entry).href)) as Build),
  )
  if (adapters === undefined || core === undefined) throw new Error('there are two entries')
  return { postgresPorts: adapters.postgresPorts, createProcessing: core.createProcessing }
}

function next({ chance, observations, codes }: Replies, n: number): DeliveredReply {
  const text = `r${n}`
  const code = chance.one(codes)
  const to = chance.happens(0.5) ? delivered(observations, chance) : undefined
  if (to !== undefined) return { from: to.number, text, account: to.account, toCode: false }
  // An opt-out causes a confirmation message to its sender. Senders ending in 70 or more are excluded, because messages
  // to them have other outcomes: the simulated carrier might make them reply, and 83 stops the carrier over HTTP.
  const isOptOut = n % 100 < 70 && chance.happens(0.1)
  const content = isOptOut ? `${optOutText} ${text}` : text
  return { from: `2789${String(n).padStart(7, '0')}`, text: content, account: code.account, toCode: true }
}

/** Returns a recently delivered message. Its number can send a reply to its account. */
function delivered({ messages }: Observations, chance: Chance) {
  for (let tries = 0; tries < 20 && messages.size > 0; tries++) {
    const known = messages.get(chance.one(recentIds(messages)))
    if (known?.final === 0) return known
  }
  return undefined
}

/** Cache of the latest ids, because iterating over all ids for every reply would take too long. */
let ids: { readonly size: number; readonly all: readonly number[] } = { size: 0, all: [] }
function recentIds(messages: Observations['messages']): readonly number[] {
  if (messages.size < ids.size || messages.size > ids.size + 500 || ids.size === 0) {
    ids = { size: messages.size, all: [...messages.keys()].slice(-3000) }
  }
  return ids.all
}

function inboundMessageOf({ from, text, toCode, account }: DeliveredReply, carrier: CarrierId): InboundMessage {
  const to = toCode ? `4040${account}` : undefined
  return { carrier, from, to, text, sent: undefined, reference: `brought-${text}`, offer: undefined, part: undefined }
}

/** Returns one message, or four inbound messages in random order: the two parts of its text, each of them twice. */
function arrivalsOf(reply: DeliveredReply, carrier: CarrierId, chance: Chance): readonly InboundMessage[] {
  const whole = inboundMessageOf(reply, carrier)
  if (!chance.happens(0.2)) return [whole]
  const { text } = whole
  const cut = chance.between(1, text.length - 1)
  const pieces = [text.slice(0, Math.floor(cut)), text.slice(Math.floor(cut))]
  const parts = [...pieces, ...pieces].map((piece, at): InboundMessage => {
    // Different texts from one number have different group numbers, because phones assign them so.
    const part = { group: Number(/\d+$/.exec(text)?.[0]) % 65_536, number: 1 + (at % 2), of: 2 }
    return { ...whole, text: piece, reference: undefined, part }
  })
  return chance.shuffled(parts)
}

async function insist(accept: () => Promise<unknown>): Promise<boolean> {
  const end = performance.now() + insistMilliseconds
  while (performance.now() < end) {
    const isStored = await accept().then(
      () => true,
      () => false,
    )
    if (isStored) return true
    await delay(200)
  }
  return false
}
