import type { Msisdn } from '../message/msisdn.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import { requireKeyInUse } from '../webhook/signing-secrets.ts'
import { messagesTo } from './export-number.ts'
import {
  erasureSteps,
  firstErasureStep,
  holdsUp,
  nothingErased,
  type ErasedCounts,
  type Erasure,
  type ErasureId,
  type ErasureStep,
} from './personal-data.ts'

/** Messages that are left as they are, and why. */
export interface HeldUp {
  readonly waiting: number
  readonly awaitingReceipt: number
}

export interface ErasedNumber {
  readonly erasure: ErasureId
  readonly erased: ErasedCounts
  /** What was sent to the number while it was erased. */
  readonly left: HeldUp
  /** Opt-outs and blocks, which stay. */
  readonly suppressions: number
}

type HoldingPorts = Pick<Ports, 'messageTraces' | 'clock'>

type ErasingPorts = HoldingPorts & Pick<Ports, 'personalData' | 'secretBox' | 'webhooks' | 'carrierVersions'>

/** What was due that long ago has been decided for longer than a receipt may still come. */
const lookBackDays = 90

/** What keeps a number from being erased now. */
export const heldUp = async (ports: HoldingPorts, number: Msisdn): Promise<HeldUp> => {
  const now = ports.clock.now()
  const sum = { waiting: 0, awaitingReceipt: 0 }
  for await (const page of messagesTo(ports, number, daysBefore(now, lookBackDays))) {
    for (const message of page) {
      const why = holdsUp(message, now)
      if (why === 'waits') sum.waiting += 1
      if (why === 'awaits-receipt') sum.awaitingReceipt += 1
    }
  }
  return sum
}

/**
 * Erases the owner of a number from all that is stored but opt-outs and blocks, and leaves a record of it. Nothing is done while a message to
 * it waits, or the receipt of one may still come (`HeldUp`). Money, states and counts stay. Whoever is interrupted erases again; what was sent
 * meanwhile is left, and told. Throws an `OtherKeyError`, with nothing done, where the record would have another key than what is stored.
 */
export const eraseNumber =
  (ports: ErasingPorts) =>
  async (number: Msisdn, by: string): Promise<ErasedNumber | { readonly heldUp: HeldUp }> => {
    const held = await heldUp(ports, number)
    if (held.waiting + held.awaitingReceipt > 0) return { heldUp: held }
    await requireKeyInUse(ports)
    const [digest = ''] = ports.secretBox.digestsOf(digested(number))
    const erasure = await ports.personalData.begin({ digest, by })
    let erased = nothingErased
    for (let step: ErasureStep | undefined = firstErasureStep; step !== undefined;) {
      const done: { readonly erased: ErasedCounts; readonly next: ErasureStep | undefined } =
        await ports.personalData.erase(number, step)
      erased = sumOf(erased, done.erased)
      step = done.next
    }
    await ports.personalData.end(erasure, erased)
    const { length } = await ports.personalData.suppressions(number)
    return { erasure, erased, left: await heldUp(ports, number), suppressions: length }
  }

/** The records of erasures, the latest first; of a number those that were made with a key that this process has. */
export const listErasures =
  ({ personalData, secretBox }: Pick<Ports, 'personalData' | 'secretBox'>) =>
  async (number?: Msisdn): Promise<readonly Erasure[]> => {
    const all = await personalData.erasures()
    if (number === undefined) return all
    const digests = secretBox.digestsOf(digested(number))
    return all.filter(({ digest }) => digests.includes(digest))
  }

const digested = (number: Msisdn): string => `erased number ${number}`

const sumOf = (a: ErasedCounts, b: ErasedCounts): ErasedCounts =>
  Object.fromEntries(erasureSteps.map((step) => [step, a[step] + b[step]])) as ErasedCounts
