import { createHash, randomUUID } from 'node:crypto'

/**
 * Resolves to whether the carrier certainly has the answers that were given over its connection so far; never rejects.
 */
export type Confirm = () => Promise<boolean>

/**
 * Names hand-overs of inbound messages, of which SMPP has no ids. What the carrier offers again because it may not have
 * the acknowledgement has the same name, in whatever process; what comes when it certainly has it, or over the
 * connection that it was given over, is another message.
 */
export interface Offers {
  /** The name for this content, which came over the connection of `confirm`. */
  of(content: string, confirm: Confirm): string
  /** These were stored and the acknowledgements given over one connection. */
  acknowledged(offers: readonly string[], confirm: Confirm): void
  /** Confirms what was given so far, and nothing after that. */
  stop(): Promise<void>
}

interface Offer {
  readonly content: string
  /** `lost`: the carrier may not have the acknowledgement. */
  state: 'open' | 'given' | 'lost'
  /** The connection over which it was acknowledged; undefined: over none yet. */
  over: Confirm | undefined
}

const openMax = 10_000
/** Acknowledgements of so long are confirmed together. */
const togetherMilliseconds = 500
/** A carrier that offers again what it may not have an acknowledgement of does so within this time. */
const lostMilliseconds = 600_000

/** `end`: what comes under these names from now on is another message. It is called again if it rejects. */
export function createOffers(end: (offers: readonly string[]) => Promise<unknown>): Offers {
  const names = new Map<string, string>()
  const offers = new Map<string, Offer>()
  let given = new Map<Confirm, string[]>()
  let ending: readonly string[] = []
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let series = 0
  /** Another process, or this one at another time, gives none of its names. */
  const life = randomUUID()

  function forget(name: string): void {
    const content = offers.get(name)?.content
    offers.delete(name)
    if (content !== undefined && names.get(content) === name) names.delete(content)
  }

  function plan(): void {
    if (!isStopped) timer ??= setTimeout(() => void confirmAll(), togetherMilliseconds)
  }

  async function confirmAll(): Promise<void> {
    const now = given
    given = new Map()
    timer = undefined
    await Promise.all([...now].map(([confirm, some]) => confirm().then((isCertain) => settle(some, isCertain))))
    const ended = ending
    ending = []
    if (ended.length === 0) return
    try {
      await end(ended)
      for (const name of ended) forget(name)
    } catch {
      ending = [...ended, ...ending]
      plan()
    }
  }

  function settle(some: readonly string[], isCertain: boolean): void {
    if (isCertain) ending = [...ending, ...some]
    else for (const name of some) lose(name)
  }

  function finish(name: string): void {
    ending = [...ending, name]
    plan()
  }

  function lose(name: string): void {
    const offer = offers.get(name)
    if (offer === undefined) return
    offer.state = 'lost'
    setTimeout(() => offer.state === 'lost' && finish(name), lostMilliseconds).unref()
  }

  function add(content: string, name: string): string {
    names.set(content, name)
    offers.set(name, { content, state: 'open', over: undefined })
    const oldest = offers.size > openMax ? offers.keys().next().value : undefined
    if (oldest !== undefined) finish(oldest)
    return name
  }

  return {
    of(content, confirm) {
      const known = names.get(content)
      // TCP has not lost the answer over the same connection, so its other side has written again.
      if (known !== undefined && offers.get(known)?.over !== confirm) return known
      const digest = createHash('sha256').update(content).digest('base64url')
      return add(content, known === undefined ? digest : `${digest} ${++series} ${life}`)
    },
    acknowledged(some, confirm) {
      for (const name of some) {
        const offer = offers.get(name)
        if (offer === undefined) continue
        offer.state = 'given'
        offer.over = confirm
      }
      given.set(confirm, [...(given.get(confirm) ?? []), ...some])
      plan()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await confirmAll()
    },
  }
}
