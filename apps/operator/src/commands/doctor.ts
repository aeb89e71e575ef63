import { command, Refused, type Context, type Look } from '../command.ts'
import { findings, type Finding, type Readings } from '../doctor/rules.ts'

/** Maximum number of rows to count for each webhook. */
const webhookRowsMax = 1000

export const doctor = (look: Look) =>
  command(
    'doctor',
    'check the database and everything that works with it, and say what to do; exits with 1 if anything is bad',
  ).action(() =>
    look((context) => context.output.during('Looking', readingsOf(context))).then(async (seen) => {
      const found = 'found' in seen ? findings(seen.found) : [unanswered(seen.problem)]
      await seen.output.rows(['STATE', 'ABOUT', 'SAYS', 'WHAT TO DO'], found.map(row), undefined, 'folded')
      const bad = found.filter(({ state }) => state === 'bad')
      if (bad.length > 0) throw new Refused(`Bad: ${bad.map(({ about }) => about).join(', ')}.`)
    }),
  )

const unanswered = (says: string): Finding => ({
  about: 'database',
  state: 'bad',
  says: says.replaceAll(/\s*\n\s*/g, ' '),
  advice: 'nothing is accepted or sent until the database answers: check its processes, disk and log',
})

const row = ({ state, about, says, advice }: Finding) => ({
  json: { about, state, says, advice: advice ?? null },
  cells: [state, about, says, advice ?? ''],
})

async function readingsOf({ backOffice, ports, surroundings }: Context): Promise<Readings> {
  const [around, dispatchers, carriers, webhooks, promotions, oldestDue] = await Promise.all([
    surroundings(),
    backOffice.queries.listDispatchers(),
    backOffice.queries.listCarriers(),
    ports.webhooks.totals(webhookRowsMax),
    backOffice.queries.listPromotions(),
    oldestOf(backOffice),
  ])
  return { ...around, now: ports.clock.now(), dispatchers, carriers, webhooks, promotions, oldestDue }
}

async function oldestOf(backOffice: Context['backOffice']): Promise<number | undefined> {
  let oldest: number | undefined
  for await (const { oldestDue } of backOffice.queries.showQueue())
    if (oldestDue !== undefined && oldestDue < (oldest ?? Infinity)) oldest = oldestDue
  return oldest
}
