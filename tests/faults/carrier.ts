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
  /** Answer. `unknown`: the submission was not answered. `ignored`: it was neither answered nor accepted. */
  readonly answer: string
  /** Time of the recipient's reply, if there is one. */
  readonly replies?: string
}

/** Carrier of the fault test. Both dispatchers share it, and it outlives them. */
export interface CarrierOfRun {
  /** Name of the carrier in the database. */
  readonly id: string
  /** Returns the `CARRIERS` of a dispatcher with this name, and its relay to the carrier if that is another process. */
  wayOf(member: string): Promise<{ readonly url: string; readonly relay: Relay | undefined }>
  /** Returns all submissions in order. */
  record(database: Database): Promise<readonly Submission[]>
  /**
   * Reads the new submissions, and returns a function from a member to the number of messages that its running process
   * has submitted.
   */
  read(): Promise<(member: Member) => number>
  /** Endings of numbers with outcomes other than a usual delivery. */
  readonly odd: readonly string[]
  /** True if it reports the outcome of every accepted message, even if its answer was lost. */
  readonly tellsAll: boolean
  /** Kills it and resolves when it is running again. */
  readonly kill: (() => Promise<void>) | undefined
  /** Faults of the carriers of its route. Undefined if there is only one carrier. */
  readonly troubles: CarrierTroubles | undefined
  /** Resolves when it owes nothing and all its receipts have been matched. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface CarrierTroubles {
  /** Names, best carrier first. All messages may go over any of them. */
  readonly names: readonly string[]
  /** Makes the best carrier neither accept nor answer submissions for this long. */
  silence(milliseconds: number): Promise<Trouble>
  /** Messages per second that the best carrier accepts from all dispatchers together. */
  readonly bestPerSecond: number
  /** Returns the numbers to which each carrier has received a submission since then, in the order of `names`. */
  received(since: number): Promise<readonly ReadonlySet<string>[]>
  /** Makes both carriers refuse numbers that end in 96 temporarily for this long. */
  refuseNumbers(milliseconds: number): Promise<void>
  /** Records that a carrier was paused for this long until now. */
  paused(name: string, milliseconds: number): Promise<Trouble>
}

export interface Trouble {
  /** Number of messages that each dispatcher submitted to the carrier meanwhile, by its name. */
  readonly submitted: ReadonlyMap<string, number>
}

export interface CarrierPlace {
  /** Empty folder for the carrier. */
  readonly folder: string
  readonly chance: Chance
  /** Maximum submissions per second of each dispatcher. */
  readonly perSecond: number
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
    tellsAll: false,
    kill: undefined,
    troubles: undefined,
    settled: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}
