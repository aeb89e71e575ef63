import type { DemoAccount } from './demo-account.ts'
import { frontPagePath } from './front-page.ts'

/** Where to look on a gateway that has come up. */
export interface FirstScreen {
  /** Where it listens. */
  readonly base: string
  /** Opens the portal once; undefined: none could be offered. */
  readonly linkToken: string | undefined
  /** There is nothing to try with real carriers without reaching people. */
  readonly isSimulated: boolean
}

const number = '27825550101'

/** What is printed when the gateway has come up on a new database: at most 80 columns and 24 lines. */
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

const real = ({ id }: DemoAccount): string => `CARRIERS names real carriers: what this account sends reaches people.
If you do not want it: npx pnpm gateway account lock ${id}
`

/** What is printed when it has come up on a database with accounts. */
export const greeting = (base: string): string => `
The gateway runs at ${base}, which is the portal for a browser
Guide: ${base}/docs/guide/   Commands: npx pnpm gateway --help
`
