import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { testSeed } from '@gateway/core/testing'
import { runFaults } from './run.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    root: { type: 'string' },
    'remove-logs': { type: 'boolean', default: false },
    'log-faults': { type: 'boolean', default: false },
    'until-broken': { type: 'boolean', default: false },
    'recipients-per-second': { type: 'string', default: '120' },
    carrier: { type: 'string', default: 'simulator' },
    'smpp-customers': { type: 'boolean', default: false },
    'carrier-per-second': { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    'backlog-max': { type: 'string', default: '3000' },
    'seconds-between-faults': { type: 'string', default: '1.5' },
  },
})

function carrierOf(name: string): 'simulator' | 'smpp' | 'http' {
  if (name === 'simulator' || name === 'smpp' || name === 'http') return name
  throw new Error(`there is no carrier ${name}; there are simulator, smpp and http`)
}

const seed = values.seed === undefined ? testSeed() : Number(values.seed)
const say = (line: string): void => console.log(`${new Date().toISOString()} ${line}`)
say(`seed ${seed}`)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
const figures = await runFaults({
  seed,
  seconds: values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds),
  root: values.root ?? fileURLToPath(new URL('../..', import.meta.url)),
  recipientsPerSecond: Number(values['recipients-per-second']),
  secondsBetweenFaults: Number(values['seconds-between-faults']),
  carrier: carrierOf(values.carrier),
  hasSmppCustomers: values['smpp-customers'],
  // Customers over SMPP schedule nothing, so their runs need not wait for a full minute.
  meetsMinute: !values['smpp-customers'],
  ...(values['smpp-customers'] && { clientsAtOnce: 2 }),
  ...(values['carrier-per-second'] === undefined ? {} : { carrierPerSecond: Number(values['carrier-per-second']) }),
  only: values.only,
  backlogMax: Number(values['backlog-max']),
  keepsLogs: !values['remove-logs'],
  endsWhenBroken: values['until-broken'],
  log: say,
  logsFaults: values['log-faults'],
  stopping: stopping.signal,
}).catch((error: unknown) => {
  console.error(error)
  // Ends the process although work is pending, because the result of that work is no longer needed.
  process.exit(1)
})
console.log(figures.table())
for (const violation of figures.violations) console.log(violation)
say(figures.violations.length === 0 ? 'every promise held' : 'promises were broken')
// Ends the process, because work of an interrupted run may still be pending.
process.exit(figures.violations.length === 0 ? 0 : 1)
