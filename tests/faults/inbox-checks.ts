import type { Submission } from './carrier.ts'
import type { WrittenBack } from './clients.ts'
import { askAgainIfLost, type Clients } from './clients.ts'
import type { Figures } from './figures.ts'
import type { AccountUnderTest } from './load.ts'
import type { State, StoredArrival, StoredTaking } from './state.ts'
import { arrivalKey, type Polling, type Observations } from './observations.ts'

export interface JudgedInbox {
  readonly figures: Figures
  readonly state: State
  readonly observations: Observations
  readonly record: readonly Submission[]
}

/** Text of the reply from numbers to which the simulated carrier assigns a reply. */
const answerText = 'Yes, thank you'
/**
 * Milliseconds for which a call may continue after its client has disconnected: the time for a connection, a stall and
 * a statement.
 */
const laterMilliseconds = 20_000

/**
 * P-7 and P-9: each reply is stored once, for its account. It is returned once, or was consumed by a call whose
 * response was not delivered.
 */
export function judgeInbox(judged: JudgedInbox): void {
  repliesAreExact(judged)
  returnedIsStored(judged)
  takenWasAnswered(judged)
}

interface Expected {
  readonly account: number
  /** True for messages to a short code, false for others; undefined for both. */
  readonly toCode: boolean | undefined
}

function expectedReplies({ state, observations, record }: JudgedInbox): ReadonlyMap<string, Expected> {
  const expected = new Map<string, Expected>()
  const accountOf = new Map(state.sends.flatMap(({ numbers, account }) => numbers.map((to) => [to, account] as const)))
  for (const { from, text, account, toCode } of observations.deliveredReplies)
    expected.set(arrivalKey({ from, text }), { account, toCode })
  for (const { number, replies } of record) {
    if (replies === undefined) continue
    const account = accountOf.get(number) ?? 0
    expected.set(arrivalKey({ from: number, text: answerText }), { account, toCode: undefined })
  }
  return expected
}

/** P-7: every acknowledged reply is stored once, for the right account. */
function repliesAreExact(judged: JudgedInbox): void {
  const { figures, state } = judged
  const expected = expectedReplies(judged)
  const stored = new Map<string, StoredArrival[]>()
  for (const arrival of state.arrivals) {
    const key = arrivalKey(arrival)
    stored.set(key, [...(stored.get(key) ?? []), arrival])
    if (!expected.has(key)) figures.broken('P-7', `nobody wrote ${JSON.stringify(key)}`)
  }
  figures.count('replies stored', state.arrivals.length)
  for (const [key, { account, toCode }] of expected) {
    const found = stored.get(key) ?? []
    if (found.length !== 1)
      figures.broken('P-7', `${JSON.stringify(key)} was written once, stored ${found.length} times`)
    for (const one of found) {
      if (one.account === account && one.toCode === (toCode ?? one.toCode)) continue
      figures.broken('P-7', `${JSON.stringify(key)} to account ${account} went to ${String(one.account)}`)
    }
  }
}

/** P-9, P-10: every returned message is stored, belongs to the requesting account, and is not offered any more. */
function returnedIsStored({ figures, state, observations }: JudgedInbox): void {
  const stored = new Map(state.arrivals.map((arrival) => [arrivalKey(arrival), arrival]))
  for (const [key, account] of observations.returned) {
    const arrival = stored.get(key)
    if (arrival?.account !== account) figures.broken('P-9', `${JSON.stringify(key)} was returned to account ${account}`)
    else if (state.offered.has(arrival.id)) {
      figures.broken('P-9', `${JSON.stringify(key)} was returned and is offered again`)
    }
  }
}

/**
 * P-9: a client received either all messages that a call consumed, or none of them. If it received none, it made a call
 * whose response was incomplete. Every message is either offered or consumed.
 */
function takenWasAnswered({ figures, state, observations }: JudgedInbox): void {
  const keys = new Map(state.arrivals.map((arrival) => [arrival.id, arrivalKey(arrival)]))
  const isReturned = (id: number): boolean => observations.returned.has(keys.get(id) ?? '')
  const returned = new Set(state.takings.flatMap(({ arrivals }) => arrivals))
  const unread: StoredTaking[] = []
  for (const taking of state.takings) {
    const returned = taking.arrivals.filter(isReturned).length
    if (returned === 0) unread.push(taking)
    else if (returned < taking.arrivals.length) {
      figures.broken('P-9', `of ${taking.arrivals.length} items that one call took ${returned} were returned`)
    }
  }
  for (const { id, account } of state.arrivals) {
    const places = (returned.has(id) ? 1 : 0) + (state.offered.has(id) ? 1 : 0)
    if (places !== (account === null ? 0 : 1))
      figures.broken('P-9', `arrival ${id} is offered or taken ${places} times`)
  }
  figures.count(
    'items taken by answers that were not handed over whole',
    unread.flatMap(({ arrivals }) => arrivals).length,
  )
  figures.count('items offered when all was over', state.offered.size)
  explain(unread, observations.pollings, figures)
}

/**
 * Asserts that for each consumption without a complete response there is a different call without a complete response.
 */
function explain(unread: readonly StoredTaking[], pollings: readonly Polling[], figures: Figures): void {
  const remaining = pollings.filter(({ isWhole }) => isWhole !== true).sort((a, b) => (a.ended ?? 0) - (b.ended ?? 0))
  for (const { account, arrivals, at } of [...unread].sort((a, b) => a.at - b.at)) {
    const found = remaining.findIndex(
      (one) => one.account === account && one.began <= at + 100 && (one.ended ?? Infinity) + laterMilliseconds >= at,
    )
    if (found >= 0) remaining.splice(found, 1)
    else figures.broken('P-9', `${arrivals.length} items of account ${account} were taken, and no call lost its answer`)
  }
}

export interface ListsJudged {
  readonly clients: Clients
  readonly url: string
  readonly accounts: readonly AccountUnderTest[]
  readonly state: State
  readonly figures: Figures
}

/** P-9: every returned message is in the REST lists. */
export async function judgeLists({ clients, url, accounts, state, figures }: ListsJudged): Promise<void> {
  for (const { id, key } of accounts) {
    for (const list of ['/sms/incoming', '/shortcode/incoming'] as const) {
      const listed = await readList(clients, { url, key }, list, figures)
      const stored = state.arrivals.filter((one) => one.account === id && one.toCode === (list !== '/sms/incoming'))
      const [expected, got] = [stored, listed].map((all) => all.map(arrivalKey).sort().join('\n'))
      if (expected === got) figures.count('items in REST lists', listed.length)
      else figures.broken('P-9', `${list} of account ${id} has ${listed.length} items, stored are ${stored.length}`)
    }
  }
}

async function readList(
  clients: Clients,
  access: Parameters<Clients['restList']>[0],
  list: Parameters<Clients['restList']>[1],
  figures: Figures,
): Promise<readonly WrittenBack[]> {
  const all: WrittenBack[] = []
  for (;;) {
    const page = await askAgainIfLost(() => clients.restList(access, list, all.length))
    if (page.kind !== 'answered') {
      figures.broken('P-9', `${list} when all was over: ${page.kind}`)
      return all
    }
    all.push(...page.answer)
    if (page.answer.length < 1000) return all
  }
}
