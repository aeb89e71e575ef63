import { createHash, randomUUID } from 'node:crypto'

/**
 * Resolves to true once the carrier has certainly read all responses sent over its connection so far, and to false if
 * that cannot be known. Never rejects.
 */
export type Confirm = () => Promise<boolean>

interface Offer {
  readonly content: string
  /** `open`: the offer is not acknowledged. `lost`: the carrier may not have received the acknowledgement. */
  state: 'open' | 'acknowledged' | 'lost'
  /** Connection over which the offer was acknowledged; undefined if the offer was not acknowledged. */
  connection: Confirm | undefined
}

/** Maximum number of names remembered; beyond it the oldest one is forgotten. */
const offersMax = 10_000
/** Acknowledgements given within this time are confirmed together. */
const confirmMilliseconds = 500
/** Time within which a carrier repeats an offer whose acknowledgement it may have missed. */
const lostMilliseconds = 600_000

/**
 * Names offers of inbound messages, because SMPP has no ids for them. Content that the carrier offers again without
 * certainly having our acknowledgement gets the same name, in every process, so that it is stored once. The same
 * content gets a new name if the carrier certainly has the acknowledgement, or offers it over the connection that
 * carried the acknowledgement: it is another message.
 *
 *   open --acknowledged--> acknowledged --confirmed--> ending --`end` resolves--> forgotten
 *                             +--the connection ended first--> lost --10 min--> ending
 */
export class Offers {
  readonly #end: (offers: readonly string[]) => Promise<unknown>
  /** Latest name of each content. */
  readonly #names = new Map<string, string>()
  readonly #offers = new Map<string, Offer>()
  #unconfirmed = new Map<Confirm, string[]>()
  #ending: readonly string[] = []
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #series = 0
  /**
   * Part of later names that makes them unique. No other process generates it, nor does this process after a restart.
   */
  readonly #life = randomUUID()

  /**
   * `end` receives the names of offers that will not be repeated. If `end` rejects, it is called again with them.
   */
  constructor(end: (offers: readonly string[]) => Promise<unknown>) {
    this.#end = end
  }

  /** Returns the name for this content, which arrived over the connection of `confirm`. */
  of(content: string, confirm: Confirm): string {
    const known = this.#names.get(content)
    // TCP loses no response while its connection is open, so equal content over the same connection is another message.
    if (known !== undefined && this.#offers.get(known)?.connection !== confirm) return known
    const digest = createHash('sha256').update(content).digest('base64url')
    return this.#add(content, known === undefined ? digest : `${digest} ${++this.#series} ${this.#life}`)
  }

  /** Records that these offers were stored and acknowledged over the connection of `confirm`. */
  acknowledged(acknowledged: readonly string[], confirm: Confirm): void {
    for (const name of acknowledged) {
      const offer = this.#offers.get(name)
      if (offer === undefined) continue
      offer.state = 'acknowledged'
      offer.connection = confirm
    }
    this.#unconfirmed.set(confirm, [...(this.#unconfirmed.get(confirm) ?? []), ...acknowledged])
    this.#plan()
  }

  /** Confirms the acknowledgements given so far and stops confirming. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#confirmAll()
  }

  #add(content: string, name: string): string {
    this.#names.set(content, name)
    this.#offers.set(name, { content, state: 'open', connection: undefined })
    const oldest = this.#offers.size > offersMax ? this.#offers.keys().next().value : undefined
    if (oldest !== undefined) this.#finish(oldest)
    return name
  }

  #plan(): void {
    if (!this.#isStopped) this.#timer ??= setTimeout(() => void this.#confirmAll(), confirmMilliseconds)
  }

  async #confirmAll(): Promise<void> {
    const acknowledged = this.#unconfirmed
    this.#unconfirmed = new Map()
    this.#timer = undefined
    await Promise.all(
      [...acknowledged].map(([confirm, offered]) => confirm().then((isCertain) => this.#settle(offered, isCertain))),
    )
    const ended = this.#ending
    this.#ending = []
    if (ended.length === 0) return
    try {
      await this.#end(ended)
      for (const name of ended) this.#forget(name)
    } catch {
      this.#ending = [...ended, ...this.#ending]
      this.#plan()
    }
  }

  #settle(acknowledged: readonly string[], isCertain: boolean): void {
    if (isCertain) this.#ending = [...this.#ending, ...acknowledged]
    else for (const name of acknowledged) this.#lose(name)
  }

  #lose(name: string): void {
    const offer = this.#offers.get(name)
    if (offer === undefined) return
    offer.state = 'lost'
    setTimeout(() => offer.state === 'lost' && this.#finish(name), lostMilliseconds).unref()
  }

  #finish(name: string): void {
    this.#ending = [...this.#ending, name]
    this.#plan()
  }

  #forget(name: string): void {
    const content = this.#offers.get(name)?.content
    this.#offers.delete(name)
    if (content !== undefined && this.#names.get(content) === name) this.#names.delete(content)
  }
}
