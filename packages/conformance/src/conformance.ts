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
  /** By default all cases. */
  readonly choice?: Choice
  /** Makes a reply arrive, by default with the command of the configuration. */
  readonly bringReply?: ((reply: Reply) => Promise<void>) | undefined
  /**
   * Whether a first reply is tried before any case needs one; where it does not arrive, those cases are not testable.
   */
  readonly probesReplies?: boolean
  /** Is told each result as it comes. */
  readonly told?: (result: CaseResult) => void
}

/** What a run takes at most, before it begins. */
export interface Expense {
  readonly cases: number
  /** Message parts that leave, and stay charged. */
  readonly parts: number
  readonly credits: number
}

const all: Choice = { sections: [], titles: [] }

const casesOf = ({ choice = all }: Pick<Conformance, 'choice'>): readonly Case[] => chosen(everyCase, choice)

/** What a run will spend at most. */
export function expenseOf(wanted: Pick<Conformance, 'choice' | 'configuration'>): Expense {
  const cases = casesOf(wanted)
  // One more is sent to see whether replies arrive.
  const probed = wanted.configuration.replies === undefined ? 0 : 1
  const parts = cases.reduce((sum, one) => sum + (one.parts ?? 0), probed)
  return { cases: cases.length, parts, credits: Math.ceil(parts * wanted.configuration.numbers.price) }
}

/** Runs the suite, or the chosen cases of it. Puts back the credits of the sub accounts. */
export async function runConformance(wanted: Conformance): Promise<Summary> {
  const { addresses, configuration, told, choice } = wanted
  const begun = performance.now()
  // The first one is shared.
  const numbers = configuration.numbers.delivered.slice(1).values()
  const plain: Deployment = {
    addresses,
    configuration,
    bringReply: wanted.bringReply,
    ownNumber: () => {
      const { value } = numbers.next()
      if (value === undefined) throw new Error(numbersUsedUp)
      return value
    },
  }
  const deployment = wanted.probesReplies === true ? probing(plain) : plain
  const before = await credits(deployment)
  const results = await runCases(casesOf(wanted), deployment, told)
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

/**
 * The same, where the first reply that a case needs is preceded by one that shows whether replies arrive in this
 * gateway at all.
 */
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
          `replies.command brings no reply into this gateway: ${why}. It must work on the database of the gateway, by replies.folder and replies.environment`,
        )
      })
      await bringReply(reply)
    },
  }
}

type Balances = Readonly<Record<'main' | 'sub' | 'otherSub', number>>

const total = ({ main, sub, otherSub }: Balances): number => main + sub + otherSub

/** In tenths; undefined where they cannot be asked. */
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

/** Moves whole credits so that the sub accounts have what they had. */
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
