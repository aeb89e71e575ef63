import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@gateway/core/testing'
import type { Access, Clients, Interface, SendOrder } from './clients.ts'
import { askWithKey } from './repeat.ts'
import type { App, Member } from './processes.ts'
import type { Figures } from './figures.ts'
import type { Sending, Observations } from './observations.ts'
import type { Backlog } from './watch.ts'

export interface AccountUnderTest {
  readonly id: number
  readonly key: string
  /** True if the account belongs to the family with transfers. */
  readonly related: boolean
  /** True if the account runs out of credits during the run. */
  readonly poor: boolean
}

export interface Load {
  readonly chance: Chance
  readonly clients: Clients
  readonly figures: Figures
  readonly observations: Observations
  readonly members: readonly Member[]
  readonly accounts: readonly AccountUnderTest[]
  /** Endings of numbers with unusual outcomes. */
  readonly odd: readonly string[]
  /** Average number of recipients per second. */
  readonly recipientsPerSecond: number
  /** The load stops sending while the backlog is full, and does not make up for the pause later. */
  readonly backlog: Pick<Backlog, 'isFull'>
  /** End of the load, by performance.now(). */
  readonly end: number
}

interface Way {
  readonly url: string
  readonly face: Interface
  readonly app: App
}

const prefixes = ['82', '83', '84', '72', '73', '74', '76', '78', '79'] as const
const minute = 60_000
/** Maximum number of recipients of a send in the single lane. */
const singleLaneMax = 10
/** Time far enough ahead that messages wait to be deleted. */
const farAhead = 120 * minute

/** Returns true for a number to which every carrier delivers with the usual outcome. */
export const isPlain = (number: string): boolean => number.at(-2) === '0'

export interface RunningLoad {
  /** Resolves when the load has ended. */
  readonly over: Promise<void>
  /** Sends to this many recipients at once after the last fault. A failure is an error of the run. */
  sendInCalm(recipients: number): Promise<void>
  /**
   * Sends to one number over REST, once. Returns whether it was accepted within `patience` milliseconds (default one
   * second).
   */
  sendOne(patience?: number): Promise<boolean>
  /**
   * Sends to this many numbers at once, in sends of the single lane. All numbers have the usual outcome. Returns the
   * numbers whose sends were answered.
   */
  sendSingles(recipients: number): Promise<ReadonlySet<string>>
}

/** Starts clients of all interfaces, each of which does one thing after the other until the load ends. */
export function startLoad(load: Load, count: number): RunningLoad {
  const { chance, clients, figures, observations, members, accounts } = load
  let numbers = 0
  let sent = 0
  const began = performance.now()
  const quantities = new Map<number, number>()

  const isOver = (): boolean => performance.now() > load.end

  /** Returns an unused number. Half of these numbers have an unusual outcome. */
  const newNumber = (): string => numberEnding(chance.happens(0.4) ? chance.one(load.odd) : plainEnding())

  const plainEnding = (): string => `0${chance.below(10)}`

  function numberEnding(ending: string): string {
    const n = numbers++
    const prefix = prefixes[Math.floor(n / 100_000) % prefixes.length] ?? '82'
    return `27${prefix}${String(n % 100_000).padStart(5, '0')}${ending}`
  }

  function way(apps: readonly App[] = ['rest', 'rest', 'asp', 'xml']): Way | undefined {
    const app = chance.one(apps)
    const listening = members.filter((member) => member.app === app && member.url() !== undefined)
    const url = listening.length === 0 ? undefined : chance.one(listening).url()
    const isInterface = app === 'rest' || app === 'asp' || app === 'xml'
    const face: Interface | undefined = isInterface ? clients.interfaces[app] : undefined
    return url === undefined || face === undefined ? undefined : { url, face, app }
  }

  const access = (url: string, { key }: AccountUnderTest): Access => ({ url, key })

  function howMany(sendMax: number): number {
    const upTo = chance.one([1, 5, 10, 30, 100, 300, 1000])
    return Math.min(1 + chance.below(upTo), sendMax)
  }

  /**
   * Returns undefined for an immediate send, the next full minute if it is before the end of the load, or a time far
   * ahead.
   */
  function someTime(): number | undefined {
    if (chance.happens(0.6)) return undefined
    const next = Math.ceil((Date.now() + 1500) / minute) * minute
    const isWithin = next - Date.now() < load.end - performance.now()
    return isWithin && chance.happens(0.7) ? next : Math.floor((Date.now() + farAhead) / minute) * minute
  }

  async function send(): Promise<void> {
    const over = way()
    if (over === undefined) return
    const to = Array.from({ length: howMany(over.face.sendMax) }, newNumber)
    const patience = chance.happens(0.05) ? chance.between(1, 60) : 20_000
    await sendTo(over, chance.one(accounts), { to, scheduled: someTime(), patience })
  }

  async function sendTo(
    over: Way,
    account: AccountUnderTest,
    { to, scheduled, patience }: { to: readonly string[]; scheduled: number | undefined; patience: number },
  ): Promise<boolean> {
    const sending: Sending = { account: account.id, numbers: to }
    observations.sendings.push(sending)
    sent += to.length
    const order = {
      numbers: to,
      text: chance.happens(0.1) ? 'Two parts '.repeat(20).trim() : 'Hello',
      scheduled: scheduled === undefined ? undefined : gatewayTime(scheduled),
    }
    const outcome = chance.happens(0.5)
      ? await over.face.send(access(over.url, account), { ...order, patience, key: undefined })
      : await sendWithKey(over, account, { ...order, patience, key: `send ${to[0]}` })
    if (outcome.kind === 'answered') observations.accepted(sending, outcome.answer, scheduled)
    else if (outcome.kind === 'unreachable') sending.results = to.map(() => 'ACCOUNTLOCKED')
    else figures.count('sends whose effect is not known')
    return outcome.kind === 'answered'
  }

  /** Sends with an idempotency key. A repetition may use any process whose interface gives the same answers. */
  function sendWithKey(over: Way, account: AccountUnderTest, order: SendOrder): ReturnType<Interface['send']> {
    const isShort = order.numbers.length <= clients.interfaces.asp.sendMax
    const apps: readonly App[] = over.app !== 'xml' && isShort ? ['rest', 'asp'] : [over.app]
    return askWithKey(load, `${over.app} send`, (isFirst) => {
      const { url, face } = isFirst ? over : (way(apps) ?? over)
      return face.send(access(url, account), isFirst ? order : { ...order, patience: 20_000 })
    })
  }

  async function sendInCalm(recipients: number): Promise<void> {
    const over = way(['rest'])
    const account = accounts.find(({ poor }) => !poor)
    if (over === undefined || account === undefined) throw new Error('nobody listens, or all accounts are poor')
    for (let remaining = recipients; remaining > 0; remaining -= over.face.sendMax) {
      const to = Array.from({ length: Math.min(remaining, over.face.sendMax) }, newNumber)
      const isAnswered = await sendTo(over, account, { to, scheduled: undefined, patience: 20_000 })
      if (!isAnswered) throw new Error('a send failed although nothing was broken')
    }
  }

  async function sendOne(patience = 1000): Promise<boolean> {
    const over = way(['rest'])
    const account = accounts.find(({ poor }) => !poor)
    if (over === undefined || account === undefined) return false
    const sending: Sending = { account: account.id, numbers: [newNumber()] }
    observations.sendings.push(sending)
    const order = { numbers: sending.numbers, text: 'Hello', scheduled: undefined, patience, key: undefined }
    const outcome = await over.face.send(access(over.url, account), order)
    if (outcome.kind === 'answered') observations.accepted(sending, outcome.answer, undefined)
    return outcome.kind === 'answered'
  }

  async function sendSingles(recipients: number): Promise<ReadonlySet<string>> {
    const over = way(['rest'])
    const account = accounts.find(({ poor }) => !poor)
    if (over === undefined || account === undefined) return new Set()
    const sends = Array.from({ length: Math.ceil(recipients / singleLaneMax) }, () =>
      Array.from({ length: singleLaneMax }, () => numberEnding(plainEnding())),
    )
    const answered = await Promise.all(
      sends.map((to) => sendTo(over, account, { to, scheduled: undefined, patience: 20_000 })),
    )
    return new Set(sends.filter((_, i) => answered[i]).flat())
  }

  function someIds(account: number, max: number, fits: (id: number) => boolean = () => true): number[] {
    const known = [...recent(observations.messages.keys(), observations.messages.size, 4000)]
    const ids = known.filter((id) => observations.messages.get(id)?.account === account && fits(id))
    return chance.shuffled(ids.slice(-300)).slice(0, 1 + chance.below(max))
  }

  async function askStatus(): Promise<void> {
    const over = way()
    const account = chance.one(accounts)
    const ids = someIds(account.id, 60)
    if (over === undefined || ids.length === 0) return
    const begun = performance.now()
    const outcome = await over.face.status(access(over.url, account), ids)
    if (outcome.kind !== 'answered') return
    if (outcome.answer.length !== ids.length) {
      figures.broken('P-14', `${over.app}: ${ids.length} ids, ${outcome.answer.length} statuses`)
    }
    for (const [i, id] of ids.entries()) observations.status(id, outcome.answer[i] ?? NaN, begun)
  }

  /**
   * Deletes messages, mostly scheduled ones. Some of them are about to become due, some ids are repeated, and some
   * deletions run concurrently with a second one.
   */
  async function remove(): Promise<void> {
    const account = chance.one(accounts)
    const dueIn = (id: number): number => (observations.messages.get(id)?.scheduled ?? NaN) - Date.now()
    const isThere = (id: number): boolean =>
      observations.messages.get(id)?.deleted === undefined || chance.happens(0.02)
    // A message with a near due time is deleted only when it becomes due, so that the deletion races with a claim.
    const isGoing = (id: number): boolean => dueIn(id) < 300 && dueIn(id) > -15_000 && isThere(id)
    const isFarAhead = (id: number): boolean => dueIn(id) > 2 * minute && isThere(id)
    const going = chance.happens(0.35) ? someIds(account.id, 20, isGoing) : []
    const chosen = going.length > 0 ? going : someIds(account.id, 40, chance.happens(0.85) ? isFarAhead : undefined)
    if (chosen.length === 0) return
    const ids = chance.happens(0.3) ? [...chosen, ...chosen.slice(0, 3)] : chosen
    await Promise.all(Array.from({ length: chance.happens(0.4) ? 2 : 1 }, () => removeOnce(account, ids)))
  }

  async function removeOnce(account: AccountUnderTest, ids: readonly number[]): Promise<void> {
    const over = way()
    if (over === undefined) return
    const outcome = await over.face.remove(access(over.url, account), ids)
    if (outcome.kind === 'answered') {
      if (outcome.answer.length !== ids.length) figures.broken('P-14', `${over.app}: a delete left ids out`)
      for (const [i, id] of ids.entries()) observations.deletion(id, outcome.answer[i] ?? '')
    } else if (outcome.kind !== 'unreachable') for (const id of ids) observations.perhapsDeleted.add(id)
  }

  async function transfer(): Promise<void> {
    const family = accounts.filter(({ related }) => related)
    const main = family[0]
    const over = way(['rest', 'asp'])
    if (main === undefined || over === undefined) return
    const [from = main, to = main] = chance.shuffled(family)
    const quantity = (quantities.get(from.id) ?? 0) + 1
    quantities.set(from.id, quantity)
    const transferring: (typeof observations.transfers)[number] = { from: from.id, to: to.id, quantity }
    observations.transfers.push(transferring)
    const key = chance.happens(0.4) ? undefined : `transfer ${from.id} ${quantity}`
    const ask = ({ app, url }: Way) => {
      const call = app === 'rest' ? clients.restTransfer : clients.aspTransfer
      return call(access(url, main), { from: from.id, to: to.id, quantity, key })
    }
    const again = (isFirst: boolean) => ask(isFirst ? over : (way(['rest', 'asp']) ?? over))
    const isAnswer = (answer: string) => answer !== 'Fail'
    const outcome = key === undefined ? await ask(over) : await askWithKey(load, 'transfer', again, isAnswer)
    if (outcome.kind === 'answered') transferring.outcome = outcome.answer
    if (outcome.kind === 'unreachable') transferring.outcome = 'unreachable'
    figures.count(`transfers: ${transferring.outcome ?? 'not known'}`)
  }

  async function askBalance(): Promise<void> {
    const over = way(['rest', 'asp'])
    if (over === undefined) return
    const ask = over.app === 'rest' ? clients.restBalance : clients.aspBalance
    const outcome = await ask(access(over.url, chance.one(accounts)))
    if (outcome.kind === 'answered' && outcome.answer < 0) figures.broken('P-2', `balance ${outcome.answer}`)
  }

  async function act(): Promise<void> {
    const allowed = ((performance.now() - began) / 1000) * load.recipientsPerSecond
    if (load.backlog.isFull()) sent = Math.max(sent, allowed)
    if (sent < allowed && chance.happens(0.6)) return send()
    return chance.one([askStatus, askStatus, remove, remove, transfer, askBalance])()
  }

  async function client(): Promise<void> {
    while (!isOver()) {
      await act()
      await delay(chance.between(5, 60))
    }
  }
  const over = Promise.all(Array.from({ length: count }, client)).then(() => undefined)
  return { over, sendOne, sendInCalm, sendSingles }
}

/** Formats a time as CCYYMMDDHHmm at +02:00. */
const gatewayTime = (at: number): string =>
  new Date(at + 2 * 60 * minute).toISOString().replace(/[-T:]/g, '').slice(0, 12)

/** Yields the last items of a collection. */
function* recent<T>(all: Iterable<T>, size: number, max: number): Generator<T> {
  let at = 0
  for (const one of all) if (at++ >= size - max) yield one
}
