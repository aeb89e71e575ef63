import type { Chance } from '@gateway/core/testing'
import { submissions } from '../support/record.ts'
import { carrierRuns } from './carrier-runs.ts'
import type { Database } from './database.ts'
import type { Relay } from './network.ts'
import type { Member } from './processes.ts'

/** A part of a message that a carrier was asked to take. */
export interface Submission {
  readonly messageId: number
  readonly number: string
  /** Counted from 1; 1 where the carrier knows of no parts. */
  readonly part: number
  /** So many has its message; 1 where the carrier knows of no parts. */
  readonly parts: number
  /** `unknown`: it was not answered. `ignored`: nor was it taken. */
  readonly answer: string
  /** When its recipient writes back, if it does. */
  readonly replies?: string
}

/** A carrier of the fault test: it is the same for both dispatchers and outlives them. */
export interface CarrierOfRun {
  /** Its name in the database. */
  readonly id: string
  /** Of a dispatcher with this name: its `CARRIERS`, and the way to it, if it is another process. */
  wayOf(member: string): Promise<{ readonly url: string; readonly relay: Relay | undefined }>
  /** Everything that it was ever asked to take, in that order. */
  record(database: Database): Promise<readonly Submission[]>
  /** Reads on, and returns how many messages the running process of a member has submitted to it. */
  read(): Promise<(member: Member) => number>
  /** Numbers with these endings, beside those that are just delivered. */
  readonly odd: readonly string[]
  /** Tells the fate of every message that it took, also of one whose answer nobody heard. */
  readonly tellsAll: boolean
  /** Ends at once, without a word, and is there again when this resolves. */
  readonly kill: (() => Promise<void>) | undefined
  /** The carriers of its route and what may befall each of them; undefined: there is only one. */
  readonly troubles: CarrierTroubles | undefined
  /** Resolves when it owes nothing and all that it told has been matched to messages. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface CarrierTroubles {
  /** By name. The best comes first; all messages may go over any of them. */
  readonly names: readonly string[]
  /** The best one takes and answers no submissions for so long. */
  silence(milliseconds: number): Promise<Trouble>
  /** Messages per second that the best carrier accepts from all dispatchers together. */
  readonly bestPerSecond: number
  /** Returns the numbers to which each carrier has received a submission since then, in the order of `names`. */
  received(since: number): Promise<readonly ReadonlySet<string>[]>
  /** For this long both carriers refuse numbers that end in 96 for now, every time. */
  refuseNumbers(milliseconds: number): Promise<void>
  /** A carrier was paused so long ago, and is until now. */
  paused(name: string, milliseconds: number): Promise<Trouble>
}

export interface Trouble {
  /** By the name of each dispatcher: so many messages it has submitted meanwhile to the carrier. */
  readonly submitted: ReadonlyMap<string, number>
}

export interface CarrierPlace {
  /** An empty folder of its own. */
  readonly folder: string
  readonly chance: Chance
  /** What each dispatcher may give it. */
  readonly perSecond: number
  /** The process of a member while it runs. */
  readonly pidOf: (member: string) => number | undefined
}

/** The simulated carrier, whose record is in the data folder of the dispatchers. */
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
    // 88 writes back; the others end in another way than the usual one.
    odd: ['88', '88', '90', '91', '92', '93', '93', '94', '95', '96', '96', '97', '97', '98', '98'],
    tellsAll: false,
    kill: undefined,
    troubles: undefined,
    settled: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}
