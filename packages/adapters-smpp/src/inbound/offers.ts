import { createHash, randomUUID } from 'node:crypto'

/**
 * Resolves to true once the carrier has certainly read all responses sent over its connection so far, and to false if
 * that cannot be known. Never rejects.
 */
export type Confirm = () => Promise<boolean>

/**
 * Names offers of inbound messages, because SMPP has no ids for them. Content that the carrier offers again without
 * certainly having our acknowledgement gets the same name, in every process, so that it is stored once. The same
 * content gets a new name if the carrier certainly has the acknowledgement, or offers it over the connection that
 * carried the acknowledgement: it is another message.
 */
export interface Offers {
  /** Returns the name for this content, which arrived over the connection of `confirm`. */
  of(content: string, confirm: Confirm): string
  /** Records that these offers were stored and acknowledged over the connection of `confirm`. */
  acknowledged(offers: readonly string[], confirm: Confirm): void
  /** Confirms the acknowledgements given so far and stops confirming. */
  stop(): Promise<void>
}

interface Offer {
  readonly content: string
  /** `open`: not acknowledged; `lost`: the carrier may not have the acknowledgement. */
  state: 'open' | 'acknowledged' | 'lost'
  /** Connection over which the offer was acknowledged; undefined if it was not. */
  connection: Confirm | undefined
}

/** Maximum number of names remembered; beyond it the oldest one is forgotten. */
const offersMax = 10_000
/** Acknowledgements given within this time are confirmed together. */
const confirmMilliseconds = 500
/** Time within which a carrier repeats an offer whose acknowledgement it may have missed. */
const lostMilliseconds = 600_000

/**
 * Creates the names. `end` reports names that are no longer used for repeated offers; it is called again if it rejects.
 */
export function createOffers(end: (offers: readonly string[]) => Promise<unknown>): Offers {
  const names = new Map<string, string>()
  const offers = new Map<string, Offer>()
  let unconfirmed = new Map<Confirm, string[]>()
  let ending: readonly string[] = []
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let series = 0
  /** Makes later names unique: no other process, nor this one after a restart, generates them. */
  const life = randomUUID()

  function forget(name: string): void {
    const content = offers.get(name)?.content
    offers.delete(name)
    if (content !== undefined && names.get(content) === name) names.delete(content)
  }

  function plan(): void {
    if (!isStopped) timer ??= setTimeout(() => void confirmAll(), confirmMilliseconds)
  }

  async function confirmAll(): Promise<void> {
    const acknowledged = unconfirmed
    unconfirmed = new Map()
    timer = undefined
    await Promise.all(
      [...acknowledged].map(([confirm, offered]) => confirm().then((isCertain) => settle(offered, isCertain))),
    )
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

  function settle(acknowledged: readonly string[], isCertain: boolean): void {
    if (isCertain) ending = [...ending, ...acknowledged]
    else for (const name of acknowledged) lose(name)
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
    offers.set(name, { content, state: 'open', connection: undefined })
    const oldest = offers.size > offersMax ? offers.keys().next().value : undefined
    if (oldest !== undefined) finish(oldest)
    return name
  }

  return {
    of(content, confirm) {
      const known = names.get(content)
      // TCP loses no response while its connection is open, so equal content over it is another message.
      if (known !== undefined && offers.get(known)?.connection !== confirm) return known
      const digest = createHash('sha256').update(content).digest('base64url')
      return add(content, known === undefined ? digest : `${digest} ${++series} ${life}`)
    },
    acknowledged(acknowledged, confirm) {
      for (const name of acknowledged) {
        const offer = offers.get(name)
        if (offer === undefined) continue
        offer.state = 'acknowledged'
        offer.connection = confirm
      }
      unconfirmed.set(confirm, [...(unconfirmed.get(confirm) ?? []), ...acknowledged])
      plan()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await confirmAll()
    },
  }
}
