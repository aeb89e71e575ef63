import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@gateway/core/testing'
import type { Clients, PollCall } from './clients.ts'
import type { Member } from './processes.ts'
import type { Figures } from './figures.ts'
import type { AccountUnderTest } from './load.ts'
import type { Polling, Observations } from './observations.ts'

export interface Polls {
  readonly chance: Chance
  readonly clients: Clients
  readonly figures: Figures
  readonly observations: Observations
  readonly members: readonly Member[]
  /** Accounts with replies. */
  readonly accounts: readonly AccountUnderTest[]
  /** End of the load, by performance.now(). */
  readonly end: number
}

const calls: readonly PollCall[] = ['replies', 'replies', 'replies without short codes', 'short code messages']
const patient = 20_000

/** Returns the time in milliseconds since 1970, without jumps. */
const moment = (): number => performance.timeOrigin + performance.now()

/**
 * Calls the return-once calls of one account from up to eight concurrent callers, over all processes, until the end.
 */
export async function poll(polls: Polls): Promise<void> {
  const { chance, members, accounts } = polls
  const pollers = members.filter(({ app }) => app === 'asp' || app === 'xml')
  while (performance.now() < polls.end) {
    const account = chance.one(accounts)
    const callers = chance.one([1, 4, 8])
    await Promise.all(
      Array.from({ length: callers }, () =>
        pollOnce(polls, chance.one(pollers), account, {
          kind: chance.one(calls),
          patience: chance.happens(0.1) ? chance.between(1, 30) : patient,
        }),
      ),
    )
    await delay(chance.between(20, 250))
  }
}

/** Returns the number of received items, or undefined without a complete response. */
async function pollOnce(
  { clients, figures, observations }: Pick<Polls, 'clients' | 'figures' | 'observations'>,
  member: Member,
  { id: account, key }: AccountUnderTest,
  { kind, patience }: { readonly kind: PollCall; readonly patience: number },
): Promise<number | undefined> {
  const url = member.url()
  if (url === undefined) return undefined
  const polling: Polling = { account, began: moment() }
  const call = member.app === 'asp' ? clients.aspPoll : clients.xmlPoll
  const outcome = await call({ url, key }, kind, patience)
  polling.ended = moment()
  polling.isWhole = outcome.kind === 'answered'
  figures.count(`polls: ${outcome.kind}`)
  if (outcome.kind === 'unreachable') return undefined
  observations.pollings.push(polling)
  if (outcome.kind !== 'answered') return undefined
  observations.returnedOnce(account, outcome.answer)
  if (outcome.answer.length > 0) figures.count('polls that returned something')
  return outcome.answer.length
}

/**
 * Calls each process, without disconnecting, until it has no messages left. By then the messages of interrupted
 * responses are offered again.
 */
export async function pollTheRest(
  polls: Pick<Polls, 'clients' | 'figures' | 'observations' | 'members' | 'accounts'>,
): Promise<void> {
  const pollers = polls.members.filter(({ app }) => app === 'asp' || app === 'xml')
  for (const account of polls.accounts) {
    for (const member of [...pollers, ...pollers]) {
      const isEmpty = async (): Promise<boolean> =>
        (await pollOnce(polls, member, account, { kind: 'replies', patience: patient })) === 0
      for (let tries = 0; tries < 20 && !(await isEmpty()); tries++) await delay(50)
    }
  }
}
