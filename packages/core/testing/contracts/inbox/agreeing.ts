import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import { instant, optKeywordOf, type AccountId, type Msisdn, type SenderAddress, type StoredPorts } from '@gateway/core'
import { anAccount, anAddress, anOrder, numbers } from '../../builders.ts'
import { checkGenerated } from '../check-generated.ts'
import type { Contract } from '../contract.ts'
import { accepted, at, collect, dispatchDue, longAgo, testCarrier } from '../shared.ts'
import { confirmationAddress, replyOwner, type Contact } from '../specification/replies.ts'
import { inboxOf, receive } from './inbound-messages.ts'

const [poolA, poolB, code] = [anAddress('12025550111'), anAddress('12025550112'), anAddress('40404')]
const texts = ['hello', 'STOP', 'Stop send', 'start', 'unstop', 'opt-out', 'why stop?'] as const
const eventsMax = 120

const events = fc.record({
  account: fc.nat({ max: 2 }),
  number: fc.nat({ max: 3 }),
  from: fc.constantFrom(poolA, poolB, code),
  /** What happens: below 3 a message, 3 one that stays in flight, 4 a lock, 5 the blacklist, above an inbound message. */
  kind: fc.nat({ max: 9 }),
  outcome: fc.constantFrom('accepted', 'unknown', 'refused'),
  happens: fc.boolean(),
  to: fc.constantFrom(poolA, poolB, code, anAddress('999000111'), 'untold'),
  text: fc.constantFrom(...texts),
})

/** Everything that an inbound message is judged by, as the rules of core see it. */
async function world(ports: StoredPorts) {
  const accounts = [await anAccount(ports), await anAccount(ports), await anAccount(ports)].map(({ id }) => id)
  const owner = at(accounts, 0)
  await ports.senders.assign(code, owner)
  // The addresses are known from the first message that leaves from them.
  for (const from of [poolA, poolB]) await write(ports, owner, at(numbers(1, '99'), 0), from, 'refused')
  return { accounts, owner }
}

async function write(
  ports: StoredPorts,
  account: AccountId,
  to: Msisdn,
  from: SenderAddress,
  outcome: 'accepted' | 'unknown' | 'refused',
): Promise<Contact> {
  const { ids } = await accepted(ports, anOrder(account, { to: [to], senders: [from] }))
  const id = at(ids, 0)
  await dispatchDue(ports, 'single', () =>
    outcome === 'accepted' ? { outcome, reference: `agreeing ${id}` } : { outcome },
  )
  return { account, id, from, at: instant(id) }
}

/** A message that may have left, and of which nothing is recorded. */
async function leaveInFlight(
  ports: StoredPorts,
  account: AccountId,
  to: Msisdn,
  from: SenderAddress,
): Promise<Contact> {
  const { ids } = await accepted(ports, anOrder(account, { to: [to], senders: [from] }))
  const wanted = { carrier: testCarrier, lane: 'single', messagesMax: 1, markedMax: 1, leaseSeconds: 600 } as const
  await ports.claimedBatches.claim(await ports.claimedBatches.register(600), wanted)
  const id = at(ids, 0)
  return { account, id, from, at: instant(id) }
}

/** Stores decide for many inbound messages in one statement what core decides for one: here both decide the same cases. */
export const agreeing: Contract<StoredPorts> = {
  'of generated conversations each reply belongs to whom the rules say, and opts out and in as they say': async (
    ports,
  ) => {
    const { accounts, owner } = await world(ports)
    const [sent, inFlight, optedOut] = [new Map<Msisdn, Contact[]>(), new Map<Msisdn, Contact[]>(), new Set<string>()]
    const [locked, blacklisted] = [new Set<AccountId>(), new Set<Msisdn>()]
    const add = (map: Map<Msisdn, Contact[]>, to: Msisdn, contact: Contact) =>
      map.set(to, [...(map.get(to) ?? []), contact])
    let unowned = 0

    await checkGenerated(fc.array(events, { minLength: eventsMax, maxLength: eventsMax }), 1, async (all) => {
      for (const [place, event] of all.entries()) {
        const { kind, from, outcome, happens } = event
        const [account, number] = [at(accounts, event.account), at(numbers(4), event.number)]
        if (kind < 3 && !locked.has(account)) {
          const contact = await write(ports, account, number, from, outcome)
          if (outcome !== 'refused') add(sent, number, contact)
        } else if (kind === 3 && !locked.has(account)) {
          add(inFlight, number, await leaveInFlight(ports, account, number, from))
        } else if (kind === 4) {
          await ports.accounts.setLocked(account, happens)
          if (happens) locked.add(account)
          else locked.delete(account)
        } else if (kind === 5) {
          const entry = { scope: 'everybody', number, kind: 'blacklist' } as const
          if (happens) {
            await ports.suppressions.add({ ...entry, since: longAgo })
            blacklisted.add(number)
          } else {
            await ports.suppressions.remove(entry)
            blacklisted.delete(number)
          }
        } else {
          const { to, text } = event
          const known = [poolA, poolB, code].find((one) => one === to)
          const wanted = replyOwner(
            known && { address: known, owner: known === code ? owner : undefined },
            sent.get(number) ?? [],
            inFlight.get(number) ?? [],
          )
          await receive(ports, { from: number, to: to === 'untold' ? undefined : to, text })
          const where = `event ${place}: ${text} from ${number} to ${to}`
          const waiting = await confirmationsOf(ports)
          if (wanted.account === undefined) {
            assert.equal((await collect(ports.inbox.unowned())).length, ++unowned, where)
            assert.deepEqual(waiting, [], where)
            continue
          }
          const stored = (await inboxOf(ports, wanted.account)).at(-1)
          assert.deepEqual(
            [stored?.from, stored?.text, stored?.answers, stored?.shortCode],
            [number, text, wanted.answers, wanted.shortCode],
            where,
          )
          const key = `${wanted.account} ${number}`
          const keyword = optKeywordOf(text)
          const address = confirmationAddress({
            isNew: keyword === 'opt-out' && !optedOut.has(key),
            accountLocked: locked.has(wanted.account),
            suppressions: new Set(blacklisted.has(number) ? ['blacklist'] : []),
            address: wanted.address,
          })
          if (keyword === 'opt-out') optedOut.add(key)
          if (keyword === 'opt-in') optedOut.delete(key)
          const isOptedOut = (await ports.suppressions.matching(wanted.account, [number])).get(number)?.has('opt-out')
          assert.equal(isOptedOut ?? false, optedOut.has(key), where)
          const confirmed = address === undefined ? [] : [{ account: wanted.account, to: number, from: address }]
          assert.deepEqual(waiting, confirmed, where)
        }
      }
    })
  },
}

/** What waits to be sent; then it is sent. */
const confirmationsOf = async (ports: StoredPorts) =>
  (await dispatchDue(ports, 'single', ({ id }) => ({ outcome: 'accepted', reference: `confirmation ${id}` }))).map(
    ({ account, to, from }) => ({ account, to, from }),
  )
