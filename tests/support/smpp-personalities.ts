import { setTimeout as delay } from 'node:timers/promises'
import { chanceOf } from '@gateway/core/testing'
import { COMMAND_STATUS, TLV_TAG, type Pdu, type Tlv } from '@gateway/smpp'
import type { SmppClient } from '../../apps/smpp/testing/smpp-client.ts'
import { bindClient, receiptedId, type SmppLogin } from './smpp-customers.ts'

/** Behaviour of the client software of a customer. */
export interface Personality {
  readonly title: string
  /** Options of `gateway smpp add` for its credential. */
  readonly credential: readonly string[]
  /** Submissions without a response. */
  readonly window: number
  /** Milliseconds after which a submission without a response is repeated with the same user_message_reference. */
  readonly patience?: number
  readonly dataCoding: number
  /** Octets of the text of a part, in the alphabet of `dataCoding`. */
  readonly text: Buffer
  /** Parts of each message. */
  readonly parts: number
  readonly writesInHalves?: boolean
}

const bounds = ['--binds', '2', '--window', '50', '--per-second', '2000']

/** Client software of customers with different habits, which submits as fast as its habits allow. */
export const personalities: readonly Personality[] = [
  {
    title: 'jsmpp, which gives up after 2 s and submits again',
    credential: [...bounds, '--idempotent'],
    ...{ window: 10, patience: 2000, dataCoding: 0, text: Buffer.from('Hello from Java'), parts: 1 },
  },
  {
    title: 'a window of 1, which submits a part only after the response to the one before',
    credential: bounds,
    ...{ window: 1, dataCoding: 0, text: Buffer.alloc(150, 0x78), parts: 3 },
  },
  {
    title: 'GSM octets under data_coding 1',
    credential: [...bounds, '--alphabet1', 'gsm'],
    // The octets of @, £, $ and ¥, which are control characters in ASCII.
    ...{ window: 10, dataCoding: 1, text: Buffer.of(0, 1, 2, 3), parts: 1 },
  },
  {
    title: 'no window at all',
    credential: ['--binds', '2', '--window', '50', '--per-second', '500'],
    ...{ window: Infinity, dataCoding: 0, text: Buffer.from('flood'), parts: 1 },
  },
  {
    title: 'half PDUs',
    credential: bounds,
    ...{
      window: 10,
      dataCoding: 8,
      text: Buffer.from('Привет '.repeat(9), 'utf16le').swap16(),
      parts: 2,
      writesInHalves: true,
    },
  },
]

/** Results of a client. */
export interface Submitted {
  /** Ids of the responses, in the order of the parts, by the number of the recipient. */
  readonly ids: ReadonlyMap<string, readonly string[]>
  /** Ids of received receipts of delivered parts. */
  readonly receipts: ReadonlySet<string>
  /** Numbers whose replies were received. */
  readonly replies: ReadonlySet<string>
  readonly refusedForNow: number
  readonly repeated: number
}

/** Client of one personality with one bind. */
export class PersonalityClient {
  readonly #personality: Personality
  readonly #client: SmppClient
  readonly #ids = new Map<string, string[]>()
  readonly #receipts = new Set<string>()
  readonly #replies = new Set<string>()
  readonly #chance = chanceOf(1)
  #references = 0
  #refusedForNow = 0
  #repeated = 0

  private constructor(personality: Personality, client: SmppClient) {
    this.#personality = personality
    this.#client = client
  }

  static async bind(port: number, login: SmppLogin, personality: Personality): Promise<PersonalityClient> {
    const settings = { writesInHalves: personality.writesInHalves ?? false }
    return new PersonalityClient(personality, await bindClient(port, login, settings))
  }

  /** Submits a text to each number, in `parts` parts, and repeats temporarily refused parts. */
  async submit(numbers: readonly string[]): Promise<void> {
    const waiting = [...numbers]
    const work = async () => {
      for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) await this.#submitText(number)
    }
    const atOnce = Math.min(this.#personality.window, numbers.length)
    await Promise.all(Array.from({ length: atOnce }, work))
  }

  /** Returns what was answered and received so far. */
  results(): Submitted {
    for (const { esmClass, sourceAddr, shortMessage } of this.#client.deliveries.splice(0)) {
      const text = shortMessage.toString('latin1')
      if (esmClass === 0) this.#replies.add(sourceAddr)
      else if (text.includes(' stat:DELIVRD err:000 ')) this.#receipts.add(receiptedId(shortMessage))
    }
    return {
      ...{ ids: this.#ids, receipts: this.#receipts, replies: this.#replies },
      ...{ refusedForNow: this.#refusedForNow, repeated: this.#repeated },
    }
  }

  async unbind(): Promise<void> {
    await this.#client.unbind()
  }

  async #submitText(number: string): Promise<void> {
    const { parts, text } = this.#personality
    const reference = ++this.#references % 65_536
    const ids: string[] = []
    for (let part = 1; part <= parts; part++) {
      const header = parts === 1 ? [] : [5, 0, 3, reference % 256, parts, part]
      ids.push(await this.#submitPart(number, Buffer.concat([Buffer.from(header), text]), reference))
    }
    this.#ids.set(number, ids)
  }

  async #submitPart(number: string, octets: Buffer, reference: number): Promise<string> {
    for (;;) {
      const response = await this.#submitOnce(number, octets, reference)
      if (response === undefined) this.#repeated++
      else if (response.status === COMMAND_STATUS.ESME_RTHROTTLED || response.status === COMMAND_STATUS.ESME_RSYSERR) {
        this.#refusedForNow++
        await delay(this.#chance.between(200, 1000))
      } else if (response.status !== 0 || !('messageId' in response)) {
        throw new Error(`a submission was answered with command_status ${response.status}`)
      } else return response.messageId
    }
  }

  /** Resolves to the response, or to undefined if the client has lost its patience. */
  async #submitOnce(number: string, octets: Buffer, reference: number): Promise<Pdu | undefined> {
    const { dataCoding, parts, patience } = this.#personality
    const tlvs: readonly Tlv[] =
      patience === undefined
        ? []
        : [{ tag: TLV_TAG.user_message_reference, value: Buffer.of(reference >> 8, reference & 255) }]
    const response = this.#client.submit(number, octets, { dataCoding, esmClass: parts === 1 ? 0 : 0x40, tlvs })
    if (patience === undefined) return response
    const late = new AbortController()
    const gaveUp = delay(patience, undefined, { signal: late.signal }).catch(() => undefined)
    const first = await Promise.race([response, gaveUp])
    late.abort()
    return first
  }
}
