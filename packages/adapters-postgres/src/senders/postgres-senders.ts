import {
  preferredBy,
  type AccountId,
  type AllowedSender,
  type Msisdn,
  type Order,
  type SenderAddress,
  type Senders,
} from '@gateway/core'
import { sql } from 'kysely'
import { askAboutNumbers } from '../ask-about-numbers.ts'
import { notifyOthers } from '../changes.ts'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import type { SenderOf } from '../messages/lay-out.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { chooseSenders, chosenSenders } from '../sql/senders.ts'
import { numberOf, type SenderNumbers } from './sender-numbers.ts'

const none: readonly AllowedSender[] = []

export function postgresSenders({ pools: { kysely }, changes, allowedSenders }: Context): Senders {
  async function assign(code: SenderAddress, account: AccountId) {
    const there = await kysely.selectFrom('account').select('id').where('id', '=', account).executeTakeFirst()
    if (there === undefined) return 'no-such-account'
    const assigned = await kysely
      .insertInto('sender')
      .values({ address: code, account_id: account, assigned_at: sql`now()` })
      .onConflict((conflict) =>
        conflict
          .column('address')
          .doUpdateSet({ account_id: account, assigned_at: sql`now()` })
          .where('sender.account_id', 'is', null),
      )
      .returning(notifyOthers.as('told'))
      .execute()
    if (assigned.length > 0) return 'assigned'
    const holder = await kysely.selectFrom('sender').select('account_id').where('address', '=', code).executeTakeFirst()
    return holder?.account_id === account ? 'already' : 'taken'
  }

  async function release(code: SenderAddress): Promise<boolean> {
    const released = await kysely
      .updateTable('sender')
      .set({ account_id: null, assigned_at: null })
      .where('address', '=', code)
      .where('account_id', 'is not', null)
      .returning(notifyOthers.as('told'))
      .execute()
    return released.length > 0
  }

  async function assigned() {
    const rows = await kysely
      .selectFrom('sender')
      .select(['address', 'account_id'])
      .where('account_id', 'is not', null)
      .orderBy(sql`address collate "C"`)
      .execute()
    return rows.map(({ address, account_id }) => ({
      code: address as SenderAddress,
      account: account_id as AccountId,
    }))
  }
  return {
    assign: (code, account) => changes.around(assign(code, account)),
    release: (code) => changes.around(release(code)),
    assigned,
    allow: (sender) => allowedSenders.allow(sender),
    disallow: (account, sender) => allowedSenders.disallow(account, sender),
    allowed: () => allowedSenders.list(),
    allowedTo: async (account) => (await allowedSenders.known()).get(account) ?? none,
  }
}

/**
 * Which of an order's addresses each of its messages leaves from. Looks first, for many at once: only a number that an
 * account has not written to before costs a commit.
 */
export function chooseFor(hot: Connections, senders: SenderNumbers): (order: Order) => Promise<SenderOf> {
  const look = askAboutNumbers(async (accounts, numbers) => {
    const rows = await retryOnConnectionLoss(hot, chosenSenders, { accounts, numbers })
    return new Map(rows.map(({ place, sender }) => [place, sender]))
  })

  /** For the orders that have one address only: most of them. */
  const always = new Map<SenderAddress, SenderOf>()

  async function chooseFromPool({ account: by, senders: pool, texts }: Order): Promise<SenderOf> {
    const [first] = pool
    const known = pool.length === 1 && first !== undefined ? always.get(first) : undefined
    if (known !== undefined) return known
    const ids = await senders.numbersOf(new Set(pool))
    const offered = pool.map((address) => numberOf(ids, address))
    const [only] = offered
    if (first !== undefined && only !== undefined && offered.length === 1) {
      const senderOf = () => only
      always.set(first, senderOf)
      return senderOf
    }
    const ofPool = texts.flatMap(({ to }) => to.filter(({ from }) => from === undefined))
    const numbers = [...new Set(ofPool.map(({ number }) => number))]
    if (numbers.length === 0) return nobody
    const chosen = new Map(await look({ by, numbers }))
    const missing = numbers.filter((number) => !offered.includes(chosen.get(number) ?? 0))
    if (missing.length > 0) {
      const values = { account: by, numbers: missing, senders: preferredBy(by, offered) }
      for (const { number, sender } of await retryOnConnectionLoss(hot, chooseSenders, values)) {
        chosen.set(String(number) as Msisdn, sender)
      }
    }
    return ({ number }) => chosen.get(number) ?? nobody()
  }

  return async (order) => {
    const isNamed = order.texts.some(({ to }) => to.some(({ from }) => from !== undefined))
    if (!isNamed) return chooseFromPool(order)
    const named = new Set(order.texts.flatMap(({ to }) => to.flatMap(({ from }) => from ?? [])))
    const [ids, others] = await Promise.all([senders.numbersOf(named), chooseFromPool(order)])
    return (recipient) => (recipient.from === undefined ? others(recipient) : numberOf(ids, recipient.from))
  }
}

function nobody(): never {
  throw new Error('no address to send from was chosen')
}
