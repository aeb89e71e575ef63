import type { DemoAccount } from './demo-account.ts'
import { frontPagePath } from './front-page.ts'

/** Facts to print once the gateway has started. */
export interface FirstScreen {
  /** Base URL on which the gateway listens. */
  readonly base: string
  /** Token of a link that signs in to the portal once; undefined if none could be created. */
  readonly linkToken: string | undefined
  /** True if all carriers are simulated; commands to try would reach people over real ones. */
  readonly isSimulated: boolean
}

const number = '27825550101'

/** Returns the text to print after a start on a new database: at most 80 columns and 24 lines. */
export const firstScreen = ({ base, linkToken, isSimulated }: FirstScreen, demo: DemoAccount): string => `
The gateway runs at ${base}
${linkToken === undefined ? '' : signIn(base, linkToken)}
A demo account was opened, with 1000.0 credits and a sub account (${demo.subLogin}).
Key and password are shown only this once:
  account   ${demo.id}
  API key   ${demo.apiKey}
  user      ${demo.login}
  password  ${demo.password}

${isSimulated ? trying(base, demo.apiKey) : real(demo)}
Next: ${base}${frontPagePath}
Guide: ${base}/docs/guide/
`

const signIn = (base: string, token: string): string => `
In a browser: this link signs you in to the portal, once, within an hour
${base}/link?token=${token}
`

const trying = (
  base: string,
  apiKey: string,
): string => `Or from a shell; the simulated carrier sends nothing to any network:
curl -s -H 'Authorization: ${apiKey}' \\
 -H 'Content-Type: application/json' \\
 -d '{"message":"Hello","recipients":[{"mobileNumber":"${number}"}]}' \\
 ${base}/api/rest/v1/sms/outgoing/send
`

const real = ({ id }: DemoAccount): string => `CARRIERS names real carriers: messages of this account reach people.
To prevent that: npx pnpm gateway account lock ${id}
`

/** Returns the text to print after a start on a database with accounts. */
export const greeting = (base: string): string => `
The gateway runs at ${base}, which is the portal for a browser
Guide: ${base}/docs/guide/   Commands: npx pnpm gateway --help
`
