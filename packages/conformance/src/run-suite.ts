import { sectionOf, type Case } from './case.ts'
import type { Configuration } from './configuration.ts'
import { afterProgress, OwnProgress } from './own-progress.ts'
import { NotTestable, numbersUsedUp, TestedGateway, type Deployment } from './tested-gateway.ts'

export type Outcome =
  | { readonly is: 'passed' }
  | { readonly is: 'failed'; readonly why: string; readonly lastExchange: string }
  | { readonly is: 'not testable'; readonly why: string }
  /**
   * The case failed each time, and each time the machine that runs the suite was too busy for a verdict about the
   * gateway.
   */
  | { readonly is: 'not judged'; readonly why: string }

export interface CaseResult {
  readonly case: Case
  readonly section: string
  readonly outcome: Outcome
  readonly milliseconds: number
}

const lanesMax = 4
const caseSecondsMax = 180

/** Maximum number of runs of a case that fails on a busy machine. */
const runsMax = 3

/**
 * Runs cases against a deployment, several at a time; cases with the same `alone` run one after the other. Returns
 * results in the order of the cases.
 */
export async function runCases(
  cases: readonly Case[],
  deployment: Deployment,
  onResult: (result: CaseResult) => void = () => undefined,
): Promise<readonly CaseResult[]> {
  const results = new Map<Case, CaseResult>()
  const progress = await OwnProgress.start()
  const run = async (one: Case): Promise<void> => {
    const result = await runCase(one, deployment, progress)
    results.set(one, result)
    onResult(result)
  }
  const together = cases.filter(({ alone }) => alone === undefined)
  const resources = new Set(cases.flatMap(({ alone }) => alone ?? []))
  const lanes = [...resources].map((resource) => cases.filter(({ alone }) => alone === resource).values())
  const shared = together.values()
  for (let lane = 0; lane < lanesMax; lane++) lanes.push(shared)
  try {
    await Promise.all(
      lanes.map(async (lane) => {
        for (const one of lane) await run(one)
      }),
    )
  } finally {
    progress.close()
  }
  return cases.flatMap((one) => results.get(one) ?? [])
}

async function runCase(one: Case, deployment: Deployment, progress: OwnProgress): Promise<CaseResult> {
  const begun = performance.now()
  const outcome = withoutSecrets(await judge(one, deployment, progress), deployment.configuration)
  return { case: one, section: sectionOf(one.of[0]), outcome, milliseconds: Math.round(performance.now() - begun) }
}

/** Runs a case, and repeats it if it fails on a busy machine. A failure counts only if the suite was not delayed. */
async function judge(one: Case, deployment: Deployment, progress: OwnProgress): Promise<Outcome> {
  let busy: Outcome | undefined
  for (let run = 1; ; run++) {
    const begun = performance.now()
    const outcome = await outcomeOf(one, new TestedGateway(deployment))
    if (outcome.is !== 'failed') return outcome
    // A repeated case uses new numbers, which may be used up.
    if (busy !== undefined && outcome.why === numbersUsedUp) return busy
    const why = progress.reasonForDelay(begun)
    if (why === undefined) return outcome
    busy = { is: 'not judged', why }
    if (run === runsMax) return busy
  }
}

async function outcomeOf(one: Case, gateway: TestedGateway): Promise<Outcome> {
  let stop: (() => void) | undefined
  const tooLong = new Promise<never>((_, reject) => {
    stop = afterProgress(caseSecondsMax, () => reject(new Error(`the case did not end within ${caseSecondsMax} s`)))
  })
  try {
    await Promise.race([one.run(gateway), tooLong])
    return { is: 'passed' }
  } catch (problem) {
    if (problem instanceof NotTestable) return { is: 'not testable', why: problem.message }
    const why = problem instanceof Error ? problem.message : String(problem)
    return { is: 'failed', why, lastExchange: gateway.lastExchange }
  } finally {
    stop?.()
    await gateway.cleanUp().catch(() => undefined)
  }
}

/** Removes keys and passwords of the configuration from an outcome, because reports are shown to others. */
function withoutSecrets(outcome: Outcome, { accounts, keys = {} }: Configuration): Outcome {
  if (outcome.is !== 'failed') return outcome
  const passwords = Object.values(accounts).flatMap((account) => ('password' in account ? account.password : []))
  const secrets = [...Object.values(accounts).map(({ key }) => key), ...Object.values(keys), ...passwords]
  const hidden = (text: string): string =>
    secrets.reduce(
      (cleaned, secret) => cleaned.replaceAll(secret, '***').replaceAll(encodeURIComponent(secret), '***'),
      text,
    )
  return { is: 'failed', why: hidden(outcome.why), lastExchange: hidden(outcome.lastExchange) }
}
