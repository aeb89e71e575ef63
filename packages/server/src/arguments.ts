import type { Variables } from './environment.ts'
import { versionLine } from './version.ts'

export interface Reply {
  readonly code: 0 | 2
  readonly text: string
}

/** What a server says to its arguments; it starts without any only, and is set up by its environment. */
export const replyTo = (args: readonly string[], name: string, variables: Variables): Reply | undefined => {
  const [first] = args
  if (first === undefined) return undefined
  if (args.length === 1 && (first === '--help' || first === '-h')) return { code: 0, text: help(name, variables) }
  if (args.length === 1 && (first === '--version' || first === '-V')) return { code: 0, text: `${versionLine}\n` }
  const said = `${name} does not start: it takes no arguments, and was given ${args.join(' ')}.`
  return { code: 2, text: `${said} Environment variables set it up; --help lists them.\n` }
}

const help = (name: string, variables: Variables): string =>
  [
    `Starts ${name}, a server of the gateway, until it gets SIGTERM or SIGINT. Options: --help, --version.`,
    'It is set up by environment variables (docs/configuration.md):',
    '',
    ...Object.entries(variables).map(([variable, { desc, choices, default: byDefault }]) => {
      const what = desc ?? `one of ${choices?.join(', ') ?? ''}`
      const usual = textOf(byDefault)
      return `  ${variable.padEnd(24)} ${what}${usual === '' ? '' : ` (${usual})`}`
    }),
    '',
  ].join('\n')

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  if (typeof value === 'number' || typeof value === 'boolean') return value.toString()
  return typeof value === 'string' ? value : ''
}
