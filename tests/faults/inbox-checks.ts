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

/** What the simulated carrier's numbers answer that do. */
const answerText = 'Yes, thank you'
/** A call whose client has gone may take so much later: a connection, a stall and a statement. */
const laterMilliseconds = 20_000

/**
 * P-7 and P-9: each reply is stored once, for its account, and returned once; or taken by a call whose answer was not
 * handed over.
 */
export function judgeInbox(judged: JudgedInbox): void {
  repliesAreExact(judged)
  returnedIsStored(judged)
  takenWasAnswered(judged)
}

interface Expected {
  readonly account: number
  /** Undefined: either. */
  readonly toCode: boolean | undefined
}

function expectedReplies({ state, observations, record }: JudgedInbox): ReadonlyMap<string, Expected> {
  const expected = new Map<string, Expected>()
  const accountOf = new Map(state.sends.flatMap(({ numbers, account }) => numbers.map((to) => [to, account] as const)))
  for (const { from, text, account, toCode } of observations.brought)
    expected.set(arrivalKey({ from, text }), { account, toCode })
  for (const { number, replies } of record) {
    if (replies === undefined) continue
    const account = accountOf.get(number) ?? 0
    expected.set(arrivalKey({ from: number, text: answerText }), { account, toCode: undefined })
  }
  return expected
}

/** P-7: what was acknowledged is there, once, and belongs to whom it was written to. */
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

/** P-9, P-10: what was returned is stored, belongs to the account that asked, and is offered no more. */
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
 * P-9: what one call took is in its whole answer, all of it, or in none; then there was a call, one for each, that did
 * not end with a whole answer. Nothing is neither offered nor taken.
 */
function takenWasAnswered({ figures, state, observations }: JudgedInbox): void {
  const keys = new Map(state.arrivals.map((arrival) => [arrival.id, arrivalKey(arrival)]))
  const isReturned = (id: number): boolean => observations.returned.has(keys.get(id) ?? '')
  const taken = new Set(state.takings.flatMap(({ arrivals }) => arrivals))
  const unread: StoredTaking[] = []
  for (const taking of state.takings) {
    const returned = taking.arrivals.filter(isReturned).length
    if (returned === 0) unread.push(taking)
    else if (returned < taking.arrivals.length) {
      figures.broken('P-9', `of ${taking.arrivals.length} items that one call took ${returned} were returned`)
    }
  }
  for (const { id, account } of state.arrivals) {
    const places = (taken.has(id) ? 1 : 0) + (state.offered.has(id) ? 1 : 0)
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

/** Each taking that nobody read has a call of its own that did not end with a whole answer. */
function explain(unread: readonly StoredTaking[], pollings: readonly Polling[], figures: Figures): void {
  const left = pollings.filter(({ isWhole }) => isWhole !== true).sort((a, b) => (a.ended ?? 0) - (b.ended ?? 0))
  for (const { account, arrivals, at } of [...unread].sort((a, b) => a.at - b.at)) {
    const found = left.findIndex(
      (one) => one.account === account && one.asked <= at + 100 && (one.ended ?? Infinity) + laterMilliseconds >= at,
    )
    if (found >= 0) left.splice(found, 1)
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

/** P-9: whatever was returned, all of it is in the REST lists. */
export async function judgeLists({ clients, url, accounts, state, figures }: ListsJudged): Promise<void> {
  for (const { id, key } of accounts) {
    for (const list of ['/sms/incoming', '/shortcode/incoming'] as const) {
      const listed = await readList(clients, { url, key }, list, figures)
      const stored = state.arrivals.filter((one) => one.account === id && one.toCode === (list !== '/sms/incoming'))
      const [wanted, got] = [stored, listed].map((all) => all.map(arrivalKey).sort().join('\n'))
      if (wanted === got) figures.count('items in REST lists', listed.length)
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
