import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { operateJson } from './operate.ts'
import type { Environment } from './process.ts'
import { submissions } from './record.ts'
import { startSmscProcess } from './smsc.ts'

/** Submission to a carrier. Over SMPP it is one part of a message. */
export interface SubmittedTo {
  readonly number: string
  /** Sender address; null if there is none. */
  readonly from: string | null
}

/** Running test carrier. */
export interface RunningCarrier {
  /** Value for `CARRIERS`. */
  readonly url: string
  /** Returns a value for `CARRIERS` that limits the messages per second. */
  limitedTo(perSecond: number): string
  /** Returns all submissions, including those of earlier runs of the gateway. */
  submitted(): Promise<readonly SubmittedTo[]>
  /** Delivers a message from a mobile. Resolves when it is stored. */
  write(from: string, to: string, text: string): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a carrier. It stores its files below the data folder of the gateway. `delayMilliseconds` is the time from a
 * submission to its receipt.
 */
export type StartCarrier = (
  environment: Environment & { readonly DATA_DIR: string },
  delayMilliseconds: number,
) => Promise<RunningCarrier>

export const simulated: StartCarrier = (environment, delayMilliseconds) => {
  const url = `simulator:?delayMs=${delayMilliseconds}`
  return Promise.resolve({
    url,
    limitedTo: (perSecond) => `${url}&perSecond=${perSecond}`,
    submitted: () => submissions(environment.DATA_DIR),
    write: async (from, to, text) => {
      await operateJson(['simulate', 'reply', '--from', from, '--to', to, '--text', text], environment)
    },
    stop: () => Promise.resolve(),
  })
}

const smpp: StartCarrier = async ({ DATA_DIR }, delayMilliseconds) => {
  const folder = join(DATA_DIR, 'smsc')
  await mkdir(folder)
  const smsc = await startSmscProcess(folder, [`receiptDelay=${delayMilliseconds}`])
  return {
    url: smsc.url,
    limitedTo: (perSecond) => `${smsc.url}?perSecond=${perSecond}`,
    submitted: async () =>
      (await smsc.submits()).map(({ destinationAddr = '', sourceAddr = '' }) => ({
        number: destinationAddr,
        from: sourceAddr === '' ? null : sourceAddr,
      })),
    write: (from, to, text) => smsc.arrive({ from, to, text }),
    stop: async () => {
      await smsc.stop()
    },
  }
}

/**
 * Carriers for `describe.each`. The same tests run over the simulated carrier and over SMPP, with `gateway-smsc` in
 * another process.
 */
export const carriers: readonly (readonly [title: string, start: StartCarrier])[] = [
  ['the simulated carrier', simulated],
  ['SMPP', smpp],
]
