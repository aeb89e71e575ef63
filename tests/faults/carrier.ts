import type { Chance } from '@gateway/core/testing'
import { submissions } from '../support/record.ts'
import { carrierRuns } from './carrier-runs.ts'
import type { Database } from './database.ts'
import type { Relay } from './network.ts'
import type { Member } from './processes.ts'

/** Part of a message that was submitted to a carrier. */
export interface Submission {
  readonly messageId: number
  readonly number: string
  /** Number of the part, from 1; 1 if the carrier does not support parts. */
  readonly part: number
  /** Number of parts of the message; 1 if the carrier does not support parts. */
  readonly parts: number
  /**
   * Answer to the submission. `unknown` means that no answer arrived. `ignored` means that the carrier neither answered
   * nor accepted it.
   */
  readonly answer: string
  /** Time of the recipient's reply, if there is one. */
  readonly replies?: string
}

/** Carrier of the fault test. Both dispatchers use it, and it continues to exist when a dispatcher ends. */
export interface CarrierOfRun {
  /** Name of the carrier in the database. */
  readonly id: string
  /**
   * Returns the value of `CARRIERS` for the dispatcher with this name. Also returns its relay to the carrier if the
   * carrier is another process.
   */
  wayOf(member: string): Promise<{ readonly url: string; readonly relay: Relay | undefined }>
  /** Returns all submissions in order. */
  record(database: Database): Promise<readonly Submission[]>
  /**
   * Reads the new submissions. Returns a function that maps a member to the number of messages that its running process
   * has submitted.
   */
  read(): Promise<(member: Member) => number>
  /** Last two digits of numbers whose messages have an unusual outcome, with repetitions for a higher frequency. */
  readonly odd: readonly string[]
  /**
   * True if the carrier reports the outcome of every accepted message, even if its answer to the submission was lost.
   */
  readonly reportsAll: boolean
  /** Kills the carrier, and resolves when it is running again. Undefined if the carrier has no process of its own. */
  readonly kill: (() => Promise<void>) | undefined
  /** Octets of messages on its links, at which a link can be cut. Those that occur twice are cut twice as often. */
  readonly marks: readonly Buffer[]
  /** Faults of the carriers of its route. Undefined if there is only one carrier. */
  readonly troubles: CarrierTroubles | undefined
  /**
   * Variables of the process that receives callbacks of the carrier, whose PUBLIC_URL the dispatchers have too.
   * Undefined if its receipts do not come as callbacks.
   */
  readonly callbacks?: { readonly PORT: string; readonly PUBLIC_URL: string }
  /** Resolves when the carrier owes no receipts and all its receipts have been matched. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface CarrierTroubles {
  /** Names of the carriers, best carrier first. Every message may be sent over any of them. */
  readonly names: readonly string[]
  /** Makes the best carrier neither accept nor answer submissions for this many milliseconds. */
  silence(milliseconds: number): Promise<Trouble>
  /** Messages per second that the best carrier accepts from all dispatchers together. */
  readonly bestPerSecond: number
  /**
   * Returns the numbers to which each carrier has received a submission since this time (milliseconds since 1970), in
   * the order of `names`.
   */
  received(since: number): Promise<readonly ReadonlySet<string>[]>
  /** Makes both carriers temporarily refuse numbers that end in 96 for this many milliseconds. */
  refuseNumbers(milliseconds: number): Promise<void>
  /** Records that a carrier was paused during the last `milliseconds`. */
  paused(name: string, milliseconds: number): Promise<Trouble>
}

export interface Trouble {
  /**
   * Number of messages that each dispatcher submitted to the carrier during the trouble, by the name of the dispatcher.
   */
  readonly submitted: ReadonlyMap<string, number>
}

export interface CarrierPlace {
  /** Empty folder for the carrier. */
  readonly folder: string
  readonly chance: Chance
  /** Maximum submissions per second of each dispatcher. */
  readonly perSecond: number
  /** Seconds after which an answer counts as slow; undefined: the carrier's default. */
  readonly slowSeconds?: number | undefined
  /** Returns the process of a member while it runs. */
  readonly pidOf: (member: string) => number | undefined
}

/** Creates the simulated carrier, whose record is in the data folder of the dispatchers. */
export function simulatedCarrierOfRun({ folder, perSecond }: CarrierPlace): CarrierOfRun {
  const runs = carrierRuns(folder)
  return {
    id: 'simulator',
    wayOf: () => Promise.resolve({ url: `simulator:?delayMs=300&perSecond=${perSecond}`, relay: undefined }),
    record: async () => (await submissions(folder)).map((line) => ({ ...line, part: 1, parts: 1 })),
    read: async () => {
      const acceptedBy = await runs.read()
      return (member) => acceptedBy(member.pid())
    },
    // 88 replies; the others have unusual outcomes.
    odd: ['88', '88', '90', '91', '92', '93', '93', '94', '95', '96', '96', '97', '97', '98', '98'],
    reportsAll: false,
    kill: undefined,
    marks: [],
    troubles: undefined,
    settled: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}
