import { setTimeout as delay } from 'node:timers/promises'
import { sectionOf, type Case } from './case.ts'
import type { Configuration } from './configuration.ts'
import { NotTestable, TestedGateway, type Deployment } from './tested-gateway.ts'

export type Outcome =
  | { readonly is: 'passed' }
  | { readonly is: 'failed'; readonly why: string; readonly lastExchange: string }
  | { readonly is: 'not testable'; readonly why: string }

export interface CaseResult {
  readonly case: Case
  readonly section: string
  readonly outcome: Outcome
  readonly milliseconds: number
}

const lanesMax = 4
const caseSecondsMax = 180

/**
 * Runs cases against a deployment, several at a time; those that name the same thing as `alone` one after the other.
 * Results are in the order of the cases.
 */
export async function runCases(
  cases: readonly Case[],
  deployment: Deployment,
  told: (result: CaseResult) => void = () => undefined,
): Promise<readonly CaseResult[]> {
  const results = new Map<Case, CaseResult>()
  const run = async (one: Case): Promise<void> => {
    const result = await runCase(one, deployment)
    results.set(one, result)
    told(result)
  }
  const together = cases.filter(({ alone }) => alone === undefined)
  const resources = new Set(cases.flatMap(({ alone }) => alone ?? []))
  const lanes = [...resources].map((resource) => cases.filter(({ alone }) => alone === resource).values())
  const shared = together.values()
  for (let lane = 0; lane < lanesMax; lane++) lanes.push(shared)
  await Promise.all(
    lanes.map(async (lane) => {
      for (const one of lane) await run(one)
    }),
  )
  return cases.flatMap((one) => results.get(one) ?? [])
}

async function runCase(one: Case, deployment: Deployment): Promise<CaseResult> {
  const gateway = new TestedGateway(deployment)
  const begun = performance.now()
  const outcome = withoutSecrets(await outcomeOf(one, gateway), deployment.configuration)
  return { case: one, section: sectionOf(one.of[0]), outcome, milliseconds: Math.round(performance.now() - begun) }
}

async function outcomeOf(one: Case, gateway: TestedGateway): Promise<Outcome> {
  const limit = new AbortController()
  const tooLong = delay(caseSecondsMax * 1000, undefined, { signal: limit.signal }).then(() => {
    throw new Error(`not done within ${caseSecondsMax} s`)
  })
  tooLong.catch(() => undefined)
  try {
    await Promise.race([one.run(gateway), tooLong])
    return { is: 'passed' }
  } catch (problem) {
    if (problem instanceof NotTestable) return { is: 'not testable', why: problem.message }
    const why = problem instanceof Error ? problem.message : String(problem)
    return { is: 'failed', why, lastExchange: gateway.lastExchange }
  } finally {
    limit.abort()
    await gateway.cleanUp().catch(() => undefined)
  }
}

/** A report is shown to others: keys and passwords of the configuration are not in it. */
function withoutSecrets(outcome: Outcome, { accounts, keys = {} }: Configuration): Outcome {
  if (outcome.is !== 'failed') return outcome
  const passwords = Object.values(accounts).flatMap((account) => ('password' in account ? account.password : []))
  const secrets = [...Object.values(accounts).map(({ key }) => key), ...Object.values(keys), ...passwords]
  const hidden = (text: string): string =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '***').replaceAll(encodeURIComponent(secret), '***'), text)
  return { is: 'failed', why: hidden(outcome.why), lastExchange: hidden(outcome.lastExchange) }
}
