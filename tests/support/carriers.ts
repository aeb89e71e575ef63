import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { operateJson } from './operate.ts'
import type { Environment } from './process.ts'
import { submissions } from './record.ts'
import { startSmscProcess } from './smsc.ts'

/** What was submitted to a carrier; over SMPP a line for each part. */
export interface SubmittedTo {
  readonly number: string
  /** null: no address. */
  readonly from: string | null
}

/** A carrier that plays, and what tests ask of it. */
export interface RunningCarrier {
  /** For `CARRIERS`. */
  readonly url: string
  /** The same, which is given so many messages a second at most. */
  limitedTo(perSecond: number): string
  /** Everything that was ever submitted to it, over all runs of the gateway. */
  submitted(): Promise<readonly SubmittedTo[]>
  /** Lets a mobile write; resolves when it is stored. */
  write(from: string, to: string, text: string): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts one that keeps what it keeps below the data folder of the gateway, with the time from a submission to its
 * receipt.
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
 * For `describe.each`: the same tests run over the simulated carrier, and over SMPP with `gateway-smsc` in another
 * process.
 */
export const carriers: readonly (readonly [title: string, start: StartCarrier])[] = [
  ['the simulated carrier', simulated],
  ['SMPP', smpp],
]
