#!/usr/bin/env node
import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()

/** By the name that is the first argument; without one, all in one. */
const processes = {
  'all-in-one': () => import('@gateway/all-in-one/main'),
  asp: () => import('@gateway/asp/main'),
  callbacks: () => import('@gateway/callbacks/main'),
  dispatcher: () => import('@gateway/dispatcher/main'),
  portal: () => import('@gateway/portal/main'),
  rest: () => import('@gateway/rest/main'),
  smsc: () => import('@gateway/smsc-simulator/main'),
  xml: () => import('@gateway/xml/main'),
}

const [, , first = ''] = process.argv
const name = Object.keys(processes).find((one): one is keyof typeof processes => one === first)
// The process itself takes no such argument.
if (name !== undefined) process.argv.splice(2, 1)
if (name === undefined && first !== '' && !first.startsWith('-')) {
  process.stderr.write(`There is no process ${first}; there are ${Object.keys(processes).join(', ')}.\n`)
  process.exit(2)
}
await processes[name ?? 'all-in-one']()
