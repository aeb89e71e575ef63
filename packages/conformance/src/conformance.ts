import { balance, converse } from './verbs.ts'
import { coveredElsewhere } from './cases/covered-elsewhere.ts'
import { everyCase } from './cases/index.ts'
import { chosen, type Case, type Choice } from './case.ts'
import type { Configuration } from './configuration.ts'
import type { Summary } from './report.ts'
import { runCases, type CaseResult } from './run-suite.ts'
import {
  NotTestable,
  numbersUsedUp,
  TestedGateway,
  type Addresses,
  type Deployment,
  type Reply,
} from './tested-gateway.ts'

export interface Conformance {
  readonly addresses: Addresses
  readonly configuration: Configuration
  /** Selected cases; by default all. */
  readonly choice?: Choice
  /** Delivers a reply to the gateway; by default runs the command of the configuration. */
  readonly bringReply?: ((reply: Reply) => Promise<void>) | undefined
  /**
   * True if one reply is delivered as a test before the first case that needs replies. If that reply does not arrive,
   * cases that need replies are reported as not testable.
   */
  readonly probesReplies?: boolean
  /** Called with each result when it is known. */
  readonly onResult?: (result: CaseResult) => void
}

/** Maximum cost of a run, known before it starts. */
export interface Expense {
  readonly cases: number
  /** Message parts that are sent and stay charged. */
  readonly parts: number
  readonly credits: number
}

const all: Choice = { sections: [], titles: [] }

const casesOf = ({ choice = all }: Pick<Conformance, 'choice'>): readonly Case[] => chosen(everyCase, choice)

/** Returns the maximum cost of a run. */
export function expenseOf(run: Pick<Conformance, 'choice' | 'configuration'>): Expense {
  const cases = casesOf(run)
  // The test whether replies arrive costs one more message.
  const probed = run.configuration.replies === undefined ? 0 : 1
  const parts = cases.reduce((sum, one) => sum + (one.parts ?? 0), probed)
  return { cases: cases.length, parts, credits: Math.ceil(parts * run.configuration.numbers.price) }
}

/** Runs the suite or the selected cases, and restores the credits of the sub accounts. */
export async function runConformance(run: Conformance): Promise<Summary> {
  const { addresses, configuration, onResult, choice } = run
  const begun = performance.now()
  // Skip the first number, because all cases share it.
  const numbers = configuration.numbers.delivered.slice(1).values()
  const plain: Deployment = {
    addresses,
    configuration,
    bringReply: run.bringReply,
    ownNumber: () => {
      const { value } = numbers.next()
      if (value === undefined) throw new Error(numbersUsedUp)
      return value
    },
  }
  const deployment = run.probesReplies === true ? probing(plain) : plain
  const before = await credits(deployment)
  const results = await runCases(casesOf(run), deployment, onResult)
  await putBack(deployment, before)
  const after = await credits(deployment)
  return {
    addresses: { rest: addresses.rest.href, asp: addresses.asp.href, xml: addresses.xml.href },
    seconds: Math.round((performance.now() - begun) / 100) / 10,
    creditsSpent: before && after && (total(before) - total(after)) / 10,
    results,
    elsewhere: choice === undefined ? coveredElsewhere : [],
  }
}

/** Returns a deployment that first tests whether replies arrive in this gateway, as soon as a case needs a reply. */
function probing(deployment: Deployment): Deployment {
  const { bringReply, ownNumber } = deployment
  if (bringReply === undefined) return deployment
  let probe: Promise<unknown> | undefined
  const tried = () =>
    (probe ??= converse(new TestedGateway(deployment), { from: ownNumber(), text: 'Does this arrive?' }))
  return {
    ...deployment,
    bringReply: async (reply) => {
      await tried().catch((problem: unknown) => {
        const why = problem instanceof Error ? problem.message.trim() : String(problem)
        throw new NotTestable(
          `replies.command does not deliver a reply to this gateway: ${why}. It must use the database of the gateway; replies.folder and replies.environment say where it runs`,
        )
      })
      await bringReply(reply)
    },
  }
}

type Balances = Readonly<Record<'main' | 'sub' | 'otherSub', number>>

const total = ({ main, sub, otherSub }: Balances): number => main + sub + otherSub

/** Reads the balances, in tenths. Returns undefined if they cannot be read. */
async function credits(deployment: Deployment): Promise<Balances | undefined> {
  const gateway = new TestedGateway(deployment)
  try {
    const { main, sub, otherSub } = gateway
    return {
      main: await balance(gateway, main),
      sub: await balance(gateway, sub),
      otherSub: await balance(gateway, otherSub),
    }
  } catch {
    return undefined
  }
}

/** Transfers whole credits so that the sub accounts have their former balances. */
async function putBack(deployment: Deployment, before: Balances | undefined): Promise<void> {
  const now = await credits(deployment)
  if (before === undefined || now === undefined) return
  const gateway = new TestedGateway(deployment)
  for (const name of ['sub', 'otherSub'] as const) {
    const more = Math.trunc((now[name] - before[name]) / 10)
    const [from, to] = more > 0 ? [gateway[name], gateway.main] : [gateway.main, gateway[name]]
    const body = { sendingAccountNumber: from.id, receivingAccountNumber: to.id, transferQuantity: Math.abs(more) }
    if (more !== 0) await gateway.rest('/credits/transfer', { body })
  }
}
