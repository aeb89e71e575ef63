#!/usr/bin/env node
import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()

/** Processes by name. The first argument is the name; without it, the all-in-one process starts. */
const processes = {
  'all-in-one': () => import('@gateway/all-in-one/main'),
  asp: () => import('@gateway/asp/main'),
  callbacks: () => import('@gateway/callbacks/main'),
  dispatcher: () => import('@gateway/dispatcher/main'),
  'http-provider': () => import('@gateway/smsc-simulator/http-provider-main'),
  portal: () => import('@gateway/portal/main'),
  rest: () => import('@gateway/rest/main'),
  smpp: () => import('@gateway/smpp-server/main'),
  smsc: () => import('@gateway/smsc-simulator/main'),
  xml: () => import('@gateway/xml/main'),
}

const [, , first = ''] = process.argv
const name = Object.keys(processes).find((one): one is keyof typeof processes => one === first)
// Remove the name from the arguments, because the process itself accepts no such argument.
if (name !== undefined) process.argv.splice(2, 1)
if (name === undefined && first !== '' && !first.startsWith('-')) {
  process.stderr.write(`There is no process ${first}; there are ${Object.keys(processes).join(', ')}.\n`)
  process.exit(2)
}
await processes[name ?? 'all-in-one']()
