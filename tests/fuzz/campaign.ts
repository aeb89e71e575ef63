import { openAccount } from '../support/accounts.ts'
import { startAllInOne } from '../support/gateways.ts'
import { operate } from '../support/operate.ts'
import { fuzz, type Tally } from './fuzz.ts'
import { targets, type Caller, type Target } from './inputs.ts'

export interface Campaign {
  /** Number of inputs of each target. */
  readonly count: number
  readonly seed: number
  /** Selects the targets to fuzz. By default all are fuzzed. */
  readonly wants?: (target: Target) => boolean
  readonly onProgress?: (tally: Tally) => void
}

const password = 'a right password'

/** Fuzzes a new gateway, and then checks its state. `wrong` lists the errors. */
export async function runCampaign({ count, seed, wants = () => true, onProgress }: Campaign) {
  const gateway = await startAllInOne()
  try {
    const { environment, restUrl } = gateway
    const main = await openAccount(environment, 'main', 1_000_000_000, '--password', password)
    const sub = await openAccount(environment, 'sub', 1_000_000, '--parent', String(main.id))
    const webhook = ['--account', String(main.id), '--url', 'https://receiver.invalid/', '--events', 'optout.removed']
    for (let i = 0; i < 5; i++) await operate(['webhook', 'add', ...webhook], environment)
    const caller: Caller = { ...main, sub: sub.id, login: 'main', password }
    const tallies: Tally[] = []
    for (const [at, target] of targets.entries()) {
      if (!wants(target)) continue
      // Each target has a seed of its own, so that targets with the same parameters get different inputs.
      const tally = await fuzz(target, { port: Number(new URL(restUrl).port), caller, count, seed: seed + at * 1e8 })
      onProgress?.(tally)
      tallies.push(tally)
    }
    const health = await fetch(`${restUrl}/health/ready`).then(({ status }) => status, String)
    const verified = await operate(['credits', 'verify'], environment)
    return {
      tallies,
      wrong: [
        ...tallies.flatMap(({ target, wrong }) => wrong.map((each) => `${target.name}: ${each}`)),
        ...(health === 200 ? [] : [`readiness: ${health}`]),
        ...(verified.code === 0 ? [] : [`the ledger: ${verified.out}${verified.err}`]),
      ],
    }
  } finally {
    await gateway.stop()
  }
}
